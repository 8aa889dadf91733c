internal import Foundation

/// A civil day in a time zone: 23, 24 or 25 hours, as its calendar says.
package struct ZonedDay: Sendable {
    package let date: String
    package let zone: String
    /// The span as epoch milliseconds: from the first instant of the day to the first of the next.
    package let fromMs: Int64
    package let toMs: Int64
    private let calendar: Calendar

    /// Nil when the zone is not in the time zone database or the date is not `2026-11-21`.
    package init?(date: String, zone: String) {
        // Only names of the database: "GMT+5" and the like mean different things to different libraries.
        guard zone == "UTC" || zone.contains("/"), let timeZone = TimeZone(identifier: zone) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard date.utf8.count == 10, parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2]
        else { return nil }
        let wanted = DateComponents(year: year, month: month, day: day)
        guard let noon = calendar.date(from: DateComponents(year: year, month: month, day: day, hour: 12)),
            calendar.dateComponents([.year, .month, .day], from: noon) == wanted
        else { return nil }
        // Midnight may not exist on the day the clocks change: the calendar knows where the day begins.
        let start = calendar.startOfDay(for: noon)
        guard let next = calendar.date(byAdding: .day, value: 1, to: noon) else { return nil }
        self.date = date
        self.zone = zone
        self.calendar = calendar
        fromMs = Int64((start.timeIntervalSince1970 * 1_000).rounded())
        toMs = Int64((calendar.startOfDay(for: next).timeIntervalSince1970 * 1_000).rounded())
    }

    /// The day that a time lies in, like `2026-11-21`; in UTC where the zone is unknown.
    package static func date(ofMs ms: Int64, zone: String) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        func padded(_ value: Int?, _ count: Int) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
    }

    /// `19:23:27` in the day's zone.
    package func clock(_ ms: Int64) -> String {
        let parts = calendar.dateComponents(
            [.hour, .minute, .second], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        return [parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(
            separator: ":")
    }

    /// `2018-02-20 19:23` in the day's zone.
    package func minute(_ ms: Int64) -> String {
        let parts = calendar.dateComponents(
            [.year, .month, .day], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        return "\(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(clock(ms).prefix(5))"
    }
}
