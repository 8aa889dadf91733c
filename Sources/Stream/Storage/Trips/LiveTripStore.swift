package import Fleet
package import Pipeline
package import Postgres
internal import Trips

/// The running trips that somebody looks at (`drover.live_trip`).
package enum LiveTripStore {
    package static let table = StagedTable(
        name: "live_trip",
        columns: ["vehicle", "start_at", "end_at", "minute_at", "samples", "from_before"] + TotalsColumns.names,
        key: ["vehicle"])

    /// Asks for a car to be looked at for the next half minute.
    package static func watch(_ vehicle: VehicleID, on connection: Connection) throws {
        try connection.query("SELECT drover.watch($1)", [.text(vehicle.text)])
    }

    package static func watched(on connection: Connection) throws -> Set<String> {
        Set(try connection.query("SELECT vehicle FROM watched WHERE until_at > now()").map { try $0.text(0)! })
    }

    /// Deletes values of cars that were forgotten (`drover.watch`) while the worker wrote what came last.
    package static func forget(_ vehicles: [String], on connection: Connection) throws {
        try connection.query(
            """
            DELETE FROM live_trip l WHERE vehicle = ANY ($1)
                AND NOT EXISTS (SELECT FROM watched w WHERE w.vehicle = l.vehicle)
            """, [.textArray(vehicles)])
    }

    package static func rows(_ trips: [(vehicle: String, live: LiveTrip)]) -> TableRows? {
        guard !trips.isEmpty else { return nil }
        var copy = BinaryCopy.fragment
        for (vehicle, live) in trips {
            copy.row(columns: 6 + TotalsColumns.names.count)
            copy.text(vehicle)
            copy.timestampMs(live.trip.startMs)
            copy.timestampMs(live.trip.endMs)
            copy.timestampMs(live.minuteMs)
            copy.bytea(live.samples)
            copy.bool(live.trip.isFromBefore)
            CarStore.append(live.trip.totals, to: &copy)
        }
        return TableRows(table, copy)
    }
}
