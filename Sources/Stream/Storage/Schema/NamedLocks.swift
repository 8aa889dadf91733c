package import Postgres

/// Locks for work that one may do at a time, on rows of a table that none but our own logins reach
/// (`drover.turn`). Until the end of the transaction. An advisory lock would be anybody's who may log in.
package enum NamedLocks {
    package enum Name: String {
        case accountEvents = "drover.alert_event"
        case codeRequests = "drover.code_request"
        case notices = "drover.notice"
        case progress = "drover.partition_progress"
        case rules = "drover.rules"
        case taxonomy = "drover.taxonomy"
        case thresholds = "drover.thresholds"
        case tripRules = "drover.trip_rules"
    }

    package static func acquire(_ name: Name, on connection: Connection) throws {
        try connection.query("SELECT drover.take_turns($1)", [.textArray([name.rawValue])])
    }

    /// One for each, in one order everywhere: two transactions must not wait for each other.
    package static func acquire(_ name: Name, ofEach keys: [String], on connection: Connection) throws {
        try connection.query("SELECT drover.take_turns($1)", [.textArray(keys.map { "\(name.rawValue) \($0)" })])
    }

    /// Beside others who share it, and nobody who takes it.
    package static func share(_ name: Name, on connection: Connection) throws {
        try connection.query("SELECT drover.share_turn($1)", [.text(name.rawValue)])
    }

    /// False: somebody else has it.
    package static func tryAcquire(_ name: Name, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.try_turn($1)", [.text(name.rawValue)])[0].bool(0)!
    }
}
