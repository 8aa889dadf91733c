import App
import Bench
import Foundation
import LocalServers
import Telemetry
import Threads

extension BenchEnvironment {
    /// The environment of benches, as this command wires it.
    init(_ arguments: Arguments) {
        self.init(
            servers: { brokers, body in try BenchEnvironment.withServers(arguments, brokers: brokers, body) },
            note: { Out.note($0) },
            beside: { name, body in
                let role = WorkerThread(name, body)
                return { role.stop() }
            },
            progress: { total in
                let progress = Progress("records", total: total)
                return { index in if let index { progress.step(index) } else { progress.end() } }
            },
            read: { try Files.read($0) }, readyQueries: { try Home.readyQueries() }, home: { try Home.directory() })
    }

    /// Servers of a bench's own in a temporary folder, with tables and rights, which end with it.
    private static func withServers(
        _ arguments: Arguments, brokers: String?, _ body: (BenchServers) throws -> [Figure]
    ) throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "drover-bench-\(getpid())").path
        // A leftover in the temporary folder hurts nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let embedded = try LocalServerGroup.start(LocalServerSettings(dataDirectory: folder, log: { Out.note($0) }))
        defer { embedded.stop() }
        let settings = try SettingsSource.load(
            arguments,
            overrides: [
                "postgres.url": embedded.conninfo(user: "drover_worker"),
                "postgres.relay_url": embedded.conninfo(user: "drover_notify"),
            ].merging(SettingsSource.ownBroker(brokers ?? embedded.brokers)) { $1 })
        _ = try Command.migrate(embedded.conninfo(user: "drover_owner"))
        try embedded.grantRoles()
        let log = Log(level: .warning)
        return try body(
            BenchServers(
                folder: folder, conninfo: { embedded.conninfo(user: $0) },
                kafka: try settings.kafka(clientID: "drover-bench"), shape: settings.topicShape,
                worker: { try ServiceRoles.worker(settings, instanceID: "bench", log: log, metrics: $0) },
                relay: { try ServiceRoles.relay(settings, log: log) }))
    }
}
