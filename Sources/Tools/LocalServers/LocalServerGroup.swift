internal import Glibc
internal import Synchronization

/// A PostgreSQL server and a broker of this process's own, for trying and developing: the same protocols, topics and SQL
/// as in production, on the loopback and a private socket. PostgreSQL is as durable as ever, and so is Apache Kafka; the
/// embedded broker loses what it acknowledged in its last second when it is killed.
///
/// The servers end with this process, however it ends. Methods may be called from any thread.
package final class LocalServerGroup: Sendable {
    private let folder: DataFolder
    let broker: any LocalBroker
    private let postgres: PostgresServer
    private let log: @Sendable (String) -> Void
    private let stopped = Mutex(false)

    private init(
        folder: DataFolder, broker: any LocalBroker, postgres: PostgresServer, log: @escaping @Sendable (String) -> Void
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
        // Found before anything is started for nothing.
        let begin = try beginning(settings, folder)
        let places = try PostgresPlaces(folder, log: log)
        let binaries = try findPostgres(settings.postgresBinDirectory, clusterVersion: places.versionOfCluster)

        let postgres = try PostgresServer(folder: folder, places: places, binaries: binaries, log: log)
        do {
            try folder.record([postgres.child])
            let broker = try begin()
            let servers = LocalServerGroup(folder: folder, broker: broker, postgres: postgres, log: log)
            // From here on deinit stops both when something throws.
            try folder.record([postgres.child] + broker.children)
            try folder.keep(settings.broker)
            try postgres.waitUntilReady(seconds: 60)
            try postgres.execute(DatabaseSetup.create, database: "postgres")
            log("PostgreSQL in \(places.cluster) and the broker on \(broker.address) are up")
            return servers
        } catch {
            Self.end(postgres.child, seconds: 30, log: log)
            throw error
        }
    }

    /// How the broker that was chosen is started.
    private static func beginning(
        _ settings: LocalServerSettings, _ folder: DataFolder
    ) throws -> () throws -> any LocalBroker {
        try folder.refuse(otherThan: settings.broker)
        switch settings.broker {
        case .embedded:
            let binary = try findBroker(settings.brokerBinary)
            return { try BrokerServer.start(folder: folder, binary: binary, log: settings.log) }
        case .kafka(let nodes, let isSecure):
            _ = try KafkaInstallation.find()
            return { try KafkaServer.start(folder: folder, nodes: nodes, isSecure: isSecure, log: settings.log) }
        }
    }

    /// Settings of Drover by which the broker is reached.
    package var brokerSettings: [String: String] { broker.settings.merging(["kafka.brokers": brokers]) { $1 } }

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
        do {
            if try broker.mend(log: log) { try folder.record([postgres.child] + broker.children) }
        } catch { return "the broker cannot be started again: \(error)" }
        guard let child = postgres.child.exitStatus() == nil ? broker.ended : postgres.child else { return nil }
        return "\(child.name), process \(child.pid), ended by itself; see \(folder.file(child.name + ".log"))"
    }

    /// Stops both, waits, and gives the data folder free: at most a minute and a half, usually in a second; three
    /// nodes of Kafka take as long as the slowest. May be called twice.
    package func stop() {
        let first = stopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard first else { return }
        // Both are asked before either is waited for: the broker's saving and the database's checkpoint overlap.
        for child in broker.children + [postgres.child] { child.signal(child.stopSignal) }
        let deadline = Monotonic.now + broker.stopSeconds
        for child in broker.children { Self.end(child, seconds: max(0, deadline - Monotonic.now), log: log) }
        Self.end(postgres.child, seconds: 30, log: log)
        postgres.removeSocketFolder()
        folder.remove("children")
        folder.release()
    }

    private static func end(_ child: Child, seconds: Double, log: (String) -> Void) {
        guard child.exitStatus() == nil else { return }
        child.signal(child.stopSignal)
        if child.waitForExit(seconds: seconds) != nil { return }
        log("\(child.name), process \(child.pid), did not stop in time: killing it")
        child.signal(SIGKILL)
        _ = child.waitForExit(seconds: 5)
    }
}
