internal import Foundation

/// The local clock of a person. Minutes that the day leaves out when the clocks go forward come with the first one after
/// them; of minutes that come twice the first counts.
struct PersonClock {
    private let calendar: Calendar

    /// UTC where the zone is unknown.
    init(zone: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
        self.calendar = calendar
    }

    /// The next time that the local clock shows this minute of the day, later than `ms`.
    func next(minute: Int, after ms: Int64) -> Int64 {
        let date = Date(timeIntervalSince1970: Double(ms) / 1_000)
        let next = calendar.nextDate(
            after: date, matching: DateComponents(hour: minute / 60, minute: minute % 60, second: 0),
            matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        // A zone always has a next day.
        return Int64(((next ?? date.addingTimeInterval(86_400)).timeIntervalSince1970 * 1_000).rounded())
    }

    /// Until when it is quiet at `ms`; nil: it is not. From 22:00 until 06:00 is a night; from equal to until is never.
    func quietUntil(_ quiet: (from: Int, until: Int)?, at ms: Int64) -> Int64? {
        guard let quiet, quiet.from != quiet.until else { return nil }
        let parts = calendar.dateComponents([.hour, .minute], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
        let isQuiet =
            quiet.from < quiet.until
            ? (quiet.from..<quiet.until).contains(minute) : minute >= quiet.from || minute < quiet.until
        return isQuiet ? next(minute: quiet.until, after: ms) : nil
    }

    /// `2026-11-22 07:00`
    func minute(_ ms: Int64) -> String {
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        return "\(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(two(parts.hour)):\(two(parts.minute))"
    }

    /// `07:00`
    static func clock(_ minute: Int) -> String {
        [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
