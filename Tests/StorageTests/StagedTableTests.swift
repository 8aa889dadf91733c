import Postgres
import Storage
import Testing

/// A table in partitions by time: what a merge into it reads and locks.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct StagedTableTests {
    private static let reading = StagedTable(
        name: "machine_reading", columns: ["vehicle", "read_at", "reading_id", "model", "alert_state"],
        key: ["vehicle", "read_at"], periodsBy: "read_at")
    /// January, February and March 2090: what lies years back has partitions of a year.
    private static let months: [Int64] = [3_786_912_000_000, 3_789_590_400_000, 3_792_009_600_000]

    private func write(_ ids: Range<Int>, _ model: String, month: Int, on db: Connection) throws {
        var copy = BinaryCopy.fragment
        for id in ids {
            copy.row(columns: 5)
            copy.text("m-\(id % 10)")
            copy.timestampMs(Self.months[month] + Int64(id) * 1_001)
            copy.text("r-\(id)")
            copy.text(model)
            copy.bytea([0])
        }
        try Self.reading.write([copy.bytes], on: db)
    }

    private func scans(_ db: Connection) throws -> (whole: Int, lookedUp: Int) {
        let row = try db.query(
            """
            SELECT sum(seq_scan)::int AS whole, sum(idx_scan)::int AS looked_up FROM pg_stat_xact_user_tables
            WHERE schemaname = 'drover' AND relname LIKE 'machine\\_reading%'
            """)[0]
        return (try row.int("whole")!, try row.int("looked_up")!)
    }

    @Test("A merge looks up each row by its key, in the partition of its time and no other") func byKey() throws {
        let db = try SchemaConnection.connectForWriting(TestDatabase.migrated("staged"))
        for month in 0..<3 { try db.transaction { try write(0..<3_000, "old", month: month, on: db) } }
        try db.transaction {
            let before = try scans(db)
            try write(2_900..<3_100, "new", month: 1, on: db)
            let locked = try db.query(
                """
                SELECT relation::regclass::text AS name FROM pg_locks WHERE pid = pg_backend_pid()
                    AND relation::regclass::text ~ '^machine_reading_\\d+_\\d+$' GROUP BY 1
                """)
            #expect(try locked.map { try $0.text("name") } == ["machine_reading_2090_02"])
            // Partitions that were made a moment ago count until then.
            let after = try scans(db)
            #expect(after.whole == before.whole)
            #expect(after.lookedUp == before.lookedUp + 200)
        }
        let counts = try db.query("SELECT model, count(*) AS rows FROM machine_reading GROUP BY 1 ORDER BY 1")
        #expect(try counts.map { try $0.int("rows") } == [200, 8_900])
    }
}
