import Foundation
import Postgres
import Storage
import Testing

/// What `drover verify` compares and how, with a real server. The replays themselves: Tests/System/engine/test_replay.py.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct ReplayComparisonTests {
    /// The migrations run once.
    private static let template = Result {
        let connection = try Connection(conninfo: TestDatabase.migrated("replay"))
        return connection.place.database
    }
    private static let copying = NSLock()

    private static func migrated(_ purpose: String) throws -> Connection {
        let template = try template.get()
        let name = template.replacing("replay", with: "replay_\(purpose)")
        let server = try Connection(conninfo: testDatabase ?? "")
        _ = try copying.withLock { try server.execute("CREATE DATABASE \(name) TEMPLATE \(template)") }
        return try Connection(conninfo: "\(testDatabase ?? "") dbname=\(name)")
    }

    /// A database with a replay's schema `again`, both empty.
    private static func made(_ purpose: String) throws -> Connection {
        let connection = try migrated(purpose)
        #expect(try ReplaySchema.prepare("again", owner: connection))
        return connection
    }

    private static func another(_ connection: Connection) throws -> Connection {
        try Connection(conninfo: "\(testDatabase ?? "") dbname=\(connection.place.database)")
    }

    /// What is said of the differences, by table; of equal tables nothing.
    private static func differences(_ connection: Connection, rowsAtOnce: Int = 1_000) throws -> [String: [String]] {
        let replayed = try another(connection)
        try ReplayComparison.beginLive(on: connection)
        defer { _ = try? connection.execute("ROLLBACK") }
        try ReplayComparison.begin(on: replayed)
        let comparison = try ReplayComparison("again", live: connection, replayed: replayed, rowsAtOnce: rowsAtOnce)
        #expect(try comparison.isAtOnePlace())
        var told: [String: [String]] = [:]
        for table in ReplayTables.compared {
            let result = try comparison.compare(table)
            if !result.differences.isEmpty { told[table.label] = result.differences.map(\.text) }
        }
        return told
    }

    private static func tables(_ connection: Connection) throws -> [String: Set<String>] {
        var tables: [String: Set<String>] = [:]
        for row in try connection.query(
            """
            SELECT c.relname::text, a.attname::text FROM pg_class c
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'drover'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """)
        {
            tables[try row.text(0)!, default: []].insert(try row.text(1)!)
        }
        return tables
    }

    @Test("Every table and every column of the database is compared, or it is said why not") func everything() throws {
        let connection = try Self.migrated("named")
        #expect(try ReplayTables.faults(Self.tables(connection)) == [])
        try connection.execute(
            """
            ALTER TABLE drover.outside_call RENAME TO extra; ALTER TABLE drover.rider ADD COLUMN extra int;
            ALTER TABLE drover.assignment DROP COLUMN assigned_by
            """)
        #expect(
            try ReplayTables.faults(Self.tables(connection)) == [
                "assignment.assigned_by: there is no such column (assignment)",
                "extra: neither compared nor said why not", "outside_call: there is no such table",
                "rider.extra: not named (rider)",
            ])
    }

    @Test("Who reads may read of a replay what it may read of the live tables, column by column") func rights() throws {
        let connection = try Self.made("rights")
        let rights = try connection.query(
            """
            SELECT c.relname || '.' || a.attname AS name,
                has_column_privilege('drover_reader', c.oid, a.attnum, 'SELECT') AS live,
                has_column_privilege('drover_reader', format('again.%I', c.relname)::regclass, a.attname, 'SELECT') AS again
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'drover'::regnamespace AND to_regclass(format('again.%I', c.relname)) IS NOT NULL
                AND c.relkind IN ('r', 'p')
            """
        ).map { (name: try $0.text("name")!, live: try $0.bool("live")!, again: try $0.bool("again")!) }
        #expect(rights.filter { $0.live != $0.again }.map(\.name) == [])
        // Of some columns of a table, of a whole table, and of none.
        let readable = Set(rights.filter(\.again).map(\.name))
        #expect(readable.isSuperset(of: ["survey.protocol", "trip.vehicle"]))
        #expect(
            readable.isDisjoint(with: ["survey.comments", "surveyor.mail", "outbox.record", "rejected.first_bytes"]))
    }

    @Test("One row that differs among thousands is found, whatever is read at once", arguments: [1, 50, 100_000])
    func parts(rowsAtOnce: Int) throws {
        let connection = try Self.made("parts_\(rowsAtOnce)")
        for schema in ["drover", "again"] {
            try connection.execute(
                """
                INSERT INTO \(schema).rider (campus, rider, name)
                SELECT 'c-' || n % 7, 'r-' || n, 'Anna ' || n FROM generate_series(1, 3000) n
                """)
        }
        #expect(try Self.differences(connection, rowsAtOnce: rowsAtOnce) == [:])
        try connection.execute("UPDATE again.rider SET name = 'Ben', photo = 'p' WHERE rider = 'r-1234'")
        #expect(
            try Self.differences(connection, rowsAtOnce: rowsAtOnce) == [
                "rider": [
                    "campus=c-2 rider=r-1234: name is Anna 1234, replayed Ben",
                    "campus=c-2 rider=r-1234: photo is NULL, replayed p",
                ]
            ])
        try connection.execute(
            """
            UPDATE again.rider SET name = 'Anna 1234', photo = NULL WHERE rider = 'r-1234';
            DELETE FROM again.rider WHERE rider = 'r-17'
            """)
        #expect(
            try Self.differences(connection, rowsAtOnce: rowsAtOnce) == [
                "rider": ["campus=c-3 rider=r-17: the replay has no such row"]
            ])
        try connection.execute("DELETE FROM drover.rider WHERE rider IN ('r-17', 'r-2999')")
        #expect(
            try Self.differences(connection, rowsAtOnce: rowsAtOnce) == [
                "rider": ["campus=c-3 rider=r-2999: only the replay has the row"]
            ])
    }

    @Test("Of long values that is shown where they differ") func longValues() throws {
        let connection = try Self.made("long")
        for (schema, word) in [("drover", "here"), ("again", "there")] {
            try connection.query(
                "INSERT INTO \(schema).rider (campus, rider, name) VALUES ('c', 'r', repeat('a', 500) || $1 || repeat('b', 500))",
                [.text(word)])
        }
        let said = try #require(try Self.differences(connection)["rider"]?.first)
        #expect(said.contains("aaahere") && said.contains("aaathere") && said.utf8.count < 400)
    }

    @Test("Records that are not sent yet are compared, those that were are missed by nobody") func sent() throws {
        let connection = try Self.made("sent")
        let records = [
            ("drover.rejected", "r-1", "{}"), ("drover.alerts", "a-1", #"{"model":"8R"}"#),
            ("drover.assignments", "c-1", #"{"state":"waiting"}"#),
        ]
        for (topic, id, record) in records {
            for schema in ["drover", "again"] {
                try connection.query(
                    "INSERT INTO \(schema).outbox (topic, key, record_id, record) VALUES ($1, 'k', $2, $3)",
                    [.text(topic), .text(id), .text(record)])
            }
        }
        // Of a replay nobody knows this: what was decided live.
        try connection.execute(
            """
            INSERT INTO drover.outbox (topic, key, record_id, record)
            VALUES ('drover.dispatch', 'c', 'c-1', '{}');
            DELETE FROM drover.outbox WHERE record_id = 'r-1'
            """)
        #expect(try Self.differences(connection, rowsAtOnce: 1) == [:])
        try connection.execute(
            """
            UPDATE again.outbox SET record = '{"state":"assigned"}' WHERE record_id = 'c-1';
            DELETE FROM again.outbox WHERE record_id = 'a-1'
            """)
        #expect(
            try Self.differences(connection, rowsAtOnce: 1) == [
                "outbox": [
                    "topic=drover.alerts record_id=a-1: the replay has no such row",
                    #"topic=drover.assignments record_id=c-1: record is {"state":"waiting"}, replayed {"state":"assigned"}"#,
                ]
            ])
    }

    /// An alert that is over, and as it is now.
    private static func alert(_ schema: String, _ change: String = "", kind: String = "machine") -> String {
        """
        INSERT INTO \(schema).alert (alert_id, vehicle, model, parameter, unit, severity, state, test, threshold, since_at,
            opened_at, opening_value, worst_value, worst_at, resolved_at, audience, rules_version, first_opened_at, revision,
            kind, account)
        VALUES ('a', 'v', '', 'Speed', 'km/h', 'warning', 'resolved', 'above', 100, '2026-11-21T08:00Z', '2026-11-21T08:00Z',
            101, 120, '2026-11-21T08:01Z', '2026-11-21T08:02Z', 'farmer', '1', '2026-11-21T08:00Z', 0, '\(kind)', 'anna');
        \(change.isEmpty ? "" : "UPDATE \(schema).alert SET \(change);")
        """
    }

    @Test("Of events that were not looked at yet each is in the replay, as often as it is there") func events() throws {
        let connection = try Self.made("events")
        let event = "notice_event (alert_id, transition, told_at) VALUES ('a', 'revised', '2026-11-21T08:00Z')"
        for schema in ["drover", "again"] { try connection.execute(Self.alert(schema)) }
        try connection.execute("INSERT INTO drover.\(event); INSERT INTO again.\(event); INSERT INTO again.\(event)")
        #expect(try Self.differences(connection) == [:])
        try connection.execute("INSERT INTO drover.\(event); INSERT INTO drover.\(event)")
        #expect(
            try Self.differences(connection) == [
                "notice_event": [
                    "alert_id=a transition=revised told_at=2026-11-21 08:00:00+00: the replay has no such row"
                ]
            ])
    }

    /// A change of the replay's row, and the columns that are told; "" is a row that is missing.
    private static let carsAlerts = [
        ("alert_id = 'b'", [""]), ("revision = 2, revised_at = now()", ["revised_at", "revision"]),
        ("told_at = now()", ["told_at"]), ("worst_value = 121", ["worst_value"]),
        ("resolved_at = '2026-11-21T08:03Z'", ["resolved_at"]), ("opened_at = '2026-11-21T07:59Z'", ["opened_at"]),
        ("state = 'withdrawn'", ["state"]), ("parameter = 'Trouble Code P0171'", ["parameter"]),
    ]

    private static let trip = """
        trip (vehicle, end_at, is_open, readings, disputed_readings, speed_readings, integrated_ms, distance_mm, idle_ms, holes,
            sharp_accelerations, sharp_brakings, rpm_ms, milli_turns, start_at, state)
        SELECT 'v', end_at, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, start_at::timestamptz, decode(state, 'hex')
        """

    @Test("Of cars' alerts all is compared, also when and under which id people were told") func alertsOfCars() throws {
        let connection = try Self.made("cars")
        for (change, differs) in Self.carsAlerts {
            for schema in ["drover", "again"] {
                try connection.execute("TRUNCATE \(schema).alert; \(Self.alert(schema, kind: "car"))")
            }
            try connection.execute("UPDATE again.alert SET \(change)")
            let said = try Self.differences(connection)
            let columns = Set(
                (said["alert"] ?? []).map { text in
                    text.contains(" is ") ? String(text.split(separator: ": ")[1].prefix { $0 != " " }) : ""
                })
            #expect(columns == Set(differs), "\(change)")
            #expect(said.keys.allSatisfy { $0 == "alert" }, "\(change)")
        }
    }

    @Test("The state beside a car's latest trip is compared without the offset that it begins with") func states()
        throws
    {
        let connection = try Self.made("states")
        for (schema, old, latest) in [("drover", "07aa", "8f8001aabb"), ("again", "07cc", "07aabb")] {
            try connection.execute(
                """
                INSERT INTO \(schema).\(Self.trip) FROM (VALUES
                    ('2026-11-20T07:00Z', '2026-11-20T08:00Z'::timestamptz, '\(old)'),
                    ('2026-11-21T07:00Z', '2026-11-21T08:00Z', '\(latest)')) AS trip(start_at, end_at, state)
                """)
        }
        #expect(try Self.differences(connection) == [:])
        try connection.execute("UPDATE again.trip SET state = '\\x07aabc' WHERE start_at = '2026-11-21T07:00Z'")
        #expect(
            try Self.differences(connection) == [
                "trip": ["vehicle=v start_at=2026-11-21 07:00:00+00: state is aabb, replayed aabc"]
            ])
    }

    @Test("What retention has taken away is not missed; what it has left is compared") func retained() throws {
        let connection = try Self.made("retained")
        for schema in ["drover", "again"] {
            try connection.execute(
                """
                INSERT INTO \(schema).dispatch_decision (campus, record_offset, made_at, decision, why)
                SELECT 'c', n, '2026-11-01Z'::timestamptz + n * interval '1 day', 'd', '{}' FROM generate_series(1, 9) n
                """)
        }
        try connection.execute(
            """
            DELETE FROM drover.dispatch_decision WHERE record_offset < 5;
            INSERT INTO drover.retained (relation, from_at) VALUES ('dispatch_decision', '2026-11-06Z')
            """)
        #expect(try Self.differences(connection) == [:])
        try connection.execute("DELETE FROM drover.dispatch_decision WHERE record_offset = 5")
        #expect(
            try Self.differences(connection) == [
                "dispatch_decision": ["campus=c record_offset=5: only the replay has the row"]
            ])
    }

    @Test("A replay that an earlier version began is named for what it lacks") func lacking() throws {
        let connection = try Self.made("lacking")
        #expect(try ReplaySchema.lacking("again", on: connection) == nil)
        try connection.execute("ALTER TABLE again.trip DROP COLUMN is_open")
        #expect(try ReplaySchema.lacking("again", on: connection) == "the column trip.is_open")
        try connection.execute("DROP TABLE again.rejected; DROP TABLE again.outbox")
        #expect(try ReplaySchema.lacking("again", on: connection) == "the table rejected")
    }

    @Test("Two places of the log are not compared") func places() throws {
        let connection = try Self.made("places")
        let replayed = try Self.another(connection)
        func isAtOnePlace(_ live: String, _ again: String) throws -> Bool {
            for (schema, values) in [("drover", live), ("again", again)] {
                try connection.execute(
                    """
                    DELETE FROM \(schema).partition_progress;
                    INSERT INTO \(schema).partition_progress (topic, partition, next_offset, replay_offset) VALUES \(values)
                    """)
            }
            return try ReplayComparison("again", live: connection, replayed: replayed).isAtOnePlace()
        }
        // A car's open minute is read again from wherever a commit left it; a decision must be there.
        #expect(try isAtOnePlace("('drover.cars', 0, 9, 3)", "('drover.cars', 0, 9, 5)"))
        #expect(try isAtOnePlace("('drover.dispatch', 0, 9, 9)", "('drover.dispatch', 0, 9, 9)"))
        #expect(try !isAtOnePlace("('drover.dispatch', 0, 9, 9)", "('drover.dispatch', 0, 9, 7)"))
        for (live, again) in [
            ("('drover.cars', 0, 9, 9)", "('drover.cars', 0, 10, 10)"),
            ("('drover.cars', 0, 9, 9), ('drover.cars', 1, 9, 9)", "('drover.cars', 0, 9, 9)"),
        ] { #expect(throws: ReplayComparison.Fault.self) { try isAtOnePlace(live, again) } }
    }
}
