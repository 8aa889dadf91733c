import App
import Postgres
import Settings
import Storage

extension Command {
    /// The owner's connection, for tables that nobody else may read or write. What changes there stands in the audit log, by who
    /// types the command.
    static func asOwner(_ arguments: Arguments) throws -> (settings: Settings, connection: Connection) {
        let settings = try SettingsSource.load(arguments)
        let connection = try Connection(conninfo: settings.ownerConninfo)
        try AuditLog.sign(Terminal.login, on: connection)
        return (settings, connection)
    }
}

/// Entries of commands.
enum CommandAudit {
    /// Before what is done, through the login that commands write with.
    static func note(
        _ action: AuditAction, _ arguments: Arguments, about subject: String? = nil, _ detail: AuditLog.Detail
    ) throws {
        try deed(action, about: subject, detail).tell(on: connection(arguments))
    }

    /// Runs what writes on the log, with its entry before it.
    /// - Parameter name: who says it; nil: whoever is at the terminal.
    static func run<R>(
        _ action: AuditAction, _ arguments: Arguments, by name: String? = nil, _ detail: AuditLog.Detail,
        _ body: () throws -> R
    ) throws -> R {
        try deed(action, by: name, detail).run(on: connection(arguments), body)
    }

    /// Notes data that somebody with a login of the database takes away. One that may only read leaves no entry: nor do statements of its own.
    static func noteTaken(
        _ action: AuditAction, about subject: String? = nil, _ detail: AuditLog.Detail, on connection: Connection
    ) throws {
        do {
            try deed(action, about: subject, detail).tell(on: connection)
        } catch let error as PostgresError where error.sqlState == PostgresError.noRight {}
    }

    private static func deed(
        _ action: AuditAction, by name: String? = nil, about subject: String? = nil, _ detail: AuditLog.Detail
    ) -> AuditedOperation {
        AuditedOperation(action, by: name ?? Terminal.login, about: subject, detail.filter { !$0.1.isEmpty })
    }

    private static func connection(_ arguments: Arguments) throws -> Connection {
        try Connection(conninfo: SettingsSource.load(arguments).text("postgres.url"))
    }
}
