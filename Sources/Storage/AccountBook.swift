public import Postgres

/// Accounts as the operator keeps them, through the owner's login.
public enum AccountBook {
    public static let linkHours = 24

    /// With a link for its first password. False: there is one of that id or mail address.
    /// - Parameter mail: nil: whoever opens the link says it.
    public static func add(
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
    public static func link(_ account: String, _ link: [UInt8], on connection: Connection) throws -> Bool {
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
    public static func set(roles: [String], of account: String, on connection: Connection) throws -> Bool {
        try connection.query(
            "UPDATE drover.account SET roles = $2 WHERE account = $1", [.text(account), .textArray(roles)]
        ).rowsChanged == 1
    }

    /// Disabling ends sessions and links; enabling gives none of them back. False: there is no such account.
    public static func set(disabled: Bool, _ account: String, on connection: Connection) throws -> Bool {
        try connection.transaction {
            let isKnown =
                try connection.query(
                    """
                    UPDATE drover.account SET disabled_at = CASE WHEN $2 THEN coalesce(disabled_at, now()) END
                    WHERE account = $1
                    """, [.text(account), .bool(disabled)]
                ).rowsChanged == 1
            if disabled { try end(account, connection) }
            return isKnown
        }
    }

    /// Forgets who it was: mail address, names, password, sessions. The id stays, disabled: results name it.
    public static func erase(_ account: String, on connection: Connection) throws -> Bool {
        try connection.transaction {
            try connection.query(
                """
                DELETE FROM drover.account_try t USING drover.account a
                WHERE a.account = $1 AND t.mail = lower(a.mail)
                """, [.text(account)])
            try connection.query(
                "DELETE FROM drover.mail m USING drover.account a WHERE a.account = $1 AND lower(m.recipient) = lower(a.mail)",
                [.text(account)])
            try end(account, connection)
            // Those that come with Drover are there for the next one.
            try connection.query(
                """
                WITH taken AS (
                    UPDATE drover.report_schedule SET account = NULL, is_enabled = false, mail_to = '{}', next_due_at = NULL
                    WHERE account = $1 AND shipped IS NOT NULL RETURNING schedule_id)
                DELETE FROM drover.report_run WHERE schedule_id IN (SELECT schedule_id FROM taken)
                """, [.text(account)])
            // What it is told by, and reports that it had made: their runs go with them.
            for table in [
                "account_identity", "person_account", "push_subscription", "notice_setting", "notice_step",
                "report_schedule",
            ] {
                try connection.query("DELETE FROM drover.\(table) WHERE account = $1", [.text(account)])
            }
            try connection.query("DELETE FROM drover.notice_step WHERE colleague = $1", [.text(account)])
            try connection.query(
                "UPDATE drover.report_schedule SET mail_to = array_remove(mail_to, $1) WHERE $1 = ANY (mail_to)",
                [.text(account)])
            try connection.query(
                "UPDATE drover.notice_message SET payload = NULL, link = NULL WHERE account = $1", [.text(account)])
            return try connection.query(
                """
                UPDATE drover.account SET mail = NULL, first_name = '', last_name = '', roles = '{}', password = NULL,
                    salt = NULL, memory_kib = NULL, passes = NULL, disabled_at = coalesce(disabled_at, now())
                WHERE account = $1
                """, [.text(account)]
            ).rowsChanged == 1
        }
    }

    public static func isThere(_ account: String, on connection: Connection) throws -> Bool {
        try !connection.query("SELECT FROM drover.account WHERE account = $1", [.text(account)]).isEmpty
    }

    /// Whether somebody can log in who may give others their roles, or has a link to.
    public static func hasAdministrator(on connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT FROM drover.account a
                WHERE 'administrator' = ANY (a.roles) AND a.disabled_at IS NULL AND a.password IS NOT NULL)
            """)[0].bool(0)!
    }

    private static func end(_ account: String, _ connection: Connection) throws {
        try connection.query("DELETE FROM drover.account_session WHERE account = $1", [.text(account)])
        try connection.query("DELETE FROM drover.account_link WHERE account = $1", [.text(account)])
        try connection.query("DELETE FROM drover.account_device WHERE account = $1", [.text(account)])
        _ = try PersonLogin.end(account, on: connection)
    }
}
