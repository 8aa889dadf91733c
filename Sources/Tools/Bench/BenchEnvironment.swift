package import Delivery
package import Ingest
package import Kafka
package import Reports
package import Telemetry
package import Worker

/// The things that a bench needs of the command that runs it: servers, roles as the command wires them, files, and a place for its notes.
package struct BenchEnvironment: Sendable {
    package typealias Figures = [Figure]

    /// Servers with tables and rights, which end with the body; nil: the embedded broker.
    package let servers: @Sendable (_ brokers: String?, _ body: (BenchServers) throws -> Figures) throws -> Figures
    package let note: @Sendable (String) -> Void
    /// Runs a role on a thread of its own, until what is given back is called.
    package let beside: @Sendable (_ name: String, _ body: @escaping (_ shouldStop: () -> Bool) -> Void) -> () -> Void
    /// Counts up on a terminal: called with how far it is, and with nil when it is done.
    package let progress: @Sendable (_ total: Int) -> (Int?) -> Void
    /// A whole file.
    package let read: @Sendable (_ path: String) throws -> [UInt8]
    package let readyQueries: @Sendable () throws -> [ReadyQuery]
    /// The folder that holds Queries, Deploy and Tests.
    package let home: @Sendable () throws -> String

    package init(
        servers: @escaping @Sendable (_ brokers: String?, _ body: (BenchServers) throws -> Figures) throws -> Figures,
        note: @escaping @Sendable (String) -> Void,
        beside:
            @escaping @Sendable (_ name: String, _ body: @escaping (_ shouldStop: () -> Bool) -> Void) -> () -> Void,
        progress: @escaping @Sendable (_ total: Int) -> (Int?) -> Void,
        read: @escaping @Sendable (_ path: String) throws -> [UInt8],
        readyQueries: @escaping @Sendable () throws -> [ReadyQuery], home: @escaping @Sendable () throws -> String
    ) {
        self.servers = servers
        self.note = note
        self.beside = beside
        self.progress = progress
        self.read = read
        self.readyQueries = readyQueries
        self.home = home
    }
}

extension BenchEnvironment {
    /// A statement of `Queries/bench`, by its name.
    func query(_ name: String) throws -> String {
        String(decoding: try read(home() + "/Queries/bench/\(name).sql"), as: UTF8.self)
    }
}

/// Servers of a bench's own, and the roles on them.
package struct BenchServers {
    package let folder: String
    /// The connection string of a login.
    package let conninfo: (_ user: String) -> String
    package let kafka: KafkaSettings
    package let shape: TopicShape
    package let worker: (Metrics) throws -> Worker
    package let relay: () throws -> OutboxRelay

    package init(
        folder: String, conninfo: @escaping (_ user: String) -> String, kafka: KafkaSettings, shape: TopicShape,
        worker: @escaping (Metrics) throws -> Worker, relay: @escaping () throws -> OutboxRelay
    ) {
        self.folder = folder
        self.conninfo = conninfo
        self.kafka = kafka
        self.shape = shape
        self.worker = worker
        self.relay = relay
    }
}

/// It could not be measured, and this says why and what to do.
package struct BenchFailure: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
