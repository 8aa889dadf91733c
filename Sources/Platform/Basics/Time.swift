/// Civil time in UTC without a calendar library: the proleptic Gregorian calendar in integers.
/// Source of the day arithmetic: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
public enum UTC {
    public static let msPerDay: Int64 = 86_400_000
    public static let msPerMinute: Int64 = 60_000

    /// Times that a reading may carry: 1990-01-01 (before the first OBD-II car) to 2100-01-01.
    public static let plausible: Range<Int64> = 631_152_000_000..<4_102_444_800_000

    /// A record's time of push, by its stamp on the log; nil where there is none (-1). A producer may have written any number, and one
    /// beyond every clock counts as none.
    public static func stamp(_ ms: Int64) -> Int64? { ms >= 0 && ms < plausible.upperBound ? ms : nil }

    /// Days since 1970-01-01.
    public static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    public static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let m = (5 * dayOfYear + 2) / 153
        let month = m < 10 ? m + 3 : m - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * m + 2) / 5 + 1)
    }

    /// The start of the minute that holds `ts`.
    public static func minute(of ts: Int64) -> Int64 { floor(ts, msPerMinute) }
    /// The start of the UTC day that holds `ts`.
    public static func day(of ts: Int64) -> Int64 { floor(ts, msPerDay) }

    static func floor(_ ts: Int64, _ step: Int64) -> Int64 { ts - ((ts % step) + step) % step }

    /// `2026-11-21T06:52:00.123Z`; milliseconds only when there are some.
    public static func text(_ ts: Int64) -> String {
        let day = day(of: ts)
        let ms = ts - day
        let time = "\(two(ms / 3_600_000)):\(two(ms / 60_000 % 60)):\(two(ms / 1000 % 60))"
        let fraction = ms % 1000 == 0 ? "" : "." + pad(ms % 1000, 3)
        return dateText(day) + "T" + time + fraction + "Z"
    }

    /// `2026-11-21`
    public static func dateText(_ ts: Int64) -> String {
        let date = civil(days: day(of: ts) / msPerDay)
        return "\(pad(date.year, 4))-\(two(date.month))-\(two(date.day))"
    }

    public static func two(_ value: Int64) -> String { pad(value, 2) }
    static func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// ISO 8601 with `Z` or an offset: `2026-11-21T06:52:00Z`, `2026-11-21 06:52:00.5+01:00`; a bare date is its
    /// midnight UTC. Nil for anything else, a time without zone included.
    public static func parse(_ text: String) -> Int64? {
        var reader = TimeReader(text)
        guard let date = reader.date() else { return nil }
        if reader.atEnd { return date }
        guard reader.skip("T") || reader.skip(" "), let time = reader.clock(), let offset = reader.zone(), reader.atEnd
        else { return nil }
        return date + time - offset
    }

    /// A time with its offset, and the offset in minutes east of UTC, -12:00 to +14:00; nil for anything else.
    public static func parseLocal(_ text: String) -> (ts: Int64, offsetMin: Int)? {
        var reader = TimeReader(text)
        guard let date = reader.date(), reader.skip("T") || reader.skip(" "), let time = reader.clock(),
            let offset = reader.zone(), reader.atEnd, (-720...840).contains(offset / msPerMinute)
        else { return nil }
        return (date + time - offset, Int(offset / msPerMinute))
    }

    /// `2026-11-21T09:52:00+03:00`: the inverse of `parseLocal`.
    public static func localText(_ ts: Int64, offsetMin: Int) -> String {
        let local = text(ts + Int64(offsetMin) * msPerMinute)
        guard offsetMin != 0 else { return local }
        let size = Int64(offsetMin.magnitude)
        return String(local.dropLast()) + (offsetMin < 0 ? "-" : "+") + "\(two(size / 60)):\(two(size % 60))"
    }

    /// `HH:MM:SS[.mmm]` as milliseconds since midnight.
    public static func parseClock(_ text: String) -> Int64? {
        var reader = TimeReader(text)
        guard let time = reader.clock(), reader.atEnd else { return nil }
        return time
    }
}

/// Reads the parts of an ISO 8601 text from left to right.
struct TimeReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var atEnd: Bool { at == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    mutating func number(_ width: Int) -> Int64? {
        guard at + width <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[at..<at + width] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        at += width
        return value
    }

    mutating func date() -> Int64? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = UTC.days(year: year, month: month, day: day)
        guard UTC.civil(days: days) == (year, month, day) else { return nil }
        return days * UTC.msPerDay
    }

    mutating func clock() -> Int64? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            hour < 24, minute < 60, second < 60
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + fraction()
    }

    private mutating func fraction() -> Int64 {
        guard skip(".") else { return 0 }
        var (value, place): (Int64, Int64) = (0, 100)
        while let digit = number(1) {
            value += digit * place
            place /= 10
        }
        return value
    }

    /// Milliseconds east of UTC.
    mutating func zone() -> Int64? {
        if skip("Z") { return 0 }
        let sign: Int64 = skip("-") ? -1 : skip("+") ? 1 : 0
        guard sign != 0, let hours = number(2) else { return nil }
        _ = skip(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes) * 60_000
    }
}
