/// The flight period of a species at a site in a year: mean counts by week, and the index of abundance that butterfly
/// monitoring schemes make of them, the area below the counts by the trapezoid rule (Rothery and Roy, Journal of Applied
/// Statistics 28, 2001: missing weeks lie on the line between their neighbours).
package struct FlightCurve: Equatable, Sendable {
    /// A survey of the week; 0 where the species was not seen.
    package struct Visit: Equatable, Sendable {
        package let week: Int
        package let individuals: Int
        package init(week: Int, individuals: Int) { (self.week, self.individuals) = (week, individuals) }
    }

    package struct Week: Equatable, Sendable {
        package let week: Int
        package let visits: Int
        package let meanCount: Double
        package init(week: Int, visits: Int, meanCount: Double) {
            self.week = week
            self.visits = visits
            self.meanCount = meanCount
        }
    }

    /// Weeks with a visit, in their order.
    package let weeks: [Week]
    /// Individuals times weeks; 0 for fewer than two weeks.
    package let index: Double
    /// The weighted mean of the counts, in weeks; nil where none was seen.
    package let meanWeek: Double?

    package init(_ visits: [Visit]) {
        let byWeek = Dictionary(grouping: visits, by: \.week)
        let weeks = byWeek.keys.sorted().map { week in
            let counts = byWeek[week]!.map(\.individuals)
            return Week(
                week: week, visits: counts.count, meanCount: Double(counts.reduce(0, +)) / Double(counts.count))
        }
        self.init(weeks: weeks)
    }

    /// - Parameter weeks: in their order, each once.
    package init(weeks: [Week]) {
        self.weeks = weeks
        index = zip(weeks, weeks.dropFirst()).reduce(0) { area, pair in
            area + Double(pair.1.week - pair.0.week) * (pair.0.meanCount + pair.1.meanCount) / 2
        }
        let seen = weeks.reduce(0) { $0 + $1.meanCount }
        meanWeek = seen > 0 ? weeks.reduce(0) { $0 + Double($1.week) * $1.meanCount } / seen : nil
    }
}
