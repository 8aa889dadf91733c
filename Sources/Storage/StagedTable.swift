internal import Postgres

/// A table that is written by COPY into a temporary staging table and one upsert from there: absolute values by
/// natural key, so that writing the same again changes nothing.
struct StagedTable {
    let name: String
    let columns: [String]
    let key: [String]

    private var stage: String { "stage_\(name)" }

    /// The staging table lives as long as the session and is empty at the start of each transaction.
    var create: String {
        "CREATE TEMPORARY TABLE IF NOT EXISTS \(stage) ON COMMIT DELETE ROWS AS SELECT \(columns.joined(separator: ", ")) "
            + "FROM drover.\(name) WITH NO DATA"
    }

    private var upsert: String {
        let others = columns.filter { !key.contains($0) }
        return "INSERT INTO drover.\(name) (\(columns.joined(separator: ", "))) SELECT * FROM \(stage) "
            + "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET "
            + others.map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
    }

    /// Precondition: within a transaction; no key stands twice in `rows`.
    func write<Row>(_ rows: [Row], on connection: Connection, _ fill: (Row, inout BinaryCopy) -> Void) throws {
        guard !rows.isEmpty else { return }
        let columnCount = columns.count
        try connection.copyIn("COPY \(stage) FROM STDIN (FORMAT binary)") { writer in
            for row in rows { try writer.row(columns: columnCount) { fill(row, &$0) } }
        }
        try connection.execute(upsert)
    }
}
