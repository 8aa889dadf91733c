package import Postgres

/// Surveys as people see them in pages: the views `drover.seen_…`.
package enum SurveyPageQueries {
    /// A survey that the caller handed in, and what became of it.
    package struct Own: Sendable {
        package let number: Int64
        package let site, survey: String
        package let receivedMs: Int64
        package let isLogged, isSetAside: Bool
        /// Nil: not in the tables yet.
        package let version: Int?
        package let day: String?
        package let sightings, individuals, weatherMissing: Int?
        package let needsReview: Bool
    }

    /// The newest first, before a receipt's number.
    package static func own(before: Int64, most: Int, on connection: Connection) throws -> [Own] {
        try connection.query(
            "SELECT * FROM drover.own_survey_receipts($1, $2)", [.int8(before), .int4(Int32(most))]
        ).map { row in
            Own(
                number: Int64(try row.int("number")!), site: try row.text("site")!, survey: try row.text("survey")!,
                receivedMs: try row.timestampMs("received_at")!, isLogged: try row.bool("is_logged")!,
                isSetAside: try row.bool("is_set_aside")!, version: try row.int("version"), day: try row.text("day"),
                sightings: try row.int("sightings"), individuals: try row.int("individuals"),
                weatherMissing: try row.int("weather_missing"), needsReview: try row.bool("needs_review") ?? false)
        }
    }

    /// A survey that waits for a reviewer.
    package struct Open: Sendable {
        package let site, survey, day, reasons: String
        package let version: Int
        package let submittedMs: Int64
    }

    /// The longest waiting first.
    /// - Parameter site: nil: all.
    package static func open(site: String? = nil, most: Int, on connection: Connection) throws -> [Open] {
        try connection.query(
            "SELECT * FROM drover.surveys_to_review($1, $2)", [.text(site), .int4(Int32(most))]
        ).map { row in
            Open(
                site: try row.text("site")!, survey: try row.text("survey")!, day: try row.text("day")!,
                reasons: try row.text("reasons")!, version: try row.int("version")!,
                submittedMs: try row.timestampMs("submitted_at")!)
        }
    }

    package struct Version: Sendable {
        package let version: Int
        package let recordID, by: String
        package let saidMs: Int64
        package let note: String?
        /// JSON, of the version that was asked for.
        package let body: String?
    }

    /// Nothing: there is no such survey that the caller may see.
    /// - Parameter version: whose body comes along; nil: the newest's.
    package static func versions(
        site: String, survey: String, version: Int?, on connection: Connection
    ) throws -> [Version] {
        try connection.query(
            "SELECT * FROM drover.survey_versions_seen($1, $2, $3)",
            [.text(site), .text(survey), version.map { .int4(Int32(clamping: $0)) } ?? .null]
        ).map { row in
            Version(
                version: try row.int("version")!, recordID: try row.text("record_id")!, by: try row.text("said_by")!,
                saidMs: try row.timestampMs("said_at")!, note: try row.text("note"), body: try row.text("body"))
        }
    }

    /// Facts that follow from the newest version.
    package struct Facts: Sendable {
        package let gate: String?
        package let gateReasons: [String]
        package let distanceM, paceMps: Double?
        package let weatherMissing: Int
        package let individuals: Int
        /// JSON: by hour, as the service said it.
        package let serviceWeather: String
    }

    /// - Parameter isOwn: the caller sees what he handed in, and no more.
    package static func facts(
        site: String, survey: String, isOwn: Bool, on connection: Connection
    ) throws -> Facts? {
        try connection.query(
            """
            SELECT e.gate, e.gate_reasons, e.distance_m, e.pace_mps, e.weather_missing, e.individuals,
                e.service_weather::text AS service_weather
            FROM drover.seen_survey_\(isOwn ? "own" : "exact") e WHERE e.site = $1 AND e.survey = $2
            """, [.text(site), .text(survey)]
        ).first.map { row in
            Facts(
                gate: try row.text("gate"), gateReasons: try row.textArray("gate_reasons")!.compactMap { $0 },
                distanceM: try row.double("distance_m"), paceMps: try row.double("pace_mps"),
                weatherMissing: try row.int("weather_missing")!, individuals: try row.int("individuals")!,
                serviceWeather: try row.text("service_weather")!)
        }
    }

    /// Accepted names of the newest version's sightings, by their number.
    package static func names(
        site: String, survey: String, isOwn: Bool, on connection: Connection
    ) throws -> [Int: (accepted: String, isKnown: Bool)] {
        let rows = try connection.query(
            """
            SELECT x.sighting, x.species, x.taxon IS NOT NULL AS is_known
            FROM drover.seen_survey_\(isOwn ? "own" : "exact") e
            JOIN drover.seen_sighting_\(isOwn ? "own" : "exact") x ON x.site = e.site AND x.survey = e.survey
                AND x.seen_at BETWEEN e.started_at - interval '1 day' AND e.stopped_at + interval '1 day'
            WHERE e.site = $1 AND e.survey = $2
            """, [.text(site), .text(survey)])
        return try Dictionary(
            rows.map { (try $0.int(0)!, (try $0.text(1)!, try $0.bool(2)!)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Nil: there is none that the caller may see.
    package static func photo(_ photo: String, on connection: Connection) throws -> PhotoStore.Photo? {
        try connection.query("SELECT * FROM drover.survey_photo_seen($1)", [.text(photo)]).first.map {
            PhotoStore.Photo(mediaType: try $0.text("media_type")!, content: try $0.bytes("content")!)
        }
    }
}
