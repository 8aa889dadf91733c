package import Postgres
package import Surveys

/// What a surveyor has walked and counted before: the next survey begins from it.
package enum SurveyEntryQueries {
    /// A site, as its newest survey tells of it.
    package struct Site: Sendable {
        package let site: String
        package let name, route, surveyProtocol: String?
        package let latitude, longitude: Double?
        /// Encoded polyline of the walk, five decimals.
        package let line: String?
        package let sections: [String]
    }

    private static let sectionsMax = 30

    /// The caller's own sites, the last walked first.
    package static func sites(most: Int, on connection: Connection) throws -> [Site] {
        try connection.query(
            """
            SELECT n.*, ARRAY(
                SELECT x.section FROM drover.seen_sighting_own x
                WHERE x.site = n.site AND x.seen_at > n.started_at - interval '400 days' AND x.section IS NOT NULL
                GROUP BY x.section ORDER BY length(x.section), x.section LIMIT \(sectionsMax)) AS sections
            FROM (
                SELECT DISTINCT ON (e.site) e.site, e.site_name, e.route, e.protocol, e.latitude_deg, e.longitude_deg,
                    e.line, e.started_at
                FROM drover.seen_survey_own e ORDER BY e.site, e.started_at DESC) n
            ORDER BY n.started_at DESC, n.site LIMIT $1
            """, [.int8(Int64(most))]
        ).map { row in
            Site(
                site: try row.text("site")!, name: try row.text("site_name"), route: try row.text("route"),
                surveyProtocol: try row.text("protocol"), latitude: try row.double("latitude_deg"),
                longitude: try row.double("longitude_deg"), line: try row.text("line"),
                sections: try row.textArray("sections")!.compactMap { $0 })
        }
    }

    /// A survey of anybody's, for reviewers.
    package struct Recent: Sendable {
        package let site, survey, day: String
        package let name: String?
        /// Nil: its protocol has no rules.
        package let gate: ProtocolGate.Verdict?
        package let sightings, individuals: Int
    }

    /// The last walked first; nothing for who does not see surveys as they are.
    package static func recent(most: Int, on connection: Connection) throws -> [Recent] {
        try connection.query(
            """
            SELECT e.site, e.survey, to_char(e.local_date, 'YYYY-MM-DD') AS day, e.site_name, e.gate, e.sightings, e.individuals
            FROM drover.seen_survey_exact e ORDER BY e.started_at DESC, e.site, e.survey LIMIT $1
            """, [.int8(Int64(most))]
        ).map { row in
            Recent(
                site: try row.text("site")!, survey: try row.text("survey")!, day: try row.text("day")!,
                name: try row.text("site_name"), gate: try row.word("gate"), sightings: try row.int("sightings")!,
                individuals: try row.int("individuals")!)
        }
    }

    /// Species that the caller met in this month and the ones beside it, of any year, the most often met first; with what people call them.
    package static func species(
        month: Int, most: Int, on connection: Connection
    ) throws -> [(name: String, common: String?)] {
        try connection.query(
            """
            SELECT m.species, (
                SELECT min(n.given COLLATE "C") FROM drover.taxon t JOIN drover.taxon_name n ON n.taxon = t.taxon AND n.kind = 'common'
                WHERE t.name = m.species) AS common
            FROM (
                SELECT x.species, count(*) AS times FROM drover.seen_sighting_own x
                WHERE x.individuals > 0 AND x.taxon IS NOT NULL
                    AND extract(month FROM x.local_date)::int = ANY (ARRAY[($1 + 10) % 12 + 1, $1, $1 % 12 + 1])
                GROUP BY x.species ORDER BY times DESC, x.species LIMIT $2) m
            ORDER BY m.times DESC, m.species
            """, [.int4(Int32(month)), .int8(Int64(most))]
        ).map { (name: try $0.text("species")!, common: try $0.text("common")) }
    }
}
