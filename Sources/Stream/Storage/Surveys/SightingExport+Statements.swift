internal import Basics
internal import Fleet
package import Postgres
internal import Surveys

/// Exports as statements that stream.
extension SightingExport {
    /// A table to be streamed: its columns, and what it has a row of.
    package struct Shape: Sendable {
        enum Kind { case sightings, walks, sites }

        let kind: Kind
        let columns: [SightingColumn]
        /// A condition of its own.
        var isWhere = "true"

        package var names: [String] { columns.map(\.name) }
        package var properties: [(name: String, isJSON: Bool)] { columns.map { ($0.name, $0.kind == .json) } }
    }

    package enum Form: String, Sendable {
        case csv = "FORMAT csv"
        case text = "FORMAT text"
        /// NULL as nothing at all.
        case terse = "FORMAT text, NULL ''"
    }

    /// Begins of surveys that are asked for together: months that have some, so that what is sorted stays small.
    package func windows(on connection: Connection) throws -> [Range<Int64>] {
        let least = max(fromMs.map { $0 - 2 * UTC.msPerDay } ?? .min, after?.startMs ?? .min)
        let most = toMs.map { $0 + UTC.msPerDay } ?? .max
        let walks = reader == .program ? "drover.survey" : walkView
        // From each month to the next that has one: a look into the index a month.
        let months = try connection.query(
            """
            WITH RECURSIVE month AS (
                SELECT date_trunc('month', min(started_at), 'UTC') AS at FROM \(walks)
                UNION ALL
                SELECT (SELECT date_trunc('month', min(s.started_at), 'UTC') FROM \(walks) s
                    WHERE s.started_at >= (month.at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC')
                FROM month WHERE month.at IS NOT NULL)
            SELECT at, (at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' FROM month
            WHERE at IS NOT NULL ORDER BY at
            """
        ).map { try $0.timestampMs(0)!..<$0.timestampMs(1)! }
        return months.compactMap { month in
            let clipped = month.clamped(to: least..<max(least, most))
            return clipped.isEmpty ? nil : clipped
        }
    }

    /// `COPY` of the surveys that began within `window` (nil: of all), in the order of their begins, sites, ids and
    /// sightings; sites by their ids.
    package func statement(
        _ shape: Shape, window: Range<Int64>?, _ form: Form, on connection: Connection
    ) throws -> String {
        let columns = shape.columns.map { "\(form == .csv ? $0.cell : $0.sql) AS \"\($0.name)\"" }
        let rows =
            switch shape.kind {
            case .sightings:
                """
                FROM \(sightingView) e WHERE \(shape.isWhere) AND \(try sightingTerms(window, on: connection))
                ORDER BY e.started_at, e.site, e.survey, e.sighting
                """
            case .walks:
                """
                FROM \(walkView) e WHERE \(shape.isWhere) AND \(try walkTerms(window, on: connection))
                ORDER BY e.started_at, e.site, e.survey
                """
            case .sites: try sites(window, on: connection)
            }
        return "COPY (SELECT \(columns.joined(separator: ", ")) \(rows)) TO STDOUT (\(form.rawValue))"
    }

    var sightingView: String { view(of: "sighting") }
    var walkView: String { view(of: "survey") }
    var surveyorView: String { reader == .program ? "drover.surveyor" : "drover.seen_surveyor" }

    private func view(of rows: String) -> String {
        let shown = sight.contains(.places) ? "exact" : "shown"
        return switch reader {
        case .program: "drover.\(rows)_\(shown)"
        case .person: "drover.seen_\(rows)_\(shown)"
        case .surveyor: "drover.seen_\(rows)_own"
        }
    }

    /// With the names that its taxon stands for.
    package func resolved(on connection: Connection) throws -> SightingExport {
        guard let taxon else { return self }
        let names = try connection.query(
            """
            WITH RECURSIVE named AS (
                SELECT n.taxon, array_position(ARRAY['accepted', 'synonym', 'common'], n.kind) AS rank
                FROM drover.taxon_name n WHERE n.name = $1),
            below AS (
                SELECT t.taxon, t.name FROM drover.taxon t
                WHERE t.taxon IN (SELECT taxon FROM named WHERE rank = (SELECT min(rank) FROM named))
                UNION SELECT t.taxon, t.name FROM drover.taxon t JOIN below ON t.parent = below.taxon)
            SELECT name FROM below ORDER BY name
            """, [.text(TaxonName.folded(taxon))]
        ).map { try $0.text(0)! }
        var export = self
        let asked = names.isEmpty ? [taxon] : names
        // Both are asked for: what is in both.
        export.species = species.isEmpty ? asked : species.filter(asked.contains)
        // What is nowhere in it is nothing, not all.
        if export.species.isEmpty { export.species = [""] }
        export.taxon = nil
        return export
    }

