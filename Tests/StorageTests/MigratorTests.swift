import Postgres
import Storage
import Testing

@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct MigratorTests {
    private static let file = Migrator.File(
        number: 9_999, name: "9999_wider.sql",
        sql: "CREATE TABLE drover.half (a int); ALTER TABLE drover.vehicle ADD COLUMN wider int")

    @Test("An idle transaction of somebody who reads is named after a while, and nothing is half applied")
    func aReaderInTheWayIsNamed() throws {
        let conninfo = try TestDatabase.migrated("migrator")
        let (connection, reader) = (
            try Connection(conninfo: conninfo), try Connection(conninfo: conninfo, applicationName: "analyst's psql")
        )
        let pid = try reader.query("SELECT pg_backend_pid()")[0].int(0)!
        try reader.execute("BEGIN; SELECT FROM drover.vehicle LIMIT 1")
        // A relay keeps its turn as long as it lives.
        let relay = try Connection(conninfo: conninfo)
        let relayPID = try relay.query("SELECT pg_backend_pid()")[0].int(0)!
        try relay.execute("BEGIN; LOCK TABLE drover.relay_turn IN SHARE UPDATE EXCLUSIVE MODE")
        let files = try TestDatabase.migrations.get() + [Self.file]
        let patience = Migrator.Patience(lockMs: 20, restMs: 0, tries: 2)
        var waits: [String] = []
        let fault = #expect(throws: Migrator.Fault.self) {
            try Migrator.apply(files, patience: patience, on: connection) { waits.append($0) }
        }
        #expect(
            waits.count == 1 && waits[0].hasPrefix("9999_wider.sql: waits for") && waits[0].contains("pid \(pid)"),
            "\(waits)")
        for part in ["9999_wider.sql", "pid \(pid)", "analyst's psql", "since 20", "drover migrate again"] {
            #expect(fault?.description.contains(part) == true, "\(part): \(fault?.description ?? "")")
        }
        #expect(fault?.description.contains("pid \(relayPID),") == false, "\(fault?.description ?? "")")
        #expect(try connection.query("SELECT to_regclass('drover.half') IS NULL")[0].bool(0) == true)
        #expect(try !Migrator.applied(on: connection).contains(9_999))
        try reader.execute("ROLLBACK")
        #expect(try Migrator.apply(files, patience: patience, on: connection).map(\.number) == [9_999])
    }

    @Test(arguments: [
        ("0077_wider.sql", 77), ("0076_baseline", 76), ("README.md", nil), ("wider.sql", nil), ("0077_wider.txt", nil),
    ])
    func filesAndFoldersHaveNumbers(_ name: String, _ number: Int?) {
        #expect(Migrator.File.number(of: name) == number)
    }

    @Test(arguments: [
        ([7], "migration 0007"), ([7, 61], "migrations 0007, 0061"),
        ([1, 2, 3, 4, 5, 6, 7], "migrations 0001, 0002, 0003, 0004, 0005 and 2 more"),
    ])
    func numbersAreReadAsTheirFilesAreNamed(_ numbers: [Int], _ text: String) {
        #expect(Migrator.numbers(numbers) == text)
    }
}
