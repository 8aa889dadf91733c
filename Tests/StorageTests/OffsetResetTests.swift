import Fleet
import Postgres
import Storage
import Testing

/// What stands beside the offsets of a log that was lost, in the real PostgreSQL.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct OffsetResetTests {
    private static let database = Result { try TestDatabase.migrated("offset_reset") }

    private func reset(_ topic: String, on db: Connection) throws {
        try db.transaction {
            try OffsetReset.apply([OffsetReset.Lost(topic: topic, partition: 3, low: 0)], ids: [:], on: db)
        }
    }

    @Test("A log that is lost again while something asked for before the first loss goes on keeps the order of both")
    func keepsTheOrderOfSpreads() throws {
        let db = try Connection(conninfo: OffsetResetTests.database.get())
        try db.execute("SET search_path = drover")
        // The first row is the one that goes on: each tick writes it anew, behind the other.
        try db.execute(
            """
            INSERT INTO machine_spreading VALUES
                (3, 5, '2026-09-10', '2026-09-10', '2026-09-13', NULL), (3, -1, '2026-09-10', '2026-09-10', '2026-09-13', 'm');
            INSERT INTO car_spreading VALUES (3, 5, '2026-09-10', NULL), (3, -1, '2026-09-10', 'm')
            """)
        for (topic, table) in [("drover.machines", "machine_spreading"), ("drover.cars", "car_spreading")] {
            try reset(topic, on: db)
            let rows = try db.query(
                "SELECT coalesce(after_vehicle, '-'), asked_offset < 0 FROM \(table) ORDER BY asked_offset")
            #expect(try rows.map { try $0.text(0)! } == ["m", "-"])
            #expect(try rows.allSatisfy { try $0.bool(1)! })
        }
    }

    @Test("Limits of the installation that were on their way when the log was lost come to all cars again")
    func comesToAllAgain() throws {
        let db = try Connection(conninfo: OffsetResetTests.database.get())
        try db.execute("SET search_path = drover")
        // The later record is of an earlier time: read back, it goes first.
        try db.execute(
            """
            INSERT INTO account_settings (topic_partition, account, in_force_at, settings, record_id, record_offset, judged_from_at,
                reached_vehicle, reached_all_offset) VALUES
                (3, 'installation', '2026-09-12', '{}', 'a', 5, '2026-09-12', 'm', NULL),
                (3, 'installation', '2026-09-11', '{}', 'b', 6, '2026-09-11', NULL, NULL),
                (3, 'installation', '2026-09-10', '{}', 'c', 4, '2026-09-10', NULL, 9);
            INSERT INTO replaced_limits (topic_partition, in_force_at, record_id, settings, record_offset, judged_from_at,
                reached_vehicle, reached_all_offset) VALUES
                (3, '2026-09-12', '0', '{}', 2, '2026-09-12', NULL, 3), (3, '2026-09-12', '1', '{}', 3, '2026-09-12', 'm', NULL)
            """)
        try reset("drover.cars", on: db)
        let reach = try db.query(
            """
            SELECT record_id || ' ' || coalesce(reached_vehicle, '-') || ' ' || coalesce(reached_all_offset::text, '-')
            FROM (
                SELECT record_id, reached_vehicle, reached_all_offset FROM account_settings
                UNION ALL SELECT record_id, reached_vehicle, reached_all_offset FROM replaced_limits
            ) AS limits ORDER BY record_id
            """
        ).map { try $0.text(0)! }
        #expect(reach == ["0 - -1", "1 - -", "a - -", "b - -", "c - -1"])
    }
}
