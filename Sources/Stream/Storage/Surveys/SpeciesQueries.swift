package import Postgres

/// A species for a field guide: its names and place in the taxonomy, and what a question adds up to of it.
package enum SpeciesQueries {
    package struct Species: Sendable {
        package let taxon, name, rank, genus: String
        package let authorship, family: String?
        package let isSensitive: Bool
        package let common, synonyms: [String]
    }

    /// Those of these accepted names that the taxonomy has, by family, genus and name.
    package static func species(_ names: [String], on connection: Connection) throws -> [Species] {
        try connection.query(
            """
            SELECT t.taxon, t.name, t.rank, t.authorship, t.is_sensitive,
                CASE WHEN p.rank = 'genus' THEN p.name ELSE split_part(t.name, ' ', 1) END AS genus,
                CASE WHEN p.rank = 'family' THEN p.name WHEN q.rank = 'family' THEN q.name WHEN r.rank = 'family' THEN r.name
                    WHEN s.rank = 'family' THEN s.name END AS family,
                coalesce(m.common, '{}') AS common, coalesce(m.synonyms, '{}') AS synonyms
            FROM drover.taxon t LEFT JOIN drover.taxon p ON p.taxon = t.parent LEFT JOIN drover.taxon q ON q.taxon = p.parent
            LEFT JOIN drover.taxon r ON r.taxon = q.parent LEFT JOIN drover.taxon s ON s.taxon = r.parent
            LEFT JOIN (
                SELECT n.taxon, array_agg(n.given ORDER BY n.given COLLATE "C") FILTER (WHERE n.kind = 'common') AS common,
                    array_agg(n.given ORDER BY n.given COLLATE "C") FILTER (WHERE n.kind = 'synonym') AS synonyms
                FROM drover.taxon_name n
                WHERE n.taxon IN (SELECT o.taxon FROM drover.taxon o WHERE o.name = ANY ($1)) GROUP BY n.taxon) m
                ON m.taxon = t.taxon
            WHERE t.name = ANY ($1) ORDER BY family NULLS LAST, genus, t.name
            """, [.textArray(names)]
        ).map { row in
            Species(
                taxon: try row.text("taxon")!, name: try row.text("name")!, rank: try row.text("rank")!,
                genus: try row.text("genus")!, authorship: try row.text("authorship"),
                family: try row.text("family"), isSensitive: try row.bool("is_sensitive")!,
                common: try row.textArray("common")!.compactMap { $0 },
                synonyms: try row.textArray("synonyms")!.compactMap { $0 })
        }
    }
}

extension SightingExport {
    /// A species of a question, with when it was last seen.
    package struct Seen: Sendable {
        package let name: String
        package let count: Count
        package let lastDay: String?
    }

    /// By name. Precondition: `resolved`.
    package func seen(most: Int, on connection: Connection) throws -> [Seen] {
        try connection.query(
            """
            SELECT e.species, count(*) AS sightings, coalesce(sum(e.individuals), 0)::bigint AS individuals,
                to_char(max(e.local_date) FILTER (WHERE e.individuals > 0), 'YYYY-MM-DD') AS last_day
            FROM \(sightingView) e WHERE \(try sightingTerms(nil, on: connection))
            GROUP BY e.species ORDER BY e.species LIMIT \(most)
            """
        ).map { row in
            Seen(
                name: try row.text("species")!,
                count: Count(sightings: try row.int("sightings")!, individuals: try row.int("individuals")!),
                lastDay: try row.text("last_day"))
        }
    }

    /// How it was counted: sightings by protocol (nil: none was named), the most first. Precondition: `resolved`.
    package func protocols(on connection: Connection) throws -> [(name: String?, count: Count)] {
        try connection.query(
            """
            SELECT e.protocol, count(*) AS sightings, coalesce(sum(e.individuals), 0)::bigint AS individuals
            FROM \(sightingView) e WHERE \(try sightingTerms(nil, on: connection))
            GROUP BY e.protocol ORDER BY sightings DESC, e.protocol LIMIT 20
            """
        ).map { row in
            (
                name: try row.text("protocol"),
                count: Count(sightings: try row.int("sightings")!, individuals: try row.int("individuals")!)
            )
        }
    }
}
