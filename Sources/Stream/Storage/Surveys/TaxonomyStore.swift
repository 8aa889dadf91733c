package import Postgres
package import Surveys

/// The taxonomy in PostgreSQL. Rows of sightings follow from surveys and the taxonomy as it is: whoever changes it makes
/// the rows of the surveys that it speaks of again, and keeps workers out meanwhile.
package enum TaxonomyStore {
    /// Until the end of the transaction the taxonomy stays as it is.
    package static func hold(on connection: Connection) throws { try NamedLocks.share(.taxonomy, on: connection) }

    package static func matches(_ given: Set<String>, on connection: Connection) throws -> [String: TaxonMatch] {
        let folded = Set(given.map(TaxonName.folded))
        var entries: [String: [TaxonName.Entry]] = [:]
        for row in try connection.query(
            """
            SELECT n.name, n.kind, t.taxon, t.name AS accepted, t.is_sensitive
            FROM drover.taxon_name n JOIN drover.taxon t USING (taxon) WHERE n.name = ANY ($1)
            """, [.textArray(folded.sorted())])
        {
            let kind: TaxonName.Kind = try row.word("kind")!
            entries[try row.text("name")!, default: []].append(
                TaxonName.Entry(
                    kind: kind, taxon: try row.text("taxon")!, accepted: try row.text("accepted")!,
                    isSensitive: try row.bool("is_sensitive")!))
        }
        return Dictionary(
            uniqueKeysWithValues: given.map { ($0, TaxonName.match($0, entries[TaxonName.folded($0)] ?? [])) })
    }
}

extension TaxonomyStore {
    /// A session that may load one.
    package static func connect(_ conninfo: String) throws -> Connection {
        try SchemaConnection.connectForWriting(conninfo)
    }

    /// Puts a taxonomy in the place of the one before.
    ///
    /// - Returns: the names that surveyors gave and whose meaning is another now.
    /// - Precondition: within a transaction; until its end workers wait.
    package static func replace(
        by file: TaxonomyFile, source: String, on connection: Connection
    ) throws -> [String] {
        try NamedLocks.acquire(.taxonomy, on: connection)
        let given = try Set(
            connection.query("SELECT DISTINCT given_name FROM drover.sighting").map { try $0.text(0)! })
        let before = try matches(given, on: connection)
        try connection.execute("DELETE FROM drover.taxon")
        try write(file, source, on: connection)
        let after = try matches(given, on: connection)
        return given.filter { before[$0] != after[$0] }.sorted()
    }

    private static func write(_ file: TaxonomyFile, _ source: String, on connection: Connection) throws {
        let page = 5_000
        for start in stride(from: 0, to: file.taxa.count, by: page) {
            let taxa = file.taxa[start..<min(start + page, file.taxa.count)]
            try connection.query(
                """
                INSERT INTO drover.taxon (taxon, name, rank, parent, authorship, is_sensitive, source)
                SELECT taxon, name, rank, nullif(parent, ''), nullif(authorship, ''), is_sensitive, $7
                FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[])
                    AS said(taxon, name, rank, parent, authorship, is_sensitive)
                """,
                [
                    .textArray(taxa.map(\.taxon)), .textArray(taxa.map(\.name)), .textArray(taxa.map(\.rank)),
                    .textArray(taxa.map { $0.parent ?? "" }), .textArray(taxa.map { $0.authorship ?? "" }),
                    .boolArray(taxa.map(\.isSensitive)), .text(source),
                ])
        }
        let names = file.names
        for start in stride(from: 0, to: names.count, by: page) {
            let names = names[start..<min(start + page, names.count)]
            try connection.query(
                """
                INSERT INTO drover.taxon_name (name, taxon, kind, given)
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
                """,
                [
                    .textArray(names.map(\.name)), .textArray(names.map(\.taxon)),
                    .textArray(names.map(\.kind.rawValue)), .textArray(names.map(\.given)),
                ])
        }
    }

    /// The surveys that hold one of these names, by their partitions.
    package static func surveys(
        holding names: [String], on connection: Connection
    ) throws -> [Int32: [SurveyKey]] {
        guard !names.isEmpty else { return [:] }
        var surveys: [Int32: [SurveyKey]] = [:]
        for row in try connection.query(
            """
            SELECT site, survey, s.topic_partition FROM drover.survey s
            WHERE (site, survey) IN (SELECT site, survey FROM drover.sighting WHERE given_name = ANY ($1))
            """, [.textArray(names)])
        {
            surveys[Int32(try row.int(2)!), default: []].append(
                SurveyKey(site: try row.text(0)!, survey: try row.text(1)!))
        }
        return surveys
    }
}
