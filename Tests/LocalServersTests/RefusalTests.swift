import Foundation
import LocalServers
import Testing

/// What people read when it does not work; no server is needed.
@Suite struct RefusalTests {
    @Test func `a file where the folder should be`() throws {
        let folder = try TemporaryFolder("file")
        defer { folder.remove() }
        try Data().write(to: URL(fileURLWithPath: folder.path))
        for path in [folder.path, folder.path + "/below"] {
            let error = #expect(throws: LocalServerError.self) { _ = try DataFolder(path) }
            #expect(error?.description.contains("Part of this path is a file") == true, "\(String(describing: error))")
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write anywhere")) func `a folder without the right to write`() throws {
        let error = #expect(throws: LocalServerError.self) { _ = try DataFolder("/drover-data") }
        #expect(error?.description.contains("Choose a folder that you may write to with --data") == true)
    }

    @Test func `a path where nothing can be made`() throws {
        let error = #expect(throws: LocalServerError.self) { _ = try DataFolder("/proc/drover-data") }
        #expect(error?.description.hasPrefix("/proc/drover-data: cannot make the data folder:") == true)
    }

    @Test func `missing programs name their packages`() {
        let none = #expect(throws: LocalServerError.self) { try findPostgres(nil, clusterVersion: "7") }
        #expect(none?.description.contains("apt-get install postgresql-7") == true)
        let elsewhere = #expect(throws: LocalServerError.self) { try findPostgres("/tmp", clusterVersion: nil) }
        #expect(elsewhere?.description.hasPrefix("/tmp: does not hold postgres, initdb, psql") == true)
        let broker = #expect(throws: LocalServerError.self) { try findBroker("/nonexistent/noida-db") }
        #expect(broker?.description.hasPrefix("/nonexistent/noida-db: is not a program") == true)
    }

    @Test func `no space for a database`() {
        let error = #expect(throws: LocalServerError.self) { try requireSpace("/", megabytes: 1_000_000_000) }
        #expect(error?.description.contains("Free some space") == true)
    }

    @Test func `a port that is taken is not chosen`() throws {
        let taken = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(taken) }
        let wanted = try Loopback.freePort(preferring: 0)
        #expect(try Loopback.freePort(preferring: wanted) == wanted)
        #expect(!Loopback.speaksKafka(wanted))
    }

    @Test(arguments: [
        ("postgres 12 34 2 boot", true), ("postgres 12 34 2", false), ("postgres x 34 2 boot", false),
        ("postgres 1 34 2 boot", false), ("postgres -5 34 2 boot", false), ("", false),
    ])
    func `recorded children`(_ line: String, _ valid: Bool) {
        #expect(RecordedChild(line: line[...])?.line == (valid ? line : nil))
    }
}
