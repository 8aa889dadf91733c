internal import Basics
internal import Foundation
internal import Presentation

/// The local clock of a person. Minutes that the day leaves out when the clocks go forward come with the first one after
/// them; of minutes that come twice the first counts.
package struct PersonClock: Sendable {
    private let zone: String
    private let calendar: Calendar

    /// UTC where the zone is unknown.
    package init(zone: String) {
        self.zone = ZonedDay(date: "2026-01-01", zone: zone) == nil ? "UTC" : zone
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: self.zone) ?? .gmt
        self.calendar = calendar
    }

    /// The next time that the local clock shows this minute of the day, later than `ms`.
    package func next(minute: Int, after ms: Int64) -> Int64 {
        var noonMs = ms
        // Today or tomorrow; a day that a zone leaves out altogether, as Samoa did once, has none.
        for _ in 0..<3 {
            let date = ZonedDay.date(ofMs: noonMs, zone: zone)
            if let day = ZonedDay(date: date, zone: zone), let at = DayClock(day).moment(atMinute: Int64(minute)),
                at > ms
            {
                return at
            }
            noonMs += UTC.msPerDay
        }
        return ms + UTC.msPerDay
    }

    /// Until when it is quiet at `ms`; nil: it is not. From 22:00 until 06:00 is a night; from equal to until is never.
    package func quietUntil(_ quiet: NoticeSetting.Quiet?, at ms: Int64) -> Int64? {
        guard let quiet, quiet.from != quiet.until else { return nil }
        let parts = calendar.dateComponents([.hour, .minute], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
        let isQuiet =
            quiet.from < quiet.until
            ? (quiet.from..<quiet.until).contains(minute) : minute >= quiet.from || minute < quiet.until
        return isQuiet ? next(minute: quiet.until, after: ms) : nil
    }

    /// `2026-11-22 07:00`
    package func minute(_ ms: Int64) -> String {
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        return "\(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(two(parts.hour)):\(two(parts.minute))"
    }

    /// `07:00`
    package static func clock(_ minute: Int) -> String {
        [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
