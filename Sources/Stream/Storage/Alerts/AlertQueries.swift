package import Postgres

package enum AlertQueries {
    /// Whose alert it is; nil: there is no such one that who asks may see.
    package static func vehicle(of alert: String, on connection: Connection) throws -> String? {
        try connection.query("SELECT vehicle FROM drover.alert WHERE alert_id = $1", [.text(alert)])
            .first?.text("vehicle")
    }
}
