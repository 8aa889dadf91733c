internal import Basics
internal import Fleet
package import Postgres

/// Figures of a question's sightings, from the same rows that its export has. Each answer is bounded, however many they are.
extension SightingExport {
    /// Counts of a species, a week or a band of temperatures.
    package struct Count: Sendable {
        package let sightings, individuals: Int
    }

    package struct Figures: Sendable {
        package var all = Count(sightings: 0, individuals: 0)
        /// Days by the surveyors' clocks, of sightings with an individual.
        package var firstDay: String?
        package var lastDay: String?
        /// South, west, north, east; nil: none has a place.
        package var extent: [Double]?
        package var weeks: [(year: Int, week: Int, count: Count)] = []
        /// By the lower end of 5 °C; nil: not known. Coldest first.
        package var bands: [(fromC: Int?, count: Count)] = []
        /// The most individuals first; at most `speciesMax`.
        package var species: [(name: String, count: Count)] = []
    }

    package static let speciesMax = 200
    private static let groupsMax = 5_000

    /// In one pass. Precondition: `resolved`.
    package func figures(on connection: Connection) throws -> Figures {
        var figures = Figures()
        for row in try connection.query(
            """
            SELECT grouping(x.species) AS of_species, grouping(x.week) AS of_week, grouping(x.band) AS of_band, x.species,
                x.year, x.week, x.band, count(*) AS sightings, coalesce(sum(x.individuals), 0)::bigint AS individuals,
                to_char(min(x.local_date) FILTER (WHERE x.individuals > 0), 'YYYY-MM-DD') AS first_day,
                to_char(max(x.local_date) FILTER (WHERE x.individuals > 0), 'YYYY-MM-DD') AS last_day,
                ARRAY[min(x.latitude_deg), min(x.longitude_deg), max(x.latitude_deg), max(x.longitude_deg)] AS extent
            FROM (SELECT e.species, extract(isoyear FROM e.local_date)::int AS year, extract(week FROM e.local_date)::int AS week,
                    floor(e.temperature_c / 5)::int * 5 AS band, e.individuals, e.local_date, e.latitude_deg, e.longitude_deg
                FROM \(sightingView) e WHERE \(try sightingTerms(nil, on: connection))) x
            GROUP BY GROUPING SETS ((), (x.year, x.week), (x.band), (x.species))
            ORDER BY 1 DESC, 2 DESC, 3 DESC, individuals DESC, x.species LIMIT \(SightingExport.groupsMax)
            """)
        {
            let count = Count(sightings: try row.int("sightings")!, individuals: try row.int("individuals")!)
            if try row.int("of_species") == 0 {
                guard figures.species.count < SightingExport.speciesMax else { continue }
                figures.species.append((try row.text("species")!, count))
            } else if try row.int("of_week") == 0 {
                figures.weeks.append((try row.int("year")!, try row.int("week")!, count))
            } else if try row.int("of_band") == 0 {
                figures.bands.append((try row.int("band"), count))
            } else {
                figures.firstDay = try row.text("first_day")
                figures.lastDay = try row.text("last_day")
                let corners = try row.doubleArray("extent")!.compactMap { $0 }
                figures.extent = corners.count == 4 ? corners : nil
                figures.all = count
            }
        }
        figures.weeks.sort { ($0.year, $0.week) < ($1.year, $1.week) }
        figures.bands.sort { ($0.fromC ?? .max) < ($1.fromC ?? .max) }
        return figures
    }

    /// Sightings by cells of the map.
    package struct Grid: Sendable {
        /// The size of a cell, in degrees.
        package let step: Double
        /// From the equator and the prime meridian, in cells; the most sightings first.
        package let cells: [(row: Int, column: Int, count: Count)]
        /// There were more cells.
        package let isCut: Bool
    }

    private static let cellsMax = 1_500
    private static let steps = [
        0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
    ]

    /// Precondition: `resolved`.
    /// - Parameter extent: south, west, north and east of what is seen.
    package func grid(_ extent: [Double], on connection: Connection) throws -> Grid {
        // Some thirty cells high and forty wide, whatever is asked for.
        let step =
            SightingExport.steps.first { (extent[2] - extent[0]) / $0 <= 30 && (extent[3] - extent[1]) / $0 <= 40 }
            ?? SightingExport.steps.last!
        let rows = try connection.query(
            """
            SELECT floor(e.latitude_deg / \(step))::int, floor(e.longitude_deg / \(step))::int, count(*),
                coalesce(sum(e.individuals), 0)::bigint
            FROM \(sightingView) e
            WHERE \(try sightingTerms(nil, on: connection)) AND e.latitude_deg IS NOT NULL AND e.longitude_deg IS NOT NULL
            GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT \(SightingExport.cellsMax + 1)
            """)
        let cells = try rows.prefix(SightingExport.cellsMax).map { row in
            (
                row: try row.int(0)!, column: try row.int(1)!,
                count: Count(sightings: try row.int(2)!, individuals: try row.int(3)!)
            )
        }
        return Grid(step: step, cells: cells, isCut: rows.count > SightingExport.cellsMax)
    }

