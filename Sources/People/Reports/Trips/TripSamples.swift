internal import Codecs
package import Fleet
package import Postgres
internal import Trips

/// The readings of a trip.
package enum TripSamples {
    package static func read(
        _ trip: TripRead, _ queries: ReportQueries, on connection: Connection
    ) throws -> [CarReading] {
        let key: [Parameter] = [.text(trip.vehicle), .timestampMs(trip.trip.startMs)]
        return try connection.query(queries["trip_samples"], key).flatMap { row in
            try PackedSamples.decode(row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!)
        }
    }
}
