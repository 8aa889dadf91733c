package import Postgres

/// A table that is written by COPY into a temporary staging table and one upsert from there: absolute values by
/// natural key, so that writing the same again changes nothing.
///
/// A key is written by one session at a time: whoever writes has moved its partition's offset in the same transaction.
package struct StagedTable: Sendable {
    package let name: String
    let columns: [String]
    let key: [String]
    /// Whether `revision` and `revised_at` are among the columns: they only grow.
    let isRevised: Bool
    /// The time that its partitions are by, if it has any: those that the rows need are made where they are missing.
    let periodsBy: String?

    package init(name: String, columns: [String], key: [String], isRevised: Bool = false, periodsBy: String? = nil) {
        self.name = name
        self.key = key
        self.isRevised = isRevised
        self.periodsBy = periodsBy
        self.columns = columns + (isRevised ? ["revision", "revised_at"] : [])
    }

    private var stage: String { "stage_\(name)" }

    /// The staging table lives as long as the session and is empty at the start of each transaction. It is made when it is first
    /// needed: each that there is costs something at each commit.
    private var create: String {
        "CREATE TEMPORARY TABLE IF NOT EXISTS \(stage) ON COMMIT DELETE ROWS AS SELECT \(columns.joined(separator: ", ")) "
            + "FROM \(name) WITH NO DATA"
    }

    /// Makes the partitions that are missing, and returns the span of the staged rows. Each time anew, not remembered: retention
    /// drops partitions meanwhile. The schema that a replay builds has none.
    private func makePeriods(by time: String, on connection: Connection) throws -> (firstMs: Int64, lastMs: Int64) {
        let spans = "SELECT date_trunc('day', \(time), 'UTC') AS day, min(\(time)) AS first, max(\(time)) AS last "
        let row = try connection.query(
            "SELECT count(drover.make_period('\(name)', day)), min(first) AS first, max(last) AS last "
                + "FROM (\(spans) FROM \(stage) GROUP BY 1) AS staged")[0]
        return (try row.timestampMs("first")!, try row.timestampMs("last")!)
    }

    private func sets(from source: String) -> String {
        columns.filter { !key.contains($0) }.map { column in
            isRevised && (column == "revision" || column == "revised_at")
                ? "\(column) = greatest(\(name).\(column), \(source).\(column))" : "\(column) = \(source).\(column)"
        }.joined(separator: ", ")
    }

    private var upsert: String {
        "INSERT INTO \(name) (\(columns.joined(separator: ", "))) SELECT * FROM \(stage) "
            + "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(sets(from: "EXCLUDED"))"
    }

    /// Rows that are mostly new cost less than half this way: `ON CONFLICT` inserts each on trial and then confirms it. The times
    /// stand in the statement, so that other partitions are neither planned nor locked. Each row is looked up by its key: to
    /// read a partition whole, which the planner knows nothing of, would take minutes, and so would comparing each row with
    /// all of a span that it believes to be small.
    private func merge(_ time: String, _ firstMs: Int64, _ lastMs: Int64) -> String {
        func at(_ ms: Int64) -> String { "to_timestamp(\(ms) / 1000.0)" }
        let same = key.map { "\(name).\($0) = staged.\($0)" }.joined(separator: " AND ")
        // Without `jit`: the staged rows must be read whole, which looks dear now.
        let settings = ["enable_hashjoin", "enable_mergejoin", "enable_material", "enable_seqscan", "jit"]
        return settings.map { "SET LOCAL \($0) = off; " }.joined()
            + "MERGE INTO \(name) USING \(stage) AS staged ON \(same) "
            + "AND \(name).\(time) >= \(at(firstMs)) AND \(name).\(time) <= \(at(lastMs)) "
            + "WHEN MATCHED THEN UPDATE SET \(sets(from: "staged")) "
            + "WHEN NOT MATCHED THEN INSERT (\(columns.joined(separator: ", "))) "
            + "VALUES (\(columns.map { "staged.\($0)" }.joined(separator: ", ")))"
            + settings.map { "; RESET \($0)" }.joined()
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
        if connection.remember(stage) { try connection.execute(create) }
        try connection.copyIn("COPY \(stage) FROM STDIN (FORMAT binary)", fragments: fragments)
        // Not TRUNCATE: that makes new files and leaves dead rows in pg_class, several times a second.
        var write = upsert
        if let periodsBy {
            let (firstMs, lastMs) = try makePeriods(by: periodsBy, on: connection)
            write = merge(periodsBy, firstMs, lastMs)
        }
        try connection.execute("\(write); DELETE FROM \(stage)")
    }
}

/// Rows of one table, encoded for COPY.
package struct TableRows: Sendable {
    package let table: StagedTable
    package let bytes: [UInt8]
    package let count: Int

    package init(_ table: StagedTable, _ copy: BinaryCopy) {
        self.table = table
        bytes = copy.bytes
        count = copy.rowCount
    }
}
