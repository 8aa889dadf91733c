package import Fleet
package import Postgres

/// The rows that an account sees: row-level security (the policies in Queries/schema.sql).
package enum RowSecurity {
    /// For the rest of the transaction the connection reads what `account` sees, and has no other rights than a page.
    /// Precondition: the connection is in a transaction.
    package static func apply(_ account: String, on connection: Connection) throws {
        try connection.execute("SET LOCAL ROLE drover_page")
        try connection.query("SELECT set_config('drover.account', $1, true)", [.text(account)])
    }

    /// The same for as long as the connection lasts: for one that is this account's alone.
    package static func keep(_ account: String, on connection: Connection) throws {
        try connection.execute("SET ROLE drover_page")
        try connection.query("SELECT set_config('drover.account', $1, false)", [.text(account)])
    }

    /// What the account is that the connection reads as.
    /// Precondition: `apply` in this transaction, or `keep`.
    package static func roles(on connection: Connection) throws -> Set<Role> {
        Set(try connection.query("SELECT drover.sight_roles() AS roles", []).first?.words("roles") ?? [])
    }
}
