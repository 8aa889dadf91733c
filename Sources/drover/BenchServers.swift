import Embedded
import Foundation
import Settings

/// Servers of a bench's own in a temporary folder, with tables and rights, which end with it.
struct BenchServers {
    let folder: String
    let embedded: EmbeddedServers
    let settings: Settings

    /// - Parameter brokers: another broker than the embedded one.
    static func with<R>(
        _ arguments: Arguments, brokers: String? = nil, _ body: (BenchServers) throws -> R
    ) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appending(path: "drover-bench-\(getpid())").path
        // A leftover in the temporary folder hurts nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let embedded = try EmbeddedServers.start(EmbeddedSettings(dataDirectory: folder, log: { Out.note($0) }))
        defer { embedded.stop() }
        let settings = try SettingsSource.load(
            arguments,
            overrides: [
                "postgres.url": embedded.conninfo(user: "drover_worker"),
                "postgres.relay_url": embedded.conninfo(user: "drover_notify"),
            ].merging(SettingsSource.ownBroker(brokers ?? embedded.brokers)) { $1 })
        _ = try Command.migrate(embedded.conninfo(user: "drover_owner"))
        try embedded.grantRoles()
        return try body(BenchServers(folder: folder, embedded: embedded, settings: settings))
    }
}
