import Foundation
import Postgres
import Testing

/// Set DROVER_TEST_POSTGRES to a libpq connection string, e.g. "host=/tmp/pg user=postgres dbname=postgres"; the role
/// must be allowed to make temporary tables. Without it these tests are skipped.
let testDatabase = ProcessInfo.processInfo.environment["DROVER_TEST_POSTGRES"]

@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct ServerTests {
    let db: Connection

    init() throws { db = try Connection(conninfo: testDatabase ?? "") }

    @Test func notificationsArriveAndALostSessionIsNoticed() throws {
        let listener = try Connection(conninfo: testDatabase ?? "")
        try listener.execute("LISTEN drover_test")
        #expect(try listener.notifications(timeoutMs: 0) == [])
        try db.execute("NOTIFY drover_test, 'one'; NOTIFY drover_test, 'two'")
        var taken: [Postgres.Notification] = []
        while taken.count < 2 { taken += try listener.notifications(timeoutMs: 5_000) }
        #expect(taken.map(\.payload) == ["one", "two"] && taken[0].channel == "drover_test")
        // Those that come in the middle of another statement are not lost.
        try db.execute("NOTIFY drover_test, 'three'")
        try listener.query("SELECT pg_sleep(0.05)")
        #expect(try listener.notifications(timeoutMs: 60_000).map(\.payload) == ["three"])
        let pid = try listener.query("SELECT pg_backend_pid() AS pid")[0].int("pid")
        try db.query("SELECT pg_terminate_backend($1)", [.int4(Int32(pid!))])
        let error = #expect(throws: PostgresError.self) {
            for _ in 0..<600 { _ = try listener.notifications(timeoutMs: 100) }
        }
        #expect(error?.isConnectionLost == true)
    }

    @Test func parametersComeBackAsTheyWent() throws {
        let row = try #require(
            try db.query(
                """
                SELECT $1 AS t, $2 AS i8, $3 AS i4, $4 AS b, $5 AS f, $6 AS by, $7 AS ts, $8 AS ta, $9 AS ia, $10 AS tsa,
                    $11::text AS n, $12::uuid AS u, $13::jsonb AS j, $14 AS fa
                """,
                [
                    .text("x' ; DROP \"é"), .int8(.min), .int4(-5), .bool(true), .float8(-1.5e300),
                    .bytes([0, 255, 1]), .timestampMs(-1), .textArray(["a", "", "ü,\"{}"]), .int8Array([1, -2]),
                    .timestampArray([0, 1]), .null, .text("0123ABCD-4567-89ab-cdef-0123456789ab"), .text("{\"a\": 1}"),
                    .float8Array([]),
                ]
            ).first)
        #expect(try row.text("t") == "x' ; DROP \"é")
        #expect(try row.int("i8") == .min)
        #expect(try row.int("i4") == -5)
        #expect(try row.bool("b") == true)
        #expect(try row.double("f") == -1.5e300)
        #expect(try row.bytes("by") == [0, 255, 1])
        #expect(try row.timestampMs("ts") == -1)
        #expect(try row.textArray("ta") == ["a", "", "ü,\"{}"])
        #expect(try row.intArray("ia") == [1, -2])
        #expect(try row.timestampMsArray("tsa") == [0, 1])
        #expect(try row.isNull("n") && row.text("n") == nil)
        #expect(try row.text("u") == "0123abcd-4567-89ab-cdef-0123456789ab")
        #expect(try row.text("j") == "{\"a\": 1}")
        #expect(try row.doubleArray("fa") == [])
        #expect(throws: PostgresError.self) { try row.int("t") }
        #expect(throws: PostgresError.self) { try row.int("missing") }
        #expect(throws: PostgresError.self) { try row.textArray("t") }
    }

    @Test(arguments: [
        "0", "0.00", "1", "-1", "10000", "12345678901234567890.123456789", "-0.0001", "0.5", "100000000", "99999.99990",
        "NaN", "1000000000000000000000000", "-0.00000000012", "Infinity",
    ])
    func numericsReadLikeTheServerWritesThem(_ text: String) throws {
        let row = try #require(
            try db.query("SELECT v AS n, v::text AS t FROM (SELECT $1::numeric AS v) x", [.text(text)]).first)
        #expect(try row.numericText("n") == row.text("t"))
    }

    @Test func otherTypes() throws {
        let row = try #require(
            try db.query(
                """
                SELECT 7::int2 AS i2, 1.5::real AS f4, date '1969-12-31' AS d, timestamptz 'infinity' AS inf,
                    ARRAY['a', NULL] AS ta, '{}'::int[] AS none, 5::oid AS o, 'x'::name AS nm, 3.0 AS three
                """
            ).first)
        #expect(try row.int("i2") == 7)
        #expect(try row.double("f4") == 1.5)
        #expect(try row.dateDays("d") == -1)
        #expect(try row.timestampMs("inf") == .max)
        #expect(try row.textArray("ta") == ["a", nil])
        #expect(try row.intArray("none") == [])
        #expect(try row.int("o") == 5)
        #expect(try row.text("nm") == "x")
        #expect(try row.numericText("three") == "3.0")
    }

    private enum Colour: String { case red, darkGreen = "dark_green" }

    @Test("A word that its list lacks is an error that names column and word")
    func words() throws {
        let row = try #require(
            try db.query("SELECT 'red' AS a, 'blue' AS b, NULL::text AS n, ARRAY['red', NULL, 'dark_green'] AS l").first
        )
        #expect(try row.word("a") == Colour.red)
        #expect(try row.word("n", of: Colour.self) == nil)
        #expect(try row.words("l") == [Colour.red, .darkGreen])
        let error = #expect(throws: PostgresError.self) { try row.word("b", of: Colour.self) }
        #expect(error?.message == "column b: blue is no Colour")
    }

    @Test func everyCopyEncoderMeetsItsColumn() throws {
        try db.execute(
            """
            CREATE TEMP TABLE every(i2 int2, i4 int4, i8 int8, f4 real, f8 float8, b bool, t text, by bytea,
                ts timestamptz, d date, j jsonb, ta text[], i8a int8[], i4a int4[], n text)
            """)
        let rows = try db.copyIn("COPY every FROM STDIN (FORMAT binary)") { writer in
            for sign in [Int64(1), -1] {
                try writer.row(columns: 15) {
                    $0.int2(Int16(sign * 300))
                    $0.int4(Int32(sign * 70_000))
                    $0.int8(sign * 5_000_000_000)
                    $0.float4(1.5)
                    $0.float8(-2.25)
                    $0.bool(sign > 0)
                    $0.text("grün")
                    $0.bytea([0, 1, 255])
                    $0.timestampMs(sign * 1_795_243_920_123)
                    $0.date(days: Int(sign))
                    $0.jsonb("{\"k\": [1]}")
                    $0.textArray(["a", "b c"])
                    $0.int8Array([])
                    $0.int4Array([1, 2, 3])
                    $0.text(nil)
                }
            }
        }
        #expect(rows == 2)
        let found = try db.query(
            "SELECT every::text AS line FROM every, LATERAL (SELECT set_config('TimeZone', 'UTC', false)) z"
        ).map { try $0.text("line") ?? "" }
        #expect(
            found == [
                #"(300,70000,5000000000,1.5,-2.25,t,grün,"\\x0001ff","2026-11-21 06:52:00.123+00",1970-01-02,"{""k"": [1]}","{a,""b c""}",{},"{1,2,3}",)"#,
                #"(-300,-70000,-5000000000,1.5,-2.25,f,grün,"\\x0001ff","1913-02-10 17:07:59.877+00",1969-12-31,"{""k"": [1]}","{a,""b c""}",{},"{1,2,3}",)"#,
            ])
    }

    @Test func manyRowsGoInChunks() throws {
        try db.execute("CREATE TEMP TABLE many(a int8, b text)")
        let text = String(repeating: "x", count: 50)
        let rows = try db.copyIn("COPY many FROM STDIN (FORMAT binary)") { writer in
            for i in 0..<100_000 {
                try writer.row(columns: 2) {
                    $0.int8(Int64(i))
                    $0.text(text)
                }
            }
        }
        #expect(rows == 100_000)
        #expect(try db.query("SELECT sum(a)::int8 AS s FROM many")[0].int("s") == 4_999_950_000)
    }

    @Test func copyThatThrowsLeavesNothingAndAUsableConnection() throws {
        struct Stop: Error {}
        try db.execute("CREATE TEMP TABLE t(a int4)")
        #expect(throws: Stop.self) {
            try db.copyIn("COPY t FROM STDIN (FORMAT binary)") {
                try $0.row(columns: 1) { $0.int4(1) }
                throw Stop()
            }
        }
        #expect(try db.query("SELECT count(*) AS n FROM t")[0].int("n") == 0)
    }

    @Test func copyOfTheWrongWidthNamesTheColumnOnly() throws {
        try db.execute("CREATE TEMP TABLE t(a int4)")
        let error = #expect(throws: PostgresError.self) {
            try db.copyIn("COPY t FROM STDIN (FORMAT binary)") { try $0.row(columns: 1) { $0.int8(77_777) } }
        }
        #expect(error?.sqlState == "22P03")
        #expect(error?.context?.contains("column a") == true)
        #expect(try db.query("SELECT 1 AS x")[0].int("x") == 1)
    }

    @Test func copyOfReadyBytes() throws {
        try db.execute("CREATE TEMP TABLE t(a int4, b text)")
        #expect(try db.copyIn("COPY t FROM STDIN", bytes: Array("1\tx\n2\t\\N\n".utf8)) == 2)
        let error = #expect(throws: PostgresError.self) {
            try db.copyIn("COPY t FROM STDIN", bytes: Array("secret\tx\n".utf8))
        }
        #expect(error?.description.contains("secret") == false)
        #expect(throws: PostgresError.self) { try db.copyIn("COPY t TO STDOUT", bytes: []) }
        #expect(throws: PostgresError.self) { try db.execute("COPY t FROM STDIN") }
        #expect(throws: PostgresError.self) { try db.copyIn("SELECT 1", bytes: []) }
        #expect(try db.query("SELECT count(*) AS n FROM t")[0].int("n") == 2)
    }

    @Test func errorsHoldNoValues() throws {
        try db.execute("CREATE TEMP TABLE t(a text PRIMARY KEY, b int4 NOT NULL)")
        _ = try db.query("INSERT INTO t VALUES ($1, 1)", [.text("secret")])
        for sql in [
            "INSERT INTO t VALUES ($1, 1)", "INSERT INTO t VALUES ($1, NULL)", "SELECT $1::int4",
            "SELECT 1/0, $1::text",
        ] {
            let error = #expect(throws: PostgresError.self) { try db.query(sql, [.text("secret")]) }
            #expect(error?.description.contains("secret") == false)
            #expect(error?.sqlState.hasPrefix("2") == true)
        }
        let nul = #expect(throws: PostgresError.self) { try db.query("SELECT $1::text", [.text("a\0secret")]) }
        #expect(nul?.description.contains("secret") == false)
    }

    @Test func transactionsKeepAllOrNothing() throws {
        struct Stop: Error {}
        try db.execute("CREATE TEMP TABLE t(a int4)")
        try db.transaction { try db.execute("INSERT INTO t VALUES (1)") }
        #expect(throws: Stop.self) {
            try db.transaction {
                try db.execute("INSERT INTO t VALUES (2)")
                throw Stop()
            }
        }
        // An error that the body swallowed must not look like a commit.
        let error = #expect(throws: PostgresError.self) {
            try db.transaction { _ = try? db.execute("INSERT INTO nowhere VALUES (1)") }
        }
        #expect(error?.sqlState == "25P02")
        #expect(!db.isInTransaction)
        #expect(try db.query("SELECT count(*) AS n FROM t")[0].int("n") == 1)
    }

    @Test func aKilledSessionIsALostConnection() throws {
        let other = try Connection(conninfo: testDatabase ?? "")
        let id = try #require(try other.query("SELECT pg_backend_pid() AS id")[0].int("id"))
        let error = #expect(throws: PostgresError.self) {
            try other.transaction { _ = try db.query("SELECT pg_terminate_backend($1, 5000)", [.int4(Int32(id))]) }
        }
        #expect(error?.isConnectionLost == true)
        #expect(error?.isOutcomeUnknown == true)
        #expect(!other.isOpen && !other.isAlive && db.isAlive)
    }

    @Test func cancelEndsAStatement() throws {
        let canceller = db.canceller()
        let ended = DispatchSemaphore(value: 0)
        // Cancels until the statement is seen to end: the first ones may come before it began. On a thread of its own:
        // the pool's may all be busy with other tests.
        Thread.detachNewThread {
            repeat { canceller.cancel() } while ended.wait(timeout: .now() + .milliseconds(20)) == .timedOut
        }
        let error = #expect(throws: PostgresError.self) { try db.execute("SELECT pg_sleep(30)") }
        ended.signal()
        #expect(error?.sqlState == "57014")
    }

    @Test func noticesAndCounts() throws {
        var notices: [String] = []
        let db = try Connection(conninfo: testDatabase ?? "", notices: { notices.append($0) })
        try db.execute("DROP TABLE IF EXISTS no_such_table_here")
        #expect(notices == ["table \"no_such_table_here\" does not exist, skipping"])
        try db.execute("CREATE TEMP TABLE t(a int4); INSERT INTO t VALUES (1), (2)")
        #expect(try db.execute("UPDATE t SET a = 3") == 2)
        #expect(try db.query("DELETE FROM t WHERE a = $1", [.int4(3)]).rowsChanged == 2)
        #expect(db.serverVersion > 120_000)
        let error = #expect(throws: PostgresError.self) {
            try Connection(conninfo: (testDatabase ?? "") + " dbname=no_such_db")
        }
        #expect(error?.description.contains("createdb") == true)
    }
}

extension Connection {
    /// Asks the server; blocks for one round trip.
    fileprivate var isAlive: Bool { isOpen && (try? query("SELECT 1")) != nil }
}
