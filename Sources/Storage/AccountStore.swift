public import Alerts
public import Postgres

/// An account's settings as they stand in the database.
public enum AccountStore {
    /// The latest; nil: it has said nothing. All partitions have the same, one of them first.
    public static func settings(
        of account: String, on connection: Connection
    ) throws -> (settings: DriverSettings, inForceMs: Int64)? {
        try connection.query(
            """
            SELECT settings, in_force_at FROM drover.account_settings WHERE account = $1
            ORDER BY in_force_at DESC, record_id COLLATE "C" DESC LIMIT 1
            """, [.text(account)]
        ).first.map { (try DriverSettings(text: try $0.text("settings")!), try $0.timestampMs("in_force_at")!) }
    }
}
