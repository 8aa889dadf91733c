internal import Glibc
internal import Synchronization

/// A PostgreSQL server and a small broker of this process's own, for trying and developing: the same protocols, topics
/// and SQL as in production, on the loopback and a private socket. PostgreSQL is as durable as ever; the broker loses
/// what it acknowledged in its last second when it is killed.
///
/// The servers end with this process, however it ends. Methods may be called from any thread.
package final class LocalServerGroup: Sendable {
    private let folder: DataFolder
    private let broker: BrokerServer
    private let postgres: PostgresServer
    private let log: @Sendable (String) -> Void
    private let stopped = Mutex(false)

    private init(
        folder: DataFolder, broker: BrokerServer, postgres: PostgresServer, log: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.broker = broker
        self.postgres = postgres
        self.log = log
    }

    deinit { stop() }

    /// Takes the data folder, ends what an earlier run left in it, and returns when both servers answer and the
    /// database `drover` with its logins is there. Throws `LocalServerError`; nothing is left running then.
    package static func start(_ settings: LocalServerSettings) throws -> LocalServerGroup {
        let log = settings.log
        let folder = try DataFolder(settings.dataDirectory)
        try folder.endLeftovers(log: log)
        let brokerBinary = try findBroker(settings.brokerBinary)
        let places = try PostgresPlaces(folder, log: log)
        let binaries = try findPostgres(settings.postgresBinDirectory, clusterVersion: places.versionOfCluster)

        let postgres = try PostgresServer(folder: folder, places: places, binaries: binaries, log: log)
        do {
            try folder.record([postgres.child])
            let broker = try BrokerServer.start(folder: folder, binary: brokerBinary, log: log)
            let servers = LocalServerGroup(folder: folder, broker: broker, postgres: postgres, log: log)
            // From here on deinit stops both when something throws.
            try folder.record([postgres.child, broker.child])
            try postgres.waitUntilReady(seconds: 60)
            try postgres.execute(DatabaseSetup.create, database: "postgres")
            log("PostgreSQL in \(places.cluster) and the broker on \(broker.address) are up")
            return servers
        } catch {
            Self.end(postgres.child, seconds: 30, log: log)
            throw error
        }
    }

    /// The broker's address as librdkafka's `bootstrap.servers` takes it.
    package var brokers: String { broker.address }

    /// How libpq connects as `user`: drover_owner (migrations), drover_worker, drover_web, drover_notify, drover_poller
    /// (gateway), or postgres (superuser).
    package func conninfo(user: String, database: String = "drover") -> String {
        postgres.conninfo(user: user, database: database)
    }

    /// Gives each login the rights of its role. To be called after the migrations, which make these rights.
    package func grantRoles() throws {
        try postgres.execute(DatabaseSetup.grant, database: DatabaseSetup.database)
    }

    /// A sentence when one of the servers ended by itself, nil while both run. Cheap: ask once a second.
    package func failure() -> String? {
        for child in [postgres.child, broker.child] where child.exitStatus() != nil {
            return "\(child.name), process \(child.pid), ended by itself; see \(folder.file(child.name + ".log"))"
        }
        return nil
    }

    /// Stops both, waits, and gives the data folder free: at most 50 s, usually well under one. May be called twice.
    package func stop() {
        let first = stopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard first else { return }
        // Both are asked before either is waited for: the broker's saving and the database's checkpoint overlap.
        for child in [broker.child, postgres.child] { child.signal(child.stopSignal) }
        Self.end(broker.child, seconds: BrokerServer.stopSeconds, log: log)
        Self.end(postgres.child, seconds: 30, log: log)
        postgres.removeSocketFolder()
        folder.remove("children")
        folder.release()
    }

    private static func end(_ child: Child, seconds: Double, log: (String) -> Void) {
        guard child.exitStatus() == nil else { return }
        child.signal(child.stopSignal)
        if child.waitForExit(seconds: seconds) != nil { return }
        log("\(child.name), process \(child.pid), did not stop in \(Int(seconds)) s: killing it")
        child.signal(SIGKILL)
        _ = child.waitForExit(seconds: 5)
    }
}
