package import Postgres

package enum AlertQueries {
    /// The vehicle of an alert; nil: there is no such alert, or the reader may not see it.
    package static func vehicle(of alert: String, on connection: Connection) throws -> String? {
        try connection.query("SELECT vehicle FROM drover.alert WHERE alert_id = $1", [.text(alert)])
            .first?.text("vehicle")
    }
}