    /// Mean counts by week of a year, a survey that did not find it as 0: what `FlightCurve` is made of. Times are left out of
    /// the question. Precondition: `resolved`.
    package func walksByWeek(
        year: Int, on connection: Connection
    ) throws -> (weeks: [(week: Int, surveys: Int, individuals: Int)], sites: Int) {
        var whole = self
        whole.fromMs = nil
        whole.toMs = nil
        let around = "make_timestamptz(\(year), 1, 1, 0, 0, 0, 'UTC')"
        let span = { (column: String) in
            "e.\(column) >= \(around) - interval '9 days' AND e.\(column) < \(around) + interval '376 days'"
        }
        let walks = try whole.commonTerms(on: connection) + whole.placeTerms
        var sites = 0
        let weeks = try connection.query(
            """
            WITH seen AS MATERIALIZED (
                SELECT e.site, e.survey, sum(e.individuals) AS individuals FROM \(sightingView) e
                WHERE \(try whole.sightingTerms(nil, on: connection)) AND \(span("seen_at")) GROUP BY 1, 2)
            SELECT extract(week FROM e.local_date)::int AS week, count(*) AS surveys,
                coalesce(sum(seen.individuals), 0)::bigint AS individuals,
                array_length(array_agg(DISTINCT e.site), 1) AS sites
            FROM \(walkView) e LEFT JOIN seen ON seen.site = e.site AND seen.survey = e.survey
            WHERE \((walks + [span("started_at"), "extract(isoyear FROM e.local_date) = \(year)"]).joined(separator: " AND "))
            GROUP BY 1 ORDER BY 1
            """
        ).map { row in
            sites = max(sites, try row.int("sites")!)
            return (try row.int("week")!, try row.int("surveys")!, try row.int("individuals")!)
        }
        return (weeks, sites)
    }

    /// A row of the list.
    package struct Listed: Sendable {
        package let site, survey: String
        package let sighting: Int
        package let seenMs: Int64
        package let species, givenName: String
        package let individuals: Int
        package let behaviour: String?
        package let latitude, longitude, temperatureC: Double?
        package let isBlurred: Bool
    }

    /// Where a page of the list begins: behind this sighting.
    package struct Behind: Equatable, Sendable {
        package let seenMs: Int64
        package let site, survey: String
        package let sighting: Int32

        /// `SEEN_MS/SITE/SURVEY/SIGHTING`; nil for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4, let ms = Int64(parts[0]), ms.magnitude < 1 << 53, VehicleID.isValid(parts[1].utf8),
                VehicleID.isValid(parts[2].utf8), let sighting = Int32(parts[3])
            else { return nil }
            seenMs = ms
            site = parts[1]
            survey = parts[2]
            self.sighting = sighting
        }
    }

    /// The newest first. Precondition: `resolved`.
    package func list(behind: Behind?, most: Int, on connection: Connection) throws -> [Listed] {
        var terms = try sightingTerms(nil, on: connection)
        if let behind {
            terms += """
                 AND e.seen_at <= '\(UTC.text(behind.seenMs))' AND (e.seen_at, e.site, e.survey, e.sighting)
                    < ('\(UTC.text(behind.seenMs))', \(try connection.literal(behind.site)), \
                \(try connection.literal(behind.survey)), \(behind.sighting))
                """
        }
        return try connection.query(
            """
            SELECT e.site, e.survey, e.sighting, e.seen_at, e.species, e.given_name, e.individuals, e.behaviour,
                e.latitude_deg, e.longitude_deg, e.temperature_c, e.generalization IS NOT NULL AS is_blurred
            FROM \(sightingView) e WHERE \(terms)
            ORDER BY e.seen_at DESC, e.site DESC, e.survey DESC, e.sighting DESC LIMIT \(most)
            """
        ).map { row in
            Listed(
                site: try row.text("site")!, survey: try row.text("survey")!, sighting: try row.int("sighting")!,
                seenMs: try row.timestampMs("seen_at")!, species: try row.text("species")!,
                givenName: try row.text("given_name")!, individuals: try row.int("individuals")!,
                behaviour: try row.text("behaviour"), latitude: try row.double("latitude_deg"),
                longitude: try row.double("longitude_deg"), temperatureC: try row.double("temperature_c"),
                isBlurred: try row.bool("is_blurred")!)
        }
    }

    /// When the newest of the surveys began that one sees; nil: there is none.
    package func newestStartMs(on connection: Connection) throws -> Int64? {
        try connection.query("SELECT max(e.started_at) FROM \(walkView) e")[0].timestampMs(0)
    }

    /// Some of the sites that one sees, by name.
    package func sites(most: Int, on connection: Connection) throws -> [String] {
        // From each site to the next: a look into the index a site.
        try connection.query(
            """
            WITH RECURSIVE site AS (
                (SELECT e.site FROM \(walkView) e ORDER BY e.site LIMIT 1)
                UNION ALL
                SELECT (SELECT e.site FROM \(walkView) e WHERE e.site > site.site ORDER BY e.site LIMIT 1)
                FROM site WHERE site.site IS NOT NULL)
            SELECT site FROM site WHERE site IS NOT NULL LIMIT \(most)
            """
        ).map { try $0.text(0)! }
    }
}
