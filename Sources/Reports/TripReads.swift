internal import Fleet
package import Postgres
internal import Storage
package import Trips

/// A trip as it stands in the database.
package struct TripRead: Sendable {
    package let vehicle: String
    package let trip: Trip
    package let isOpen: Bool

    package init(_ row: Row) throws {
        vehicle = try row.text("vehicle")!
        isOpen = try row.bool("is_open")!
        trip = Trip(
            startMs: try row.timestampMs("start_at")!, endMs: try row.timestampMs("end_at")!,
            totals: try TotalsColumns.totals(row))
    }
}

/// The SQL files of Queries/reports, read once. `load` is given the folder's content by the caller.
public struct ReportQueries: Sendable {
    private let texts: [String: String]

    /// `texts` by file name without `.sql`.
    public init(_ texts: [String: String]) { self.texts = texts }

    package subscript(_ name: String) -> String {
        guard let text = texts[name] else { preconditionFailure("Queries/reports/\(name).sql is missing") }
        return text
    }

    public static let names = [
        "fleet_day_trips", "fleet_day_alerts", "trip_at", "trip_samples", "page_vehicles", "page_trips", "open_alerts",
        "vehicles", "alerts", "alert_story", "alert_readings", "machine", "readings", "debug_logs",
    ]
}
