import Presentation

/// The days that a report is of, in the reader's zone: each has 23, 24 or 25 hours.
package struct ReportSpan: Sendable {
    package static let daysMax: Int64 = 400

    package enum Length: String, CaseIterable, Sendable {
        case day, week, month
    }

    private let day: ZonedDay
    /// `2026-11-21`, or `2026-11-16/2026-11-22`: first and last day (ISO 8601-1, 5.5).
    package let date: String
    package let first: String
    package let last: String
    package let fromMs: Int64
    package let toMs: Int64
    package var zone: String { day.zone }
    package var isOneDay: Bool { first == last }

    /// The day, week from Monday on, or month that a day lies in; nil: no such day or zone.
    package init?(_ length: Length, of date: String, zone: String) {
        guard let day = CivilDate(date, zone: zone) else { return nil }
        switch length {
        case .day: self.init(from: day, days: 1)
        case .week: self.init(from: day.monday, days: 7)
        case .month:
            let (this, next) = day.monthStarts
            self.init(from: this, days: this.days(to: next))
        }
    }

    /// From one day to another, both included; nil: no such days or zone, the wrong way round, or more than `daysMax`.
    package init?(from first: String, until last: String, zone: String) {
        guard let first = CivilDate(first, zone: zone), let last = CivilDate(last, zone: zone) else { return nil }
        self.init(from: first, days: first.days(to: last) + 1)
    }

    private init?(from first: CivilDate, days: Int64) {
        let last = first.moved(by: days - 1)
        guard (1...ReportSpan.daysMax).contains(days), let day = ZonedDay(date: first.text, zone: first.zone) else {
            return nil
        }
        self.day = day
        self.first = first.text
        self.last = last.text
        date = days == 1 ? first.text : "\(first.text)/\(last.text)"
        let span = first.span(days: days)
        fromMs = span.lowerBound
        toMs = span.upperBound
    }

    /// For titles: `2026-11-21`, `2026-11-16 to 2026-11-22`, of a whole month `February 2018`.
    package var text: String {
        if isOneDay { return first }
        let day = CivilDate(first, zone: zone)!
        let (start, next) = day.monthStarts
        guard first == start.text, last == next.moved(by: -1).text, let month = Int(first.dropFirst(5).prefix(2)) else {
            return "\(first) to \(last)"
        }
        return "\(ReportSpan.months[month - 1]) \(first.prefix(4))"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    package var hours: Int64 { (toMs - fromMs) / 3_600_000 }
    /// `19:23:27`, with the day where there are several.
    package func clock(_ ms: Int64) -> String { isOneDay ? day.clock(ms) : day.minute(ms) }
    /// `2018-02-20 19:23`
    package func minute(_ ms: Int64) -> String { day.minute(ms) }

    /// A bar for each of its days, with nothing where nothing is known.
    func bars(_ byDay: [String: Double]) -> [(label: String, value: Double)] {
        // It was made of this day.
        let start = CivilDate(first, zone: zone)!
        return (0...start.days(to: CivilDate(last, zone: zone)!)).map { count in
            let date = start.moved(by: count).text
            return (String(date.dropFirst(5)), byDay[date] ?? 0)
        }
    }
}
