package import Postgres

/// Accounts as the operator keeps them, through the owner's login.
package enum OperatorAccountStore {
    package static let linkHours = 24

    /// With a link for its first password. False: there is one of that id or mail address.
    /// - Parameter mail: nil: whoever opens the link says it.
    package static func add(
        _ account: String, mail: String?, roles: [String], link: [UInt8], on connection: Connection
    ) throws -> Bool {
        try connection.transaction {
            let isAdded =
                try connection.query(
                    """
                    INSERT INTO drover.account (account, mail, roles) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
                    """, [.text(account), .text(mail), .textArray(roles)]
                ).rowsChanged == 1
            return try isAdded && self.link(account, link, on: connection)
        }
    }

    /// A link for a new password, in place of those from before. False: no such account, or a disabled one.
    package static func link(_ account: String, _ link: [UInt8], on connection: Connection) throws -> Bool {
        try connection.query("DELETE FROM drover.account_link WHERE account = $1", [.text(account)])
        return try connection.query(
            """
            INSERT INTO drover.account_link (digest, account, purpose, expires_at)
            SELECT $2, a.account, 'password', now() + make_interval(hours => $3)
            FROM drover.account a WHERE a.account = $1 AND a.disabled_at IS NULL
            """, [.text(account), .bytes(link), .int4(Int32(linkHours))]
        ).rowsChanged == 1
    }

    /// False: there is no such account.
    package static func set(roles: [String], of account: String, on connection: Connection) throws -> Bool {
        try connection.query(
            "UPDATE drover.account SET roles = $2 WHERE account = $1", [.text(account), .textArray(roles)]
        ).rowsChanged == 1
    }

    /// Disabling ends whatever the account came in by, and what is on its way to it: `drover.end_doors`, which
    /// pages call, too. Enabling gives none of it back. False: there is no such account.
    package static func set(disabled: Bool, _ account: String, on connection: Connection) throws -> Bool {
        try ends(disabled ? "disable_account" : "enable_account", account, connection)
    }

    /// Forgets who it was: mail address, names, password, sessions. The id stays, disabled: results name it.
    package static func erase(_ account: String, on connection: Connection) throws -> Bool {
        try ends("erase_account", account, connection)
    }

    package static func isThere(_ account: String, on connection: Connection) throws -> Bool {
        try !connection.query("SELECT FROM drover.account WHERE account = $1", [.text(account)]).isEmpty
    }

    /// Whether somebody can log in who may give others their roles, or has a link to.
    package static func hasAdministrator(on connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT FROM drover.account a
                WHERE 'administrator' = ANY (a.roles) AND a.disabled_at IS NULL AND a.password IS NOT NULL)
            """)[0].bool(0)!
    }

    private static func ends(_ function: String, _ account: String, _ connection: Connection) throws -> Bool {
        let isKnown = try connection.query("SELECT drover.\(function)($1)", [.text(account)])[0].bool(0)!
        try DatabaseLogin.endLost(on: connection)
        return isKnown
    }
}
