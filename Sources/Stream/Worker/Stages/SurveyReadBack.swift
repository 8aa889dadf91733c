internal import Fleet
package import Postgres
internal import Storage
package import Surveys

/// The loops between surveys and what is stored of them and of the taxonomy.
package enum SurveyReadBack {
    /// The numbers that a load of a taxonomy changed.
    package struct Loaded {
        package let taxa: Int
        package let surveys: Int
    }

    private static let page = 500

    /// The taxonomy stays as it is until the end of the transaction: what is written must still be so then.
    static func changes(_ fold: SurveyFold, on connection: Connection) throws -> SurveyChanges {
        guard !fold.isEmpty else { return fold.changes([:]) }
        try TaxonomyStore.hold(on: connection)
        return fold.changes(try TaxonomyStore.matches(fold.names, on: connection))
    }

    /// Puts a taxonomy in the place of the one before, and makes the rows of the surveys again that hold a name whose meaning
    /// is another now. All of it or nothing.
    package static func load(_ file: TaxonomyFile, source: String, on connection: Connection) throws -> Loaded {
        try connection.transaction {
            let names = try TaxonomyStore.replace(by: file, source: source, on: connection)
            let surveys = try TaxonomyStore.surveys(holding: names, on: connection)
            for (partition, keys) in surveys.sorted(by: { $0.key < $1.key }) {
                for start in stride(from: 0, to: keys.count, by: page) {
                    try makeAgain(Array(keys[start...].prefix(page)), partition: partition, on: connection)
                }
            }
            return Loaded(taxa: file.taxa.count, surveys: surveys.reduce(0) { $0 + $1.value.count })
        }
    }

    private static func makeAgain(_ keys: [SurveyKey], partition: Int32, on connection: Connection) throws {
        let histories = try SurveyQueries.histories(keys, on: connection)
        let known = keys.sorted().compactMap { key in
            histories[key].map { SurveyRows.Known(key: key, history: $0, hasRows: true) }
        }
        let names = try TaxonomyStore.matches(SurveyRows.names(of: known), on: connection)
        try SurveyStore.write(SurveyRows(known, names), partition: partition, on: connection)
    }
}
