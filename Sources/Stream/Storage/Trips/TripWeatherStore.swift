internal import Basics
internal import Codecs
package import Fleet
package import Postgres

/// The weather of trips in PostgreSQL (`drover.trip_weather`).
package enum TripWeatherStore {
    /// Which of the services' answers a trip's start meets.
    private static let known = """
        EXISTS (SELECT FROM trip_weather w
            WHERE w.vehicle = s.vehicle AND w.hour_at = date_trunc('hour', s.start_at, 'UTC') AND drover.is_in_cell(
                s.latitude_deg, s.longitude_deg, w.cell_millideg, w.latitude_index, w.longitude_index))
        """

    /// Writes an answer. Of two the one counts that was fetched last; of one moment the greater text. Precondition: within the
    /// transaction that moves the offsets; `answer` is one that the decoder took.
    static func write(_ answer: String, hourMs: Int64, of vehicle: VehicleID, on connection: Connection) throws {
        guard let told = WeatherAnswer(json: Array(answer.utf8)) else { preconditionFailure("it was decoded") }
        try connection.query(
            """
            INSERT INTO trip_weather AS known (vehicle, hour_at, cell_millideg, latitude_index, longitude_index, fetched_at,
                answer) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (vehicle, hour_at, cell_millideg, latitude_index, longitude_index) DO UPDATE SET
                fetched_at = EXCLUDED.fetched_at, answer = EXCLUDED.answer
            WHERE (EXCLUDED.fetched_at, EXCLUDED.answer COLLATE "C") > (known.fetched_at, known.answer COLLATE "C")
            """,
            [
                .text(vehicle.text), .timestampMs(hourMs), .int4(told.cellMilliDeg), .int4(told.cell.latitudeIndex),
                .int4(told.cell.longitudeIndex), .timestampMs(told.fetchedMs), .text(answer),
            ])
        try connection.query(
            """
            UPDATE trip_start s SET lacks_weather = false
            WHERE s.vehicle = $1 AND s.start_at >= $2 AND s.start_at < $2::timestamptz + interval '1 hour'
                AND s.lacks_weather AND \(known)
            """, [.text(vehicle.text), .timestampMs(hourMs)])
    }

    package struct Lacking: Sendable {
        package let vehicle: String
        package let startMs: Int64
        /// Where it began.
        package let place: Position?
    }

    /// The next trips without weather, the last begun first, that are over and whose first hour is: its weather is told of as it was.
    /// - Parameter last: nil begins with the newest.
    package static func lacking(
        after last: (startMs: Int64, vehicle: String)?, most: Int, on connection: Connection
    ) throws -> [Lacking] {
        try connection.query(
            """
            SELECT s.vehicle, s.start_at, s.latitude_deg, s.longitude_deg FROM drover.trip_start s
            JOIN drover.trip t ON t.vehicle = s.vehicle AND t.start_at = s.start_at
            WHERE s.lacks_weather AND NOT t.is_open
                AND date_trunc('hour', s.start_at, 'UTC') + interval '1 hour' <= now()
                AND ($1::timestamptz IS NULL OR (s.start_at, s.vehicle) < ($1, $2))
            ORDER BY s.start_at DESC, s.vehicle DESC LIMIT $3
            """, [last.map { .timestampMs($0.startMs) } ?? .null, .text(last?.vehicle), .int8(Int64(most))]
        ).map {
            Lacking(
                vehicle: try $0.text("vehicle")!, startMs: try $0.timestampMs("start_at")!,
                place: Position(degrees: try $0.double("latitude_deg"), try $0.double("longitude_deg")))
        }
    }

    /// Trips that were just written may begin in an hour that is known already. Precondition: within the same
    /// transaction.
    package static func settle(_ starts: [(vehicle: String, startMs: Int64)], on connection: Connection) throws {
        guard !starts.isEmpty else { return }
        try connection.query(
            """
            UPDATE trip_start s SET lacks_weather = false
            FROM unnest($1::text[], $2::timestamptz[]) AS written(vehicle, start_at)
            WHERE s.vehicle = written.vehicle AND s.start_at = written.start_at AND s.lacks_weather AND \(known)
            """, [.textArray(starts.map(\.vehicle)), .timestampArray(starts.map(\.startMs))])
    }
}
