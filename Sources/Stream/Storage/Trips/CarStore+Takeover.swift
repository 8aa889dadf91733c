package import Fleet
package import Postgres
package import Trips

/// Cars as whoever takes a partition over reads them.
extension CarStore {
    /// A car as it is stored.
    package struct StoredCar {
        package let vehicle: VehicleID
        /// Nil: it has none, or one of before there were any.
        package let state: [UInt8]?
        package let isOpen: Bool
        /// Since the minute that its latest trip ended in.
        package let cuts: [Int64]
        /// The start of its latest trip.
        package let tripStartMs: Int64?
        /// Its latest trip is a part that was cut off without being carried on.
        package let wasCut: Bool
    }

    /// These cars of a partition, as far as they are known, by their names.
    package static func cars(
        _ vehicles: [VehicleID], of partition: Int32, on connection: Connection
    ) throws -> [StoredCar] {
        try connection.query(
            """
            SELECT v.vehicle, t.start_at IS NOT NULL AS has_trip, t.is_open, t.state, t.start_at,
                t.from_before AND t.carry IS NULL AS was_cut, (
                SELECT string_agg(\(cutMs), ' ') FROM trip_mark AS m WHERE m.vehicle = v.vehicle
                    AND m.marked_at >= coalesce(date_trunc('minute', t.end_at, 'UTC'), '-infinity')) AS cuts
            FROM vehicle v LEFT JOIN LATERAL (
                SELECT start_at, end_at, is_open, state, from_before, carry FROM trip WHERE trip.vehicle = v.vehicle
                ORDER BY start_at DESC LIMIT 1) AS t ON true
            WHERE v.kind = 'car' AND v.topic_partition = $1 AND v.vehicle = ANY ($2::text[])
            ORDER BY v.vehicle
            """, [.int4(partition), .textArray(vehicles.map(\.text))]
        ).map { row in
            StoredCar(
                vehicle: VehicleID(try row.text(0)!)!, state: try row.bytes(3) ?? (row.bool(1)! ? [] : nil),
                isOpen: try row.bool(2) ?? false, cuts: cuts(try row.text("cuts")),
                tripStartMs: try row.timestampMs("start_at"), wasCut: try row.bool("was_cut") ?? false)
        }
    }

    /// A page of a partition's cars, by their names.
    ///
    /// - Parameter sinceMs: `.min`: all are meant.
    /// - Returns: whether each said something at `sinceMs` or later, or something of it waits or is open.
    package static func page(
        after last: String, most: Int, sinceMs: Int64, of partition: Int32, _ selection: VehicleSelection,
        on connection: Connection
    ) throws -> [(vehicle: VehicleID, isMeant: Bool)] {
        // Looked up for each car: an EXISTS may read a whole table instead, and once a page.
        try connection.query(
            """
            SELECT v.vehicle, $3::timestamptz IS NULL
                OR (SELECT max(d.day_at) FROM vehicle_day d WHERE d.vehicle = v.vehicle) >= date_trunc('day', $3, 'UTC')
                OR (SELECT w.state IS NOT NULL OR w.asked_offset IS NOT NULL FROM car_watch w WHERE w.vehicle = v.vehicle)
                OR (SELECT true FROM alert a WHERE a.kind = 'car' AND a.state = 'open' AND a.vehicle = v.vehicle
                    AND a.parameter NOT LIKE \(DriverAlertStore.codes) LIMIT 1) AS is_meant
            FROM vehicle v
            WHERE v.kind = 'car' AND v.topic_partition = $1 AND v.vehicle > $2 AND \(selection.condition("v.vehicle", 4))
            ORDER BY v.vehicle LIMIT \(most)
            """,
            [
                .int4(partition), .text(last),
                sinceMs == .min ? .null : .timestampMs(DriverAlertStore.clamped(sinceMs)),
            ] + selection.parameters
        ).map { (VehicleID(try $0.text(0)!)!, try $0.bool(1) ?? false) }
    }

    /// The rows that a vehicle's latest trip is folded again from.
    package struct LatestTrip {
        package let readings: [CarReading]
        /// The trip, where it goes on with one before it.
        package let part: Trip?
        /// Readings of the trip before it, where it does not carry what is needed of them.
        package let before: [CarReading]
        /// The sums of the day that it reached.
        package let day: DriveTotals
    }

    package static func latestTrip(
        _ vehicle: VehicleID, startMs: Int64, on connection: Connection
    ) throws -> LatestTrip {
        let parameters: [Parameter] = [.text(vehicle.text), .timestampMs(startMs)]
        let readings = try connection.query(
            """
            SELECT minute_at, samples FROM vehicle_minute
            WHERE vehicle = $1 AND minute_at > $2::timestamptz - interval '1 minute' AND trip_start_at = $2
            ORDER BY minute_at
            """, parameters
        ).flatMap(samples)
        // The trip is the latest: the day that it reached is the last.
        let day = try connection.query(
            """
            SELECT \(TotalsColumns.names.joined(separator: ", ")) FROM vehicle_day
            WHERE vehicle = $1 AND day_at >= date_trunc('day', $2::timestamptz, 'UTC') ORDER BY day_at DESC LIMIT 1
            """, parameters)
        let part = try trip(vehicle, startMs: startMs, on: connection)
        let before = part.isFromBefore && part.carry.isEmpty ? try self.before(part, of: vehicle, on: connection) : []
        return LatestTrip(
            readings: readings, part: part.isFromBefore ? part : nil, before: before,
            day: day.isEmpty ? DriveTotals() : try TotalsColumns.totals(day[0]))
    }

    package static func trip(_ vehicle: VehicleID, startMs: Int64, on connection: Connection) throws -> Trip {
        try trip(
            connection.query(
                "SELECT \(tripColumns) FROM trip WHERE vehicle = $1 AND start_at = $2",
                [.text(vehicle.text), .timestampMs(startMs)])[0])
    }
}
