package import Postgres

/// A table that is written by COPY into a temporary staging table and one upsert from there: absolute values by
/// natural key, so that writing the same again changes nothing.
package struct StagedTable: Sendable {
    package let name: String
    let columns: [String]
    let key: [String]
    /// Whether `revision` and `revised_at` are among the columns: they only grow.
    let isRevised: Bool
    /// The time that its partitions are by, if it has any: those that the rows need are made where they are missing.
    let periodsBy: String?

    package init(name: String, columns: [String], key: [String], isRevised: Bool = false, periodsBy: String? = nil) {
        (self.name, self.key, self.isRevised, self.periodsBy) = (name, key, isRevised, periodsBy)
        self.columns = columns + (isRevised ? ["revision", "revised_at"] : [])
    }

    private var stage: String { "stage_\(name)" }

    /// The staging table lives as long as the session and is empty at the start of each transaction.
    package var create: String {
        "CREATE TEMPORARY TABLE IF NOT EXISTS \(stage) ON COMMIT DELETE ROWS AS SELECT \(columns.joined(separator: ", ")) "
            + "FROM \(name) WITH NO DATA"
    }

    /// Each time anew, not remembered: retention drops partitions meanwhile. The schema that a replay builds has none.
    private var makePeriods: String {
        guard let periodsBy else { return "" }
        return "SELECT drover.make_period('\(name)', day) "
            + "FROM (SELECT DISTINCT date_trunc('day', \(periodsBy), 'UTC') AS day FROM \(stage)) AS staged; "
    }

    private var upsert: String {
        let sets = columns.filter { !key.contains($0) }.map { column in
            isRevised && (column == "revision" || column == "revised_at")
                ? "\(column) = greatest(\(name).\(column), EXCLUDED.\(column))" : "\(column) = EXCLUDED.\(column)"
        }
        return "INSERT INTO \(name) (\(columns.joined(separator: ", "))) SELECT * FROM \(stage) "
            + "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(sets.joined(separator: ", "))"
    }

    /// Precondition: within a transaction; no key stands twice in `rows`.
    func write<Row>(_ rows: [Row], on connection: Connection, _ fill: (Row, inout BinaryCopy) -> Void) throws {
        guard !rows.isEmpty else { return }
        var copy = BinaryCopy.fragment
        for row in rows {
            copy.row(columns: columns.count)
            fill(row, &copy)
        }
        try write([copy.bytes], on: connection)
    }

    /// Rows that were encoded elsewhere. Precondition: within a transaction; no key stands twice. May be called again in
    /// the same transaction: what was staged before is gone.
    package func write(_ fragments: [[UInt8]], on connection: Connection) throws {
        guard fragments.contains(where: { !$0.isEmpty }) else { return }
        try connection.copyIn("COPY \(stage) FROM STDIN (FORMAT binary)", fragments: fragments)
        // Not TRUNCATE: that makes new files and leaves dead rows in pg_class, several times a second.
        try connection.execute("\(makePeriods)\(upsert); DELETE FROM \(stage)")
    }
}

/// Rows of one table, encoded for COPY.
package struct TableRows: Sendable {
    package let table: StagedTable
    package let bytes: [UInt8]
    package let count: Int

    package init(_ table: StagedTable, _ copy: BinaryCopy) {
        (self.table, bytes, count) = (table, copy.bytes, copy.rowCount)
    }
}
