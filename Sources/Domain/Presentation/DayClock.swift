internal import Basics
internal import Fleet
internal import Foundation

/// From what the clock shows on a day to the moment.
package struct DayClock {
    private let zone: TimeZone
    private let day: ZonedDay
    /// Milliseconds of midnight, were the day one of UTC.
    private let midnightMs: Int64
    /// Seconds east of UTC that the day knows, the earlier first.
    private let offsets: [Int64]

    package init(_ day: ZonedDay) {
        let zone = TimeZone(identifier: day.zone) ?? .gmt
        self.zone = zone
        self.day = day
        let parts = day.date.split(separator: "-").compactMap { Int64($0) }
        midnightMs = UTC.days(year: parts[0], month: parts[1], day: parts[2]) * UTC.msPerDay
        let (first, last) = (DayClock.offset(zone, day.fromMs), DayClock.offset(zone, day.toMs - 1))
        offsets = first == last ? [first] : [first, last]
    }

    private static func offset(_ zone: TimeZone, _ ms: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(ms) / 1_000)))
    }

    /// The first of minutes that occur twice; for a skipped one the first moment after the gap.
    package func moment(atMinute minute: Int64) -> Int64? {
        for offset in offsets {
            let ms = midnightMs + minute * 60_000 - offset * 1_000
            if (day.fromMs..<day.toMs).contains(ms), DayClock.offset(zone, ms) == offset { return ms }
        }
        // The clock never shows it: the first moment after the gap.
        let before = Date(timeIntervalSince1970: Double(day.fromMs) / 1_000 - 1)
        guard let change = zone.nextDaylightSavingTimeTransition(after: before) else { return nil }
        let ms = Int64((change.timeIntervalSince1970 * 1_000).rounded())
        return (day.fromMs..<day.toMs).contains(ms) ? ms : nil
    }
}
