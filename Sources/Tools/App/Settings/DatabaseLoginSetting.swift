package import Postgres
internal import Storage

/// A connection string of one kind of work, and the role that its login is to have.
package struct DatabaseLoginSetting: Sendable {
    package let key: String
    package let role: String

    private init(_ key: String, _ role: String) { (self.key, self.role) = (key, role) }

    package static let reader = DatabaseLoginSetting("postgres.reader_url", "drover_reader")
    package static let page = DatabaseLoginSetting("postgres.page_url", "drover_page")
    package static let query = DatabaseLoginSetting("postgres.query_url", "drover_query")
    package static let relay = DatabaseLoginSetting("postgres.relay_url", "drover_relay")
    package static let gateway = DatabaseLoginSetting("postgres.gateway_url", "drover_gateway")
    package static let survey = DatabaseLoginSetting("postgres.survey_url", "drover_survey")
    package static let debug = DatabaseLoginSetting("postgres.debug_url", "drover_debug")
    package static let all = [reader, page, query, relay, gateway, survey, debug]

    /// The user of the session, and whether its login has the role.
    package func look(on connection: Connection) throws -> (user: String, isMember: Bool) {
        let found = try DatabaseLoginQueries.membership(of: role, on: connection)
        return (found.user, found.isMember)
    }
}

/// Logins that a process needs beside that of its own role, asked one after the other over sessions that stay open.
final class DatabaseLoginProbe {
    private let logins: [(setting: DatabaseLoginSetting, conninfo: String)]
    private let connectS: Int
    private var sessions: [String: Connection] = [:]

    init(_ logins: [(setting: DatabaseLoginSetting, conninfo: String)], connectS: Int) {
        self.logins = logins
        self.connectS = connectS
    }

    /// The settings, or what is wrong with each that is. Neither says a login's name: probers are not logged in.
    package func ask() throws -> String {
        let faults = logins.compactMap { login in fault(login.setting, login.conninfo) }
        guard faults.isEmpty else { throw Failure(faults.joined(separator: "; ")) }
        return logins.map(\.setting.key).joined(separator: ", ")
    }

    private func fault(_ setting: DatabaseLoginSetting, _ conninfo: String) -> String? {
        do {
            let open =
                try sessions[setting.key]
                ?? Connection(conninfo: conninfo, connectTimeoutS: connectS, applicationName: "drover-health")
            sessions[setting.key] = open
            return try setting.look(on: open).isMember ? nil : "\(setting.key): its login is not in \(setting.role)"
        } catch {
            sessions[setting.key] = nil
            let refusal = error as? PostgresError
            return "\(setting.key): "
                + (refusal?.advice ?? "PostgreSQL refuses: \(refusal?.sqlState ?? "no reason given")")
        }
    }
}
