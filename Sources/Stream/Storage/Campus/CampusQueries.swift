package import Fleet
package import Postgres

/// Campuses as they stand, for who measures ways or says what hour it is.
package enum CampusQueries {
    package struct Campus: Sendable {
        package let campus: String
        /// The record that said them last, as on the log.
        package let settings: [UInt8]
        /// Surge and speed of an hour were said.
        package let hasHour: Bool
    }

    package struct OpenRide: Sendable {
        package let request: String
        package let from, to: Position
        package let isOnBoard: Bool
    }

    package static func campuses(on connection: Connection) throws -> [Campus] {
        try connection.query("SELECT campus, settings, hour_at IS NOT NULL FROM drover.campus ORDER BY campus").map {
            Campus(
                campus: try $0.text(0)!, settings: Array(try $0.text(1)!.utf8), hasHour: try $0.bool(2)!)
        }
    }

    /// Whether each goes by the times of its records, a day from a file.
    package static func goByRecordTime(on connection: Connection) throws -> [String: Bool] {
        let rows = try connection.query(
            """
            SELECT campus, coalesce((settings::jsonb ->> 'record_time')::numeric = 1, false) AS flag
            FROM drover.campus
            """)
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text("campus")!, try $0.bool("flag")!) })
    }

    /// How many of these requests are in the tables.
    package static func count(_ requests: [String], of campus: String, on connection: Connection) throws -> Int {
        try connection.query(
            "SELECT count(*) FROM drover.ride WHERE campus = $1 AND request = ANY($2)",
            [.text(campus), .textArray(requests)])[0].int(0)!
    }

    /// Where its vehicles are that take part.
    package static func vehicles(of campus: String, on connection: Connection) throws -> [Position] {
        try connection.query(
            "SELECT latitude_deg, longitude_deg FROM drover.ride_vehicle WHERE campus = $1 AND state <> 'out'",
            [.text(campus)]
        ).map { try place($0, 0) }
    }

    /// Where each of them goes next: `request p` or `request d`, in order.
    package static func stops(of campus: String, on connection: Connection) throws -> [String: [String]] {
        let rows = try connection.query(
            "SELECT vehicle, stops FROM drover.ride_vehicle WHERE campus = $1 AND state <> 'out'", [.text(campus)])
        return Dictionary(
            uniqueKeysWithValues: try rows.map { (try $0.text(0)!, try $0.textArray(1)!.compactMap { $0 }) })
    }

    package static func openRides(of campus: String, on connection: Connection) throws -> [OpenRide] {
        try connection.query(
            """
            SELECT to_latitude_deg, to_longitude_deg, from_latitude_deg, from_longitude_deg, state, request
            FROM drover.ride WHERE campus = $1 AND ended_at IS NULL
            """, [.text(campus)]
        ).map {
            OpenRide(
                request: try $0.text(5)!, from: try place($0, 2), to: try place($0, 0),
                isOnBoard: try $0.word(4) == RideState.onBoard)
        }
    }

    private static func place(_ row: Row, _ column: Int) throws -> Position {
        guard let place = Position(degrees: try row.double(column), try row.double(column + 1)) else {
            throw StoredRowFault(description: "a place of a ride or its vehicle is not on the globe")
        }
        return place
    }
}
