package import Postgres

/// The taxonomy, as people look names up in it.
package enum TaxonQueries {
    /// No taxonomy was loaded yet.
    package static func isEmpty(on connection: Connection) throws -> Bool {
        try connection.query("SELECT FROM drover.taxon LIMIT 1").isEmpty
    }

    package struct Taxon: Sendable {
        package let taxon, name, rank: String
        package let parent: String?
        package let hasChildren: Bool
    }

    /// A name that begins so, and the accepted one of what it stands for.
    package struct Match: Sendable {
        package let given, accepted, rank: String
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
            SELECT n.given, t.name, t.rank FROM drover.taxon_name n JOIN drover.taxon t USING (taxon)
            WHERE starts_with(n.name, $1) OR strpos(n.name, ' ' || $1) > 0
            ORDER BY NOT starts_with(n.name, $1), n.kind <> 'accepted', n.name, t.name LIMIT $2
            """, [.text(folded), .int8(Int64(most))]
        ).map { Match(given: try $0.text(0)!, accepted: try $0.text(1)!, rank: try $0.text(2)!) }
    }

    private static func read(_ row: Row) throws -> Taxon {
        Taxon(
            taxon: try row.text("taxon")!, name: try row.text("name")!, rank: try row.text("rank")!,
            parent: try row.text("parent"), hasChildren: try row.bool("has_children")!)
    }
}
