package import Postgres

/// The taxonomy, as people look names up in it.
package enum TaxonQueries {
    /// No taxonomy was loaded yet.
    package static func isEmpty(on connection: Connection) throws -> Bool {
        try connection.query("SELECT FROM drover.taxon LIMIT 1").isEmpty
    }

    /// All of it is of that source, and no survey speaks of any of it.
    package static func isUnused(from source: String, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT WHERE NOT EXISTS (SELECT FROM drover.taxon WHERE source <> $1)
                AND NOT EXISTS (SELECT FROM drover.sighting)
            """, [.text(source)]
        ).count == 1
    }

    package struct Taxon: Sendable {
        package let taxon, name, rank: String
        package let parent: String?
        package let hasChildren: Bool
    }

    /// A name that begins so, and the accepted one of what it stands for.
    package struct Match: Sendable {
        package let given, accepted, rank: String
        /// What people call it, not a scientific name.
        package let isCommon: Bool
    }

    private static let columns = """
        t.taxon, t.name, t.rank, t.parent, EXISTS (SELECT FROM drover.taxon c WHERE c.parent = t.taxon) AS has_children
        """

    package static func taxon(_ key: String, on connection: Connection) throws -> Taxon? {
        try connection.query("SELECT \(columns) FROM drover.taxon t WHERE t.taxon = $1", [.text(key)]).first.map(read)
    }

    /// By name.
    /// - Parameter parent: nil: those that nothing is above.
    package static func children(of parent: String?, most: Int, on connection: Connection) throws -> [Taxon] {
        try connection.query(
            """
            SELECT \(columns) FROM drover.taxon t
            WHERE CASE WHEN $1::text IS NULL THEN NOT EXISTS (SELECT FROM drover.taxon p WHERE p.taxon = t.parent)
                ELSE t.parent = $1 END
            ORDER BY t.name LIMIT $2
            """, [.text(parent), .int8(Int64(most))]
        ).map(read)
    }

    /// Accepted names, synonyms and common names; whole words that begin so.
    /// - Parameter folded: by `TaxonName.folded`.
    package static func search(_ folded: String, most: Int, on connection: Connection) throws -> [Match] {
        try connection.query(
            """
            SELECT n.given, t.name, t.rank, n.kind = 'common' FROM drover.taxon_name n JOIN drover.taxon t USING (taxon)
            WHERE starts_with(n.name, $1) OR strpos(n.name, ' ' || $1) > 0
            ORDER BY NOT starts_with(n.name, $1), n.kind <> 'accepted', n.name, t.name LIMIT $2
            """, [.text(folded), .int8(Int64(most))]
        ).map {
            Match(
                given: try $0.text(0)!, accepted: try $0.text(1)!, rank: try $0.text(2)!,
                isCommon: try $0.bool(3)!)
        }
    }

    /// What people call these species, by their accepted names; a taxonomy does not say in which language.
    package static func common(_ names: [String], on connection: Connection) throws -> [String: String] {
        let found = try connection.query(
            """
            SELECT t.name, min(n.given COLLATE "C") FROM drover.taxon t JOIN drover.taxon_name n USING (taxon)
            WHERE n.kind = 'common' AND t.name = ANY ($1) GROUP BY t.name
            """, [.textArray(names)]
        ).map { (try $0.text(0)!, try $0.text(1)!) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    private static func read(_ row: Row) throws -> Taxon {
        Taxon(
            taxon: try row.text("taxon")!, name: try row.text("name")!, rank: try row.text("rank")!,
            parent: try row.text("parent"), hasChildren: try row.bool("has_children")!)
    }
}
