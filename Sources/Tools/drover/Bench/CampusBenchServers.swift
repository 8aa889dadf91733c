import App
import Bench
import Delivery
import Foundation
import Ingest
import LocalServers
import Postgres
import Settings
import Telemetry
import Threads
import Web
import Worker

/// A worker, a relay and the server of apps, for `drover bench campus`.
enum CampusBenchServers {
    typealias Body = (_ uploads: UploadSender, _ owner: Connection, _ address: String, _ folder: String) throws ->
        [Figure]

    static func with(_ arguments: Arguments, _ body: Body) throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "drover-campus-\(getpid())").path
        // A leftover in the temporary folder hurts nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let embedded = try LocalServerGroup.start(LocalServerSettings(dataDirectory: folder, log: { Out.note($0) }))
        defer { embedded.stop() }
        try CampusBench.makeCertificates(folder)
        let settings = try settings(arguments, embedded, folder)
        _ = try Command.migrate(embedded.conninfo(user: "drover_owner"))
        try embedded.grantRoles()
        let log = Log(level: .warning)
        let worker = try ServiceRoles.worker(settings, instanceID: "bench", log: log)
        let working = WorkerThread("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { working.stop() }
        let relay = try ServiceRoles.relay(settings, log: log)
        let relaying = WorkerThread("relay") { shouldStop in relay.run(shouldStop: shouldStop) }
        defer { relaying.stop() }
        return try apps(settings, log) { uploads, address in
            let owner = try Connection(conninfo: embedded.conninfo(user: "postgres"))
            return try body(uploads, owner, address, folder)
        }
    }

    private static func settings(
        _ arguments: Arguments, _ embedded: LocalServerGroup, _ folder: String
    ) throws -> Settings {
        try SettingsSource.load(
            arguments,
            overrides: [
                "postgres.url": embedded.conninfo(user: "drover_worker"),
                "postgres.reader_url": embedded.conninfo(user: "drover_web"),
                "postgres.relay_url": embedded.conninfo(user: "drover_notify"), "apps.port": "0",
                "apps.certificate": folder + "/server.pem", "apps.key": folder + "/server.key",
                "apps.client_authority": folder + "/app.pem",
            ].merging(SettingsSource.ownBroker(embedded.brokers)) { $1 })
    }

    private static func apps(
        _ settings: Settings, _ log: Log, _ body: (UploadSender, _ address: String) throws -> [Figure]
    ) throws -> [Figure] {
        let uploads = UploadSender(
            try ServiceRoles.kafka(settings, clientID: "drover-bench", log: log),
            shape: settings.topicShape, metrics: Metrics(), log: log)
        defer { uploads.stop() }
        let campuses = try AppsRole.campuses(
            settings, queries: Home.reportQueries(), uploads: uploads,
            access: AccessControl(conninfo: "", isSecure: false, log: log), log: log)
        defer { campuses.stop() }
        guard let apps = try AppsRole(settings, site: campuses, assets: Home.assets(), log: log) else {
            preconditionFailure("apps.port is set")
        }
        defer { apps.stop() }
        return try ServiceRoles.withTicks(settings, of: "work", log: log) { _ in try body(uploads, apps.address) }
    }
}
