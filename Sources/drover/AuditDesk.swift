import Postgres
import Settings
import Storage

extension Command {
    /// The owner's connection, for tables that nobody else may read or write. What changes there stands in the audit log, by who
    /// types the command.
    static func asOwner(_ arguments: Arguments) throws -> (settings: Settings, connection: Connection) {
        let settings = try SettingsSource.load(arguments)
        let connection = try Connection(conninfo: settings.ownerConninfo)
        try AuditLog.sign(ActionPush.login, on: connection)
        return (settings, connection)
    }
}

/// Entries of commands.
enum AuditDesk {
    /// Through the login that commands write with.
    /// - Parameter name: who says it; nil: whoever is at the terminal.
    static func note(
        _ action: AuditAction, _ arguments: Arguments, by name: String? = nil, about subject: String? = nil,
        _ detail: AuditLog.Detail
    ) throws {
        try note(action, SettingsSource.load(arguments).text("postgres.url"), by: name, about: subject, detail)
    }

    /// What somebody takes away who has a login of the database. One that may only read leaves no entry: nor do statements of its own.
    static func noteTaken(
        _ action: AuditAction, about subject: String? = nil, _ detail: AuditLog.Detail, on connection: Connection
    ) throws {
        let said = detail.filter { !$0.1.isEmpty }
        do {
            try AuditLog.record(action, by: ActionPush.login, about: subject, said, on: connection)
        } catch let error as PostgresError where error.sqlState == PostgresError.noRight {}
    }

    private static func note(
        _ action: AuditAction, _ conninfo: String, by name: String? = nil, about subject: String? = nil,
        _ detail: AuditLog.Detail
    ) throws {
        let said = detail.filter { !$0.1.isEmpty }
        try AuditLog.record(
            action, by: name ?? ActionPush.login, about: subject, said, on: Connection(conninfo: conninfo))
    }
}
