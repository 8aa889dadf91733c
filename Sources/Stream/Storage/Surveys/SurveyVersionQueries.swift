package import Postgres
package import Surveys

/// Versions of surveys as they stand on the log, for reviews by commands.
/// Precondition of all: the connection finds the tables by their names (`SchemaConnection.connect`).
package enum SurveyVersionQueries {
    package struct Version: Sendable {
        package let version: Int
        package let saidBy: String
        package let saidMs: Int64
        package let note: String?
        /// JSON.
        package let body: String
    }

    /// The outcome of a review.
    package enum Review: Sendable { case version(Int), waits, overtaken }

    /// Surveys that wait for a review, for people to read: the columns speak for themselves.
    package static func open(site: String?, on connection: Connection) throws -> Rows {
        try connection.query(
            "SELECT site, survey, version, day AS date, reasons FROM drover.surveys_open($1, 1000)", [.text(site)])
    }

    /// The oldest first.
    package static func versions(
        of survey: String, site: String, on connection: Connection
    ) throws -> [Version] {
        try connection.query(
            """
            SELECT version, said_by, said_at, note, body FROM survey_version WHERE site = $1 AND survey = $2
            ORDER BY version
            """, [.text(site), .text(survey)]
        ).map { row in
            Version(
                version: try row.int("version")!, saidBy: try row.text("said_by")!,
                saidMs: try row.timestampMs("said_at")!, note: try row.text("note"), body: try row.text("body")!)
        }
    }

    /// - Parameter record: that said it, and was committed.
    package static func review(
        _ record: String, of survey: String, site: String, on connection: Connection
    ) throws -> Review {
        let known: [Parameter] = [.text(site), .text(survey), .text(record)]
        if let row = try connection.query(
            "SELECT version FROM survey_version WHERE site = $1 AND survey = $2 AND record_id = $3", known
        ).first {
            return .version(try row.int(0)!)
        }
        let isWaiting = try !connection.query(
            "SELECT FROM survey_waiting WHERE site = $1 AND survey = $2 AND record_id = $3", known
        ).isEmpty
        return isWaiting ? .waits : .overtaken
    }

    package struct Visits: Sendable {
        package let site, year: String
        package let visits: [FlightCurve.Visit]
    }

    /// How many of a species were seen at each visit of a site in a year, in the order of both. A week is one of ISO 8601, by the
    /// surveyors' clocks; a survey without the species is a visit that found none.
    package static func visits(
        of species: String, site: String?, year: Int32?, on connection: Connection
    ) throws -> [Visits] {
        var visits: [String: [FlightCurve.Visit]] = [:]
        for row in try connection.query(
            """
            SELECT s.site, to_char(s.local_date, 'IYYY') AS year, extract(week FROM s.local_date)::int AS week,
                coalesce(sum(x.individuals), 0)::bigint AS individuals
            FROM survey s
            LEFT JOIN sighting x ON x.site = s.site AND x.survey = s.survey AND x.species = $1
                AND x.seen_at BETWEEN s.started_at - interval '1 day' AND s.stopped_at + interval '1 day'
            WHERE ($2::text IS NULL OR s.site = $2) AND ($3::int IS NULL OR extract(isoyear FROM s.local_date) = $3)
            GROUP BY s.site, s.survey, s.local_date
            """, [.text(species), .text(site), year.map { .int4($0) } ?? .null])
        {
            visits["\(try row.text("site")!) \(try row.text("year")!)", default: []].append(
                FlightCurve.Visit(week: try row.int("week")!, individuals: try row.int("individuals")!))
        }
        return visits.sorted { $0.key < $1.key }.map { key, visits in
            let words = key.split(separator: " ").map(String.init)
            return Visits(site: words[0], year: words[1], visits: visits)
        }
    }
}
