import Clients
import Gateways
import Ingest
import Kafka
import Postgres
import Settings
import Storage
import Telemetry
import Threads

/// How this process is, and what it needs of others, wired from settings.
enum HealthRole {
    static let shared = Health()

    private static let connectS = 3
    private static let brokerMs: Int32 = 3_000

    /// From now on it is asked, whenever somebody wants to know, whether the database and the broker are there.
    /// - Parameters:
    ///   - database: connection string of the role.
    ///   - logins: others that it needs; those that are not set, or are the role's own, are not asked.
    ///   - needsBroker: false: without it the role does its work, in part or for a while.
    static func watch(
        _ settings: Settings, database: String, logins: [LoginSetting] = [], needsBroker: Bool = true
    ) throws {
        shared.setStuck(ms: settings.integer("health.stuck_s") * 1_000)
        let known = Set(try Home.migrations().map(\.number))
        let postgres = Inquiry("ask-database") {
            // Kept open: a probe is one round trip.
            var session: Connection?
            return {
                do {
                    let open =
                        try session
                        ?? Connection(
                            conninfo: database, connectTimeoutS: connectS, applicationName: "drover-health")
                    session = open
                    return try migration(on: open, known: known)
                } catch let error as PostgresError {
                    session = nil
                    throw Fault(description: error.advice ?? "PostgreSQL refuses: \(error.sqlState)")
                }
            }
        }
        shared.check("database") { postgres.finding() }
        let others = logins.map { (setting: $0, conninfo: settings.text($0.key)) }
            .filter { !$0.conninfo.isEmpty && $0.conninfo != database }
        if !others.isEmpty {
            // One question for all of them: a prober does not wait for one after the other.
            let inquiry = Inquiry("ask-logins") {
                let asked = LoginInquiry(others, connectS: connectS)
                return { try asked.ask() }
            }
            shared.check("logins") { inquiry.finding() }
        }
        let kafka = try settings.kafka(clientID: "drover-health")
        let broker = Inquiry("ask-broker") {
            var admin: Admin?
            return {
                do {
                    let open = try admin ?? Admin(kafka)
                    admin = open
                    let there = try open.topics(timeoutMs: brokerMs)
                    return
                        "\(Topics.readings.count { there[$0] != nil }) of \(Topics.readings.count) topics of readings"
                } catch let error as KafkaError {
                    throw Fault(description: error.message)
                }
            }
        }
        shared.check("broker") { needsBroker ? broker.finding() : broker.finding().bearable }
    }

    /// A database that is ahead is a newer program's, made so that this one goes on.
    private static func migration(on connection: Connection, known: Set<Int>) throws -> String {
        let there = try Migrator.applied(on: connection)
        let missing = known.subtracting(there).sorted()
        guard missing.isEmpty else {
            throw Fault(description: "lacks \(Migrator.numbers(missing)), which this program needs: drover migrate")
        }
        return "migration \(there.max() ?? 0)"
    }

    /// In words of ours: a server's own may name what is nobody's business.
    private struct Fault: Error, CustomStringConvertible { let description: String }
}

extension Command {
    static let health = Command(
        name: "health", operands: "[options]",
        summary:
            "Asks the process on this machine whose metrics.port is set whether it lives, or is ready; for containers.",
        options: [.init("--ready", nil, "whether it can do its work now, and not only whether its loops turn")]
            + SettingsSource.options,
        example: "drover health --ready --set metrics.port=9501",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let port = settings.integer("metrics.port")
            guard port > 0 else { throw Failure("metrics.port is 0: the process says nothing of itself. Set it") }
            var limits = HTTPSClient.Limits()
            limits.connectMs = 2_000
            limits.totalMs = 5_000
            limits.bodyBytesMax = 100_000
            let path = arguments.has("--ready") ? "readyz" : "livez"
            let reply = try HTTPSClient(limits: limits, isPlainAllowed: true)
                .ask("http://\(host(settings.text("metrics.host"))):\(port)/\(path)")
            Out.result(String(decoding: reply.body, as: UTF8.self))
            return reply.status == 200 ? .done : .failed
        })

    /// Who listens on all addresses is asked on the loopback.
    private static func host(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}
