public import Fleet
public import Postgres

/// Which sightings leave, and what of them; as statements that stream. The views are in
/// Queries/migrations/0025_sighting_export.sql.
public struct SightingExport: Sendable {
    /// What whoever asks may see beside what everybody may.
    public struct Sight: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Names, mail and phone of surveyors.
        public static let people = Sight(rawValue: 1)
        /// Sensitive species as they were found.
        public static let places = Sight(rawValue: 2)
    }

    /// Where an export goes on: behind all surveys that began earlier, or behind one row.
    public struct After: Equatable, Sendable {
        public let startMs: Int64
        public let row: Row?
        public struct Row: Equatable, Sendable { public let site, survey: String, sighting: Int32 }

        public init(startMs: Int64) { (self.startMs, row) = (startMs, nil) }

        /// `TIME` or `TIME/SITE/SURVEY/SIGHTING`, the time being `started_at`; nil for anything else.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 1 || parts.count == 4, let startMs = UTC.parse(parts[0]) else { return nil }
            self.startMs = startMs
            guard parts.count == 4 else {
                row = nil
                return
            }
            guard VehicleID.isValid(parts[1].utf8), VehicleID.isValid(parts[2].utf8), let sighting = Int32(parts[3])
            else { return nil }
            row = Row(site: parts[1], survey: parts[2], sighting: sighting)
        }
    }

    public struct Circle: Equatable, Sendable {
        public let middle: Position
        public let metres: Double

        /// `LAT,LON,KM`, at most 2,000 km; nil for anything else.
        public init?(_ text: String) {
            let parts = text.split(separator: ",").map(String.init)
            guard parts.count == 3, let middle = Position(text: parts[0] + "," + parts[1]),
                let km = Double(parts[2]), km > 0, km <= 2_000
            else { return nil }
            (self.middle, metres) = (middle, km * 1_000)
        }
    }

    public var sight: Sight
    /// Accepted names; empty: all.
    public var species: [String] = []
    public var site: String?
    public var behaviour: String?
    /// Takes `Sight.people`.
    public var surveyor: String?
    public var circle: Circle?
    /// Seen from, and before, epoch milliseconds.
    public var fromMs: Int64?
    public var toMs: Int64?
    public var after: After?

    public init(sight: Sight) { self.sight = sight }

    /// A table to be streamed: its columns, and what stands behind `FROM`.
    public struct Shape: Sendable {
        let columns: [SightingColumn]
        var from = ""
        /// A condition of its own.
        var isWhere = "true"
        var isOfEvents = false

        public var properties: [(name: String, isJSON: Bool)] { columns.map { ($0.name, $0.kind == .json) } }
    }

    // MARK: Windows

    /// Begins of surveys that are asked for together: months, so that what is sorted stays small.
    public func windows(on connection: Connection) throws -> [Range<Int64>] {
        let years = try connection.query("SELECT year FROM drover.sighting_years()").map { Int64(try $0.int("year")!) }
        func start(_ year: Int64, _ month: Int64) -> Int64 {
            UTC.days(year: year + (month - 1) / 12, month: (month - 1) % 12 + 1, day: 1) * UTC.msPerDay
        }
        // A year's sightings can be of surveys that began on the last day of the one before, or on the next one's first.
        let months = Set(years.flatMap { year in ((year - 1) * 12 + 11)...(year * 12 + 12) }).sorted()
        let windows = months.map { start($0 / 12, $0 % 12 + 1)..<start($0 / 12, $0 % 12 + 2) }
        let least = max(fromMs.map { $0 - 2 * UTC.msPerDay } ?? .min, after?.startMs ?? .min)
        let most = toMs.map { $0 + UTC.msPerDay } ?? .max
        return windows.compactMap { window in
            let clipped = window.clamped(to: least..<max(least, most))
            return clipped.isEmpty ? nil : clipped
        }
    }

    // MARK: Statements

    /// `COPY` of one window, in the order of the surveys' begins, sites, ids and sightings.
    public func statement(_ shape: Shape, window: Range<Int64>, isCSV: Bool, on connection: Connection) throws -> String
    {
        func time(_ ms: Int64) -> String { "'\(UTC.text(ms))'" }
        var terms = [
            shape.isWhere,
            "e.started_at >= \(time(window.lowerBound)) AND e.started_at < \(time(window.upperBound))",
            // Times of sightings are within a day of their survey, which takes a day at most.
            "e.seen_at >= \(time(window.lowerBound - UTC.msPerDay)) AND e.seen_at < \(time(window.upperBound + 2 * UTC.msPerDay))",
        ]
        if let fromMs { terms.append("e.seen_at >= \(time(fromMs))") }
        if let toMs { terms.append("e.seen_at < \(time(toMs))") }
        if !species.isEmpty {
            terms.append("e.species IN (\(try species.map(connection.literal).joined(separator: ", ")))")
        }
        if let site { terms.append("e.site = \(try connection.literal(site))") }
        if let behaviour { terms.append("e.behaviour = \(try connection.literal(behaviour))") }
        if let surveyor {
            terms.append(
                """
                EXISTS (SELECT FROM drover.surveyor p WHERE p.site = e.site AND p.survey = e.survey
                    AND p.name = \(try connection.literal(surveyor)))
                """)
        }
        if let circle { terms.append(SightingExport.within(circle)) }
        if let after, let row = after.row {
            terms.append(
                """
                (e.started_at, e.site, e.survey, e.sighting) > (\(time(after.startMs)), \(try connection.literal(row.site)),
                    \(try connection.literal(row.survey)), \(row.sighting))
                """)
        }
        let distinct = shape.isOfEvents ? "DISTINCT ON (e.started_at, e.site, e.survey) " : ""
        let columns = shape.columns.map { "\(isCSV ? $0.cell : $0.sql) AS \"\($0.name)\"" }.joined(separator: ", ")
        let view = sight.contains(.places) ? "drover.sighting_exact" : "drover.sighting_shown"
        return """
            COPY (SELECT \(distinct)\(columns) FROM \(view) e \(shape.from) WHERE \(terms.joined(separator: " AND "))
            ORDER BY e.started_at, e.site, e.survey, e.sighting) TO STDOUT (FORMAT \(isCSV ? "csv" : "text"))
            """
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
