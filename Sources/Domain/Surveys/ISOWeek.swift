internal import Basics

/// A week of ISO 8601: Monday to Sunday, of the year that holds its Thursday.
package struct ISOWeek: Hashable, Comparable, Sendable {
    package let year: Int
    /// 1 to 53.
    package let week: Int

    /// - Parameter day: days since 1970-01-01.
    package init(day: Int64) {
        let monday = day - ISOWeek.weekday(day)
        let thursday = monday + 3
        let year = UTC.civil(days: thursday).year
        self.year = Int(year)
        week = Int((thursday - UTC.days(year: year, month: 1, day: 1)) / 7) + 1
    }

    package init(year: Int, week: Int) { (self.year, self.week) = (year, week) }

    /// The day of its Monday. 4 January always lies in the first week.
    package var monday: Int64 {
        let fourth = UTC.days(year: Int64(year), month: 1, day: 4)
        return fourth - ISOWeek.weekday(fourth) + Int64(week - 1) * 7
    }

    /// 0 is Monday. 1970-01-01 was a Thursday.
    private static func weekday(_ day: Int64) -> Int64 { ((day + 3) % 7 + 7) % 7 }

    package static func < (a: ISOWeek, b: ISOWeek) -> Bool { (a.year, a.week) < (b.year, b.week) }
}
