package import Alerts
package import Postgres

/// An account's settings as they stand in the database.
package enum AccountStore {
    /// Whether somebody is called so: an account, or who was given a token.
    package static func isAccount(_ name: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.is_account($1)", [.text(name)]).first?.bool(0) ?? false
    }

    /// The latest; nil: it has said nothing. All partitions have the same, one of them first.
    package static func settings(
        of account: String, on connection: Connection
    ) throws -> (settings: DriverSettings, inForceMs: Int64)? {
        try connection.query(
            """
            SELECT settings, in_force_at FROM drover.account_settings WHERE account = $1
            ORDER BY in_force_at DESC, record_id COLLATE "C" DESC LIMIT 1
            """, [.text(account)]
        ).first.map { try read($0, unreadable: .standard) }
    }

    /// Settings of the installation, for cars that no account answers for; nil: nothing was ever set, or the reader may not know.
    package static func installation(
        on connection: Connection
    ) throws -> (settings: DriverSettings, inForceMs: Int64)? {
        try connection.query("SELECT settings, in_force_at FROM drover.installation_settings()").first.map {
            try read($0, unreadable: .off)
        }
    }

    /// As `DriverContextStore` and `InstallationLimitsStore` do.
    private static func read(
        _ row: Row, unreadable: DriverSettings
    ) throws -> (settings: DriverSettings, inForceMs: Int64) {
        let settings = (try? DriverSettings(text: try row.text("settings")!)) ?? unreadable
        return (settings, try row.timestampMs("in_force_at")!)
    }
}
