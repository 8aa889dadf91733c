import Foundation
import LocalServers
import Testing

/// Real servers, started and killed. Serialized: each starts a database, and two cores are soon busy.
@Suite(.serialized, .enabled(if: Binaries.present, "PostgreSQL or the broker is not installed; see Deploy/install"))
struct LocalServerGroupTests {
    @Test func `serves every login, and keeps its data over a restart`() throws {
        let folder = try TemporaryFolder("plain")
        defer { folder.remove() }
        let first = try LocalServerGroup.start(folder.settings)
        #expect(Loopback.speaksKafka(try #require(port(first.brokers))))
        #expect(try query("SHOW data_checksums", first, as: "postgres") == "on")
        #expect(try query("SHOW server_encoding", first, as: "postgres") == "UTF8")
        #expect(try query("SHOW listen_addresses", first, as: "postgres") == "")
        #expect(
            try query("CREATE SCHEMA drover; CREATE TABLE drover.t (i int); INSERT INTO drover.t VALUES (41)", first)
                == "")
        // What the migrations do.
        let roles = [
            "drover_writer", "drover_reader", "drover_relay", "drover_api", "drover_gateway", "drover_survey",
            "drover_debug", "drover_page", "drover_query",
        ]
        _ = try query(roles.map { "CREATE ROLE \($0)" }.joined(separator: "; "), first)
        let grants =
            "GRANT USAGE ON SCHEMA drover TO drover_writer, drover_reader, drover_gateway; "
            + "GRANT SELECT, UPDATE ON drover.t TO drover_writer; GRANT SELECT ON drover.t TO drover_reader"
        _ = try query(grants, first)
        try first.grantRoles()
        #expect(try query("UPDATE drover.t SET i = i + 1 RETURNING i", first, as: "drover_worker") == "42")
        #expect(try query("SELECT i FROM drover.t", first, as: "drover_web") == "42")
        #expect(try query("DELETE FROM drover.t", first, as: "drover_web").contains("permission denied"))
        #expect(try query("SELECT i FROM drover.t", first, as: "drover_poller").contains("permission denied"))
        #expect(first.failure() == nil)
        first.stop()

