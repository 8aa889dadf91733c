import Fleet
import Foundation
import Ingest
import Testing

/// The file between boxes and broker.
final class SpoolTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "spool-\(UUID().uuidString)")
    private var path: String { folder.appending(path: "spool.sqlite").path }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }

    private func page(_ vehicle: String, _ sequences: ClosedRange<Int64>, serial: String = "B") -> SpooledPage {
        SpooledPage(
            topic: Topic.machines, vehicle: VehicleID(vehicle)!,
            end: SpooledPage.End(serial: serial, sequence: sequences.upperBound),
            records: sequences.map { Array("\(vehicle)-\($0)".utf8) })
    }

    private func texts(_ spool: Spool) throws -> [String] {
        try spool.oldest().map { String(decoding: $0.json, as: UTF8.self) }
    }

    @Test func recordsKeepTheirOrderAndSequencesTheirPlaceWhenItIsOpenedAgain() throws {
        do {
            let spool = try Spool(path: path)
            try spool.append([page("a", 1...3), page("b", 7...8)])
            try spool.append([page("a", 4...4), page("a", 1...1, serial: "C")])
            #expect(spool.count == 7)
        }
        let spool = try Spool(path: path)
        #expect(try texts(spool) == ["a-1", "a-2", "a-3", "b-7", "b-8", "a-4", "a-1"])
        #expect(try spool.sequences() == ["a": ["B": 4, "C": 1], "b": ["B": 8]])
        let positions = try spool.oldest().map(\.position)
        try spool.settle(acknowledged: [positions[0], positions[3]], refused: [(positions[1], "too large")])
        #expect(try texts(spool) == ["a-3", "b-8", "a-4", "a-1"] && spool.count == 4)
        // What is drained is forgotten, where it ended is not.
        try spool.settle(acknowledged: spool.oldest().map(\.position), refused: [])
        #expect(try spool.oldest().isEmpty && spool.sequences()["a"] == ["B": 4, "C": 1])
    }

    @Test func aSpoolOfTheFirstVersionIsTakenOverWithItsRecordsOfMachines() throws {
        let first = """
            CREATE TABLE record (position INTEGER PRIMARY KEY AUTOINCREMENT, vehicle TEXT NOT NULL, json BLOB NOT NULL,
                refused TEXT);
            CREATE TABLE box (vehicle TEXT NOT NULL, serial TEXT NOT NULL, sequence INTEGER NOT NULL,
                PRIMARY KEY (vehicle, serial)) WITHOUT ROWID;
            INSERT INTO record (vehicle, json) VALUES ('a', CAST('a-1' AS BLOB));
            INSERT INTO box VALUES ('a', 'B', 1);
            PRAGMA application_id = 0x44525652; PRAGMA user_version = 1;
            """
        #expect(Process.run(path, first))
        let car = SpooledPage(topic: Topic.cars, vehicle: VehicleID("c")!, end: nil, records: [Array("c-1".utf8)])
        do {
            let spool = try Spool(path: path)
            try spool.append([car])
        }
        let spool = try Spool(path: path)
        #expect(try spool.oldest().map(\.topic) == [Topic.machines, Topic.cars])
        #expect(try texts(spool) == ["a-1", "c-1"] && spool.sequences() == ["a": ["B": 1]])
    }

    @Test func itsSizeFollowsWhatItHolds() throws {
        let spool = try Spool(path: path)
        let empty = spool.bytes
        for first in stride(from: Int64(1), to: 20_000, by: 1_000) {
            try spool.append([page("a", first...first + 999)])
        }
        #expect(spool.bytes > empty + 20_000 * 10)
        while true {
            let records = try spool.oldest()
            if records.isEmpty { break }
            try spool.settle(acknowledged: records.map(\.position), refused: [])
        }
        #expect(spool.bytes < empty + 100_000)
    }

    private func said() -> String {
        do {
            _ = try Spool(path: path)
            return "nothing"
        } catch { return "\(error)" }
    }

    @Test func aFileThatIsNoSpoolIsLeftAloneAndSaysWhatToDo() throws {
        let url = URL(fileURLWithPath: path)
        try Data("not a database, but long enough to be looked at as one, is it not? ".utf8).write(to: url)
        #expect(said().contains("is damaged or no spool") && said().contains("Move it away"))
        try FileManager.default.removeItem(at: url)
        #expect(Process.run(path, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)"))
        #expect(said().contains("is a file of another program"))
        #expect(Process.run(path, "PRAGMA application_id = 0x44525652; PRAGMA user_version = 9"))
        #expect(said().contains("is a spool of version 9"))
        #expect(said().hasPrefix(path))
    }

    @Test func aDamagedSpoolIsNotReadOn() throws {
        do {
            let spool = try Spool(path: path)
            for first in stride(from: Int64(1), to: 5_000, by: 1_000) {
                try spool.append([page("a", first...first + 999)])
            }
        }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: 3 * 4_096)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 8 * 4_096))
        try handle.close()
        #expect(said().contains("is damaged or no spool"))
    }

    @Test func aSecondGatewayIsRefused() throws {
        let first = try Spool(path: path)
        #expect(said().contains("another gateway has it"))
        try first.append([page("a", 1...1)])
        #expect(said().contains("another gateway has it") && first.count == 1)
    }

    private func modes() throws -> [String: Int] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
                return (name, try #require(attributes[.posixPermissions] as? Int) & 0o077)
            })
    }

    @Test func othersReadNothingOfItAlsoWhereAnEarlierVersionLeftItOpen() throws {
        do {
            let spool = try Spool(path: path)
            try spool.append([page("a", 1...3)])
            #expect(try modes().values.allSatisfy { $0 == 0 } && !modes().isEmpty)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let spool = try Spool(path: path)
        try spool.append([page("a", 4...4)])
        #expect(try modes().values.allSatisfy { $0 == 0 })
    }

    @Test func aFolderThatIsNotThereIsSaid() {
        #expect(throws: SpoolError.self) { try Spool(path: "/no/such/folder/spool.sqlite") }
    }
}

extension Process {
    /// Another program with a database of its own.
    fileprivate static func run(_ path: String, _ sql: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2]).close()", path, sql,
        ]
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