    /// The sites of all walks that are exported, with the name and place that their newest walk gives; one with a way first.
    private func sites(_ window: Range<Int64>?, on connection: Connection) throws -> String {
        """
        FROM (SELECT e.site, count(*) AS walks, min(e.local_date) AS first_on,
                max((e.stopped_at AT TIME ZONE 'UTC' + make_interval(mins => e.utc_offset_min))::date) AS last_on,
                max(e.generalization) AS generalization
            FROM \(walkView) e WHERE \(try walkTerms(window, on: connection)) GROUP BY e.site) e
        LEFT JOIN LATERAL (SELECT n.site_name FROM \(walkView) n WHERE n.site = e.site AND n.site_name IS NOT NULL
            ORDER BY n.started_at DESC, n.survey DESC LIMIT 1) named ON true
        LEFT JOIN LATERAL (SELECT n.latitude_deg, n.longitude_deg, n.uncertainty_m, n.line FROM \(walkView) n
            WHERE n.site = e.site AND n.latitude_deg IS NOT NULL
            ORDER BY n.line IS NULL, n.started_at DESC, n.survey DESC LIMIT 1) placed ON true
        ORDER BY e.site
        """
    }

    // MARK: Conditions

    private func time(_ ms: Int64) -> String { "'\(UTC.text(ms))'" }

    private func startTerms(_ window: Range<Int64>?) -> [String] {
        guard let window else { return [] }
        return [
            "e.started_at >= \(time(window.lowerBound))", "e.started_at < \(time(window.upperBound))",
        ]
    }

    /// Over a view of sightings called `e`.
    func sightingTerms(_ window: Range<Int64>?, on connection: Connection) throws -> String {
        var terms = startTerms(window)
        if let window {
            // Times of sightings are within a day of their survey, which takes a day at most.
            terms.append("e.seen_at >= \(time(window.lowerBound - UTC.msPerDay))")
            terms.append("e.seen_at < \(time(window.upperBound + 2 * UTC.msPerDay))")
        }
        if let fromMs { terms.append("e.seen_at >= \(time(fromMs))") }
        if let toMs { terms.append("e.seen_at < \(time(toMs))") }
        if !species.isEmpty {
            terms.append("e.species IN (\(try species.map(connection.literal).joined(separator: ", ")))")
        }
        if let behaviour { terms.append("e.behaviour = \(try connection.literal(behaviour))") }
        terms += placeTerms + (try commonTerms(on: connection))
        return terms.isEmpty ? "true" : terms.joined(separator: " AND ")
    }

    /// Over a view of walks called `e`: those with a sighting that fits, and, unless something is asked that only
    /// sightings have, those that fit themselves.
    private func walkTerms(_ window: Range<Int64>?, on connection: Connection) throws -> String {
        let terms = startTerms(window) + (try commonTerms(on: connection))
        guard choosesSightings else { return terms.isEmpty ? "true" : terms.joined(separator: " AND ") }
        var chosen = "SELECT e.site, e.survey FROM \(sightingView) e WHERE \(try sightingTerms(window, on: connection))"
        if takesBareWalks {
            var own = terms
            if let fromMs { own.append("e.started_at >= \(time(fromMs))") }
            if let toMs { own.append("e.started_at < \(time(toMs))") }
            own += placeTerms
            chosen += " UNION ALL SELECT e.site, e.survey FROM \(walkView) e WHERE \(own.joined(separator: " AND "))"
        }
        return (terms + ["(e.site, e.survey) IN (\(chosen))"]).joined(separator: " AND ")
    }

    /// Over a view of sightings or walks called `e`.
    var placeTerms: [String] {
        (circle.map { [SightingExport.within($0)] } ?? []) + (box.map { [SightingExport.within($0)] } ?? [])
    }

    func commonTerms(on connection: Connection) throws -> [String] {
        var terms: [String] = []
        if let site { terms.append("e.site = \(try connection.literal(site))") }
        if let surveyor {
            terms.append(
                """
                EXISTS (SELECT FROM \(surveyorView) p WHERE p.site = e.site AND p.survey = e.survey
                    AND p.name = \(try connection.literal(surveyor)))
                """)
        }
        if let after, let row = after.row {
            var (key, last) = ("e.started_at, e.site, e.survey", time(after.startMs))
            last += try ", " + [row.site, row.survey].map(connection.literal).joined(separator: ", ")
            if let sighting = row.sighting { (key, last) = (key + ", e.sighting", "\(last), \(sighting)") }
            terms.append("(\(key)) > (\(last))")
        }
        return terms
    }

    private static func within(_ box: Box) -> String {
        let (west, east) = (Double(box.southWest.longitude) / 1e7, Double(box.northEast.longitude) / 1e7)
        let sides =
            west <= east
            ? "e.longitude_deg BETWEEN \(west) AND \(east)"
            : "(e.longitude_deg >= \(west) OR e.longitude_deg <= \(east))"
        let (south, north) = (Double(box.southWest.latitude) / 1e7, Double(box.northEast.latitude) / 1e7)
        return "e.latitude_deg BETWEEN \(south) AND \(north) AND \(sides)"
    }

    /// Great circle (haversine) behind a box that is as wide as the circle, or as the earth near its poles.
    private static func within(_ circle: Circle) -> String {
        let (latitude, longitude) = (Double(circle.middle.latitude) / 1e7, Double(circle.middle.longitude) / 1e7)
        let rise = circle.metres / Position.earthRadiusMetres * 180 / .pi
        return """
            e.latitude_deg BETWEEN \(latitude - rise) AND \(latitude + rise) AND 2 * \(Position.earthRadiusMetres) * asin(least(1,
                sqrt(sin(radians(e.latitude_deg - \(latitude)) / 2) ^ 2 + cos(radians(\(latitude))) * cos(radians(e.latitude_deg))
                * sin(radians(e.longitude_deg - \(longitude)) / 2) ^ 2))) <= \(circle.metres)
            """
    }
}