        let second = try LocalServerGroup.start(folder.settings)
        defer { second.stop() }
        #expect(second.brokers == first.brokers)
        #expect(try query("SELECT i FROM drover.t", second) == "42")
    }

    @Test func `one run a folder, and two folders side by side`() throws {
        let (here, there) = (try TemporaryFolder("here"), try TemporaryFolder("there"))
        defer {
            here.remove()
            there.remove()
        }
        let one = try LocalServerGroup.start(here.settings)
        defer { one.stop() }
        let refusal = #expect(throws: LocalServerError.self) { try LocalServerGroup.start(here.settings) }
        let text = refusal?.description ?? ""
        #expect(text.contains("\(here.path): in use by process \(getpid())") && text.contains("--data"), "\(text)")
        let other = try LocalServerGroup.start(there.settings)
        defer { other.stop() }
        #expect(other.brokers != one.brokers)
        #expect(try query("SELECT 1", one) == "1" && query("SELECT 1", other) == "1")
    }

    @Test func `a killed run leaves nothing that the next start cannot clean up`() async throws {
        let folder = try TemporaryFolder("killed")
        defer { folder.remove() }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let servers = try LocalServerGroup.start(LocalServerSettings(dataDirectory: path))
            #expect(try query("CREATE TABLE kept (i int); INSERT INTO kept VALUES (7)", servers) == "")
            kill(getpid(), SIGKILL)
            withExtendedLifetime(servers) {}
        }
        let recorded = try #require(try? String(contentsOfFile: path + "/children", encoding: .utf8))
        let children = recorded.split(separator: "\n").compactMap { RecordedChild(line: $0) }
        #expect(children.map(\.name) == ["postgres", "broker"])
        let again = try LocalServerGroup.start(folder.settings)
        defer { again.stop() }
        #expect(children.allSatisfy { !$0.isRunning })
        #expect(try query("SELECT i FROM kept", again) == "7")
    }

    @Test func `children that outlived their run are ended, strangers with their number are not`() throws {
        let place = try TemporaryFolder("orphans")
        defer { place.remove() }
        let folder = try DataFolder(place.path)
        let orphan = try Child("broker", ["sleep", "60"], user: nil, directory: "/", output: "/dev/null")
        let stranger = try Child("stranger", ["sleep", "60"], user: nil, directory: "/", output: "/dev/null")
        let mine = try #require(RecordedChild(orphan))
        let recycled = try #require(RecordedChild(stranger)).line.replacing(
            " \(try #require(ProcessTable.entry(stranger.pid)).startTicks) ", with: " 12 ")
        try folder.write("children", mine.line + "\n" + recycled + "\nhalf a li")
        try folder.endLeftovers { _ in }
        #expect(orphan.waitForExit(seconds: 60) == SIGTERM)
        #expect(stranger.exitStatus() == nil)
        #expect(folder.read("children") == nil)
        stranger.signal(SIGKILL)
        #expect(stranger.waitForExit(seconds: 60) == SIGKILL)
    }

    @Test func `a server that dies is reported`() throws {
        let folder = try TemporaryFolder("dies")
        defer { folder.remove() }
        let servers = try LocalServerGroup.start(folder.settings)
        defer { servers.stop() }
        let line = try #require(try? String(contentsOfFile: folder.path + "/children", encoding: .utf8))
        let broker = try #require(line.split(separator: "\n").compactMap { RecordedChild(line: $0) }.last)
        kill(broker.pid, SIGKILL)
        let deadline = Monotonic.now + 60
        while servers.failure() == nil, Monotonic.now < deadline { usleep(10_000) }
        #expect(servers.failure()?.contains("broker, process \(broker.pid), ended by itself") == true)
    }

    @Test(arguments: ["a folder with spaces", "quote's \"both\"", "comma,in,it", String(repeating: "long-", count: 40)])
    func `any folder name works`(_ name: String) throws {
        let folder = try TemporaryFolder(name)
        defer { folder.remove() }
        let servers = try LocalServerGroup.start(folder.settings)
        #expect(try query("SELECT 1", servers) == "1")
        servers.stop()
        let left = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        #expect(!left.contains("socket.location") && !left.contains("children"))
    }

    private func port(_ address: String) -> UInt16? { address.split(separator: ":").last.flatMap { UInt16($0) } }
}

/// What psql prints: rows without decoration, or its message.
func query(_ sql: String, _ servers: LocalServerGroup, as user: String = "drover_owner") throws -> String {
    let log = NSTemporaryDirectory() + "/drover-query-\(UInt32.random(in: 0...UInt32.max))"
    defer { unsafe unlink(log) }
    let psql = try findPostgres(nil, clusterVersion: nil) + "/psql"
    let command = [psql, "-X", "-q", "-A", "-t", "-d", servers.conninfo(user: user), "-c", sql]
    return try runTool(command, directory: "/", log: log, seconds: 20).output
}

enum Binaries {
    static let present = (try? findBroker(nil)) != nil && (try? findPostgres(nil, clusterVersion: nil)) != nil
}

/// A folder that the database's system user can reach, to be removed at the end of the test.
final class TemporaryFolder: Sendable {
    private let root: String
    let path: String

    init(_ name: String) throws {
        root = "/tmp/drover-test-\(UInt64.random(in: 0...UInt64.max))"
        path = root + "/" + name
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    /// Not left to deinit, which may come before the servers stop. Ignored: /tmp is nobody's archive.
    func remove() { try? FileManager.default.removeItem(atPath: root) }

    var settings: LocalServerSettings { LocalServerSettings(dataDirectory: path) }
}
