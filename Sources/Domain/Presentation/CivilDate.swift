internal import Basics

/// Days and weeks as an account's calendar has them.
package struct CivilDate: Sendable {
    /// Since 1970-01-01.
    private let days: Int64
    package let zone: String

    /// Nil: no date like `2026-11-22`, or none that there is.
    package init?(_ text: String, zone: String) {
        guard ZonedDay(date: text, zone: zone) != nil else { return nil }
        let parts = text.split(separator: "-").compactMap { Int64($0) }
        self.init(days: UTC.days(year: parts[0], month: parts[1], day: parts[2]), zone: zone)
    }

    /// The day that a time lies in.
    package init(ofMs ms: Int64, zone: String) {
        // The calendar normalizes the date.
        self = CivilDate(ZonedDay.date(ofMs: ms, zone: zone), zone: zone)!
    }

    private init(days: Int64, zone: String) { (self.days, self.zone) = (days, zone) }

    package var text: String { UTC.dateText(days * UTC.msPerDay) }
    package func moved(by count: Int64) -> CivilDate { CivilDate(days: days + count, zone: zone) }

    /// The Monday of its week (ISO 8601). 1970-01-01 was a Thursday.
    package var monday: CivilDate { moved(by: -(((days + 3) % 7 + 7) % 7)) }

    /// The first of its month, and of the next one.
    package var monthStarts: (this: CivilDate, next: CivilDate) {
        let parts = text.split(separator: "-").compactMap { Int64($0) }
        let (year, month) = parts[1] == 12 ? (parts[0] + 1, 1) : (parts[0], parts[1] + 1)
        return (moved(by: 1 - parts[2]), CivilDate(days: UTC.days(year: year, month: month, day: 1), zone: zone))
    }

    /// Days from this one to another.
    package func days(to other: CivilDate) -> Int64 { other.days - days }

    /// From its first instant; a day has 23, 24 or 25 hours.
    package var startMs: Int64 { ZonedDay(date: text, zone: zone)?.fromMs ?? days * UTC.msPerDay }

    /// This many days from this one on.
    package func span(days count: Int64) -> Range<Int64> { startMs..<moved(by: count).startMs }
}
