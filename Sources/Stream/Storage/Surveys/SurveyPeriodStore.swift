internal import Basics
internal import Postgres
internal import Surveys

/// Weeks and months of sites whose sightings have changed: what they add up to is made again from the sightings.
struct SurveyPeriodStore {
    private struct Period: Hashable {
        let site: String
        let year, number: Int
        /// Its first day, days since 1970-01-01.
        let firstDay: Int64
    }

    private var weeks: Set<Period> = []
    private var months: Set<Period> = []

    static func year(_ ts: Int64) -> Int { Int(UTC.civil(days: UTC.day(of: ts) / UTC.msPerDay).year) }

    mutating func add(_ site: String, localDay: Int64) {
        let week = ISOWeek(day: localDay)
        weeks.insert(Period(site: site, year: week.year, number: week.week, firstDay: week.monday))
        let date = UTC.civil(days: localDay)
        let first = UTC.days(year: date.year, month: date.month, day: 1)
        months.insert(Period(site: site, year: Int(date.year), number: Int(date.month), firstDay: first))
    }

    func write(on connection: Connection) throws {
        try SurveyPeriodStore.writeAgain(
            weeks, "sighting_week", year: "iso_year", number: "iso_week", length: "7 days",
            """
            SELECT s.site, s.species, period.year, period.number, coalesce(s.behaviour, ''),
                coalesce((floor(s.temperature_c / 5) * 5)::int::text, '') AS band, count(*), sum(s.individuals)
            """, where: "true", on: connection)
        try SurveyPeriodStore.writeAgain(
            months, "species_season", year: "year", number: "month", length: "1 month",
            """
            SELECT s.site, floor(s.latitude_deg)::int, (floor(s.longitude_deg)::int + 180) % 360 - 180,
                period.year, period.number, s.species, count(DISTINCT s.survey)
            """, where: "s.individuals > 0 AND s.latitude_deg IS NOT NULL", on: connection)
    }

    /// Local days are at most 14 hours off those of UTC: the index on the site's times finds them.
    ///
    /// - Parameters:
    ///   - length: of a period.
    ///   - select: what a row is made of: six columns that are grouped by, then sums.
    private static func writeAgain(
        _ periods: Set<Period>, _ table: String, year: String, number: String, length: String, _ select: String,
        where condition: String, on connection: Connection
    ) throws {
        guard !periods.isEmpty else { return }
        let named = parameters(periods)
        try connection.query(
            """
            DELETE FROM \(table) w
            USING unnest($1::text[], $2::int[], $3::int[]) AS period(site, year, number)
            WHERE w.site = period.site AND w.\(year) = period.year AND w.\(number) = period.number
            """, Array(named.prefix(3)))
        try connection.query(
            """
            INSERT INTO \(table)
            \(select)
            FROM unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[]) AS period(site, year, number, first_at)
            JOIN sighting s ON s.site = period.site
                AND s.seen_at >= period.first_at - interval '15 hours'
                AND s.seen_at < period.first_at + interval '\(length)' + interval '15 hours'
                AND s.local_date >= (period.first_at AT TIME ZONE 'UTC')::date
                AND s.local_date < ((period.first_at AT TIME ZONE 'UTC')::date + interval '\(length)')::date
            WHERE \(condition)
            GROUP BY 1, 2, 3, 4, 5, 6
            """, named)
    }

    private static func parameters(_ periods: Set<Period>) -> [Parameter] {
        let sorted = periods.sorted { ($0.site, $0.firstDay) < ($1.site, $1.firstDay) }
        return [
            .textArray(sorted.map(\.site)), .int4Array(sorted.map { Int32($0.year) }),
            .int4Array(sorted.map { Int32($0.number) }), .timestampArray(sorted.map { $0.firstDay * UTC.msPerDay }),
        ]
    }
}
