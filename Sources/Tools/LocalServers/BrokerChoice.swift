/// Which broker stands beside the database.
package enum BrokerChoice: Equatable, Sendable, CustomStringConvertible {
    /// noida-db: small, quick to start, speaks Kafka's protocol.
    case embedded
    /// Apache Kafka, one node or three; with TLS and log-ins, or without.
    case kafka(nodes: Int, isSecure: Bool)

    /// - Parameter name: `embedded` or `kafka`; nil: nobody says.
    package init(_ name: String?, nodes: Int, isSecure: Bool) throws {
        switch name ?? "embedded" {
        case "embedded":
            guard nodes == 1, !isSecure else {
                throw LocalServerError("--nodes and --secure are for Apache Kafka: add --broker kafka")
            }
            self = .embedded
        case "kafka":
            guard nodes == 1 || nodes == 3 else {
                throw LocalServerError("--nodes \(nodes): one, or three, of which one may be away")
            }
            self = .kafka(nodes: nodes, isSecure: isSecure)
        case let other: throw LocalServerError("--broker \(other): unknown. It is embedded or kafka")
        }
    }

    /// As the command line has it.
    package var description: String {
        switch self {
        case .embedded: "--broker embedded"
        case .kafka(let nodes, let isSecure):
            "--broker kafka" + (nodes == 1 ? "" : " --nodes \(nodes)") + (isSecure ? " --secure" : "")
        }
    }
}

/// A broker of a data folder, while it runs.
protocol LocalBroker: AnyObject, Sendable {
    var children: [Child] { get }
    /// As librdkafka's `bootstrap.servers` takes it.
    var address: String { get }
    var stopSeconds: Double { get }
    /// Settings of Drover that belong to it, beside `kafka.brokers`.
    var settings: [String: String] { get }
    /// Starts again what may be started again. - Returns: whether it did.
    func mend(log: (String) -> Void) throws -> Bool
    /// The first process that ended and stays away; nil: all run.
    var ended: Child? { get }
}

extension LocalBroker {
    var settings: [String: String] { [:] }
    func mend(log: (String) -> Void) throws -> Bool { false }
    var ended: Child? { children.first { $0.exitStatus() != nil } }
}

extension DataFolder {
    private static let choice = "broker.choice"

    /// The topics of one broker are not another's.
    func refuse(otherThan wanted: BrokerChoice) throws {
        let made = read(DataFolder.choice) ?? (read("broker.port") == nil ? nil : "\(BrokerChoice.embedded)")
        guard let made, made != "\(wanted)" else { return }
        throw LocalServerError(
            "\(path): was made with \(made), and its topics are there. Start it like that, or choose another folder with --data."
        )
    }

    /// Once that broker has started: one that could not binds nobody.
    func keep(_ choice: BrokerChoice) throws { try write(DataFolder.choice, "\(choice)") }
}
