internal import Ingest
internal import Kafka
internal import Postgres
package import Settings
internal import Storage
internal import Synchronization
package import Telemetry
internal import Threads

/// How this process is, and what it needs of others, wired from settings.
package enum HealthRole {
    package static let shared = Health()

    private static let connectS = 3
    private static let brokerMs: Int32 = 3_000
    private static let isTogether = Atomic(false)

    /// The process has several roles: each has checks of its own, and it is ready when all are.
    static func together(_ roles: Int) {
        shared.setParts(roles)
        isTogether.store(true, ordering: .releasing)
    }

    /// A check's name: the role's stands before it where there are several.
    private static func name(_ check: String, of role: ServiceRole?) -> String {
        guard let role, isTogether.load(ordering: .acquiring) else { return check }
        return "\(role)-\(check)"
    }

    /// From now on it is asked, whenever somebody wants to know, whether the database and the broker are there.
    /// - Parameters:
    ///   - role: who needs them; nil: all of this process.
    ///   - database: connection string of the role.
    ///   - logins: others that it needs; those that are not set, or are the role's own, are not asked.
    ///   - needsBroker: false: without it the role does its work, in part or for a while.
    package static func watch(
        _ settings: Settings, of role: ServiceRole? = nil, database: String, logins: [DatabaseLoginSetting] = [],
        needsBroker: Bool = true
    ) throws {
        shared.setStuck(ms: settings.integer("health.stuck_s") * 1_000)
        let known = Set(try Home.migrations().map(\.number))
        let postgres = BackgroundProbe("ask-database") {
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
        shared.check(name("database", of: role)) { postgres.finding() }
        let others = logins.map { (setting: $0, conninfo: settings.text($0.key)) }
            .filter { !$0.conninfo.isEmpty && $0.conninfo != database }
        if !others.isEmpty {
            // One question for all of them: a prober does not wait for one after the other.
            let inquiry = BackgroundProbe("ask-logins") {
                let asked = DatabaseLoginProbe(others, connectS: connectS)
                return { try asked.ask() }
            }
            shared.check(name("logins", of: role)) { inquiry.finding() }
        }
        let kafka = try settings.kafka(clientID: "drover-health")
        let broker = BackgroundProbe("ask-broker") {
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
        shared.check(name("broker", of: role)) { needsBroker ? broker.finding() : broker.finding().bearable }
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
