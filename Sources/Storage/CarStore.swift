package import Fleet
package import Pipeline
package import Postgres
package import Trips
internal import Wire

/// Cars in PostgreSQL: reads history back, writes the rows of a batch. Decides nothing.
package struct CarStore {
    private static let minute = StagedTable(
        name: "vehicle_minute", columns: ["vehicle", "minute_at", "trip_start_at", "samples"] + TotalsColumns.names,
        key: ["vehicle", "minute_at"])
    private static let trip = StagedTable(
        name: "trip", columns: ["vehicle", "start_at", "end_at", "is_open"] + TotalsColumns.names,
        key: ["vehicle", "start_at"])
    private static let day = StagedTable(
        name: "vehicle_day", columns: ["vehicle", "day_at"] + TotalsColumns.names, key: ["vehicle", "day_at"])

    package static func prepare(_ connection: Connection) throws {
        for table in [minute, trip, day] { try connection.execute(table.create) }
    }

    // MARK: Reading back

    /// The trips that each query's span touches, and the reach of what they touch.
    private static let touched = """
        WITH asked AS (
            SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS asked(vehicle, from_at, to_at)
        ), reach AS (
            SELECT asked.vehicle, min(trip.start_at) AS start_at, max(trip.end_at) AS end_at,
                   least(asked.from_at, min(trip.start_at)) AS from_at, greatest(asked.to_at, max(trip.end_at)) AS to_at
            FROM asked LEFT JOIN drover.trip
                ON trip.vehicle = asked.vehicle AND trip.end_at >= asked.from_at AND trip.start_at <= asked.to_at
            GROUP BY asked.vehicle, asked.from_at, asked.to_at
        )
        """

    package static func history(_ queries: [HistoryQuery], on connection: Connection) throws -> [VehicleID: CarHistory]
    {
        var histories = Dictionary(uniqueKeysWithValues: queries.map { ($0.vehicle, CarHistory.none) })
        guard !queries.isEmpty else { return histories }
        let parameters: [Parameter] = [
            .textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map(\.fromMs)),
            .timestampArray(queries.map(\.toMs)),
        ]
        for row in try connection.query(
            "\(touched) SELECT reach.vehicle, (SELECT max(end_at) FROM drover.trip WHERE trip.vehicle = reach.vehicle) AS last_at FROM reach",
            parameters)
        {
            histories[VehicleID(try row.text("vehicle")!)!]?.lastMs = try row.timestampMs("last_at")
        }
        let names = TotalsColumns.names.map { "m.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            \(touched) SELECT m.vehicle, m.minute_at, m.trip_start_at, m.samples, \(names)
            FROM reach JOIN drover.vehicle_minute m ON m.vehicle = reach.vehicle
                AND m.minute_at > reach.start_at - interval '1 minute' AND m.minute_at <= reach.end_at
            ORDER BY m.vehicle, m.minute_at
            """, parameters)
        {
            let start = try row.timestampMs("minute_at")!
            let minute = VehicleMinute(
                startMs: start, tripStartMs: try row.timestampMs("trip_start_at")!,
                totals: try TotalsColumns.totals(row),
                readings: try PackedSamples.decode(try row.bytes("samples")!, minuteMs: start))
            histories[VehicleID(try row.text("vehicle")!)!]?.minutes.append(minute)
        }
        for row in try connection.query(
            """
            \(touched) SELECT m.vehicle, date_trunc('day', m.minute_at, 'UTC') AS day_at, \(TotalsColumns.sums)
            FROM reach JOIN drover.vehicle_minute m ON m.vehicle = reach.vehicle
                AND m.minute_at >= date_trunc('day', reach.from_at, 'UTC')
                AND m.minute_at < date_trunc('day', reach.to_at, 'UTC') + interval '1 day'
                AND (reach.start_at IS NULL OR m.minute_at <= reach.start_at - interval '1 minute' OR m.minute_at > reach.end_at)
            GROUP BY 1, 2
            """, parameters)
        {
            let day = try row.timestampMs("day_at")!
            histories[VehicleID(try row.text("vehicle")!)!]?.otherMinutesOfDay[day] = try TotalsColumns.totals(row)
        }
        return histories
    }

    // MARK: Writing

    /// Precondition: within the transaction that moves the offsets; one change a vehicle.
    package static func write(_ changes: [CarChange], on connection: Connection) throws {
        try minute.write(changes.flatMap { change in change.minutes.map { (change.vehicle, $0) } }, on: connection) {
            (row: (VehicleID, VehicleMinute), copy: inout BinaryCopy) in
            copy.text(row.0.text)
            copy.timestampMs(row.1.startMs)
            copy.timestampMs(row.1.tripStartMs)
            copy.bytea(PackedSamples.encode(row.1.readings, minuteMs: row.1.startMs))
            fill(row.1.totals, &copy)
        }
        try drop(changes, on: connection)
        try trip.write(changes.flatMap { change in change.trips.map { (change.vehicle, $0) } }, on: connection) {
            (row: (VehicleID, CarChange.TripRow), copy: inout BinaryCopy) in
            copy.text(row.0.text)
            copy.timestampMs(row.1.trip.startMs)
            copy.timestampMs(row.1.trip.endMs)
            copy.bool(row.1.isOpen)
            fill(row.1.trip.totals, &copy)
        }
        try day.write(
            changes.flatMap { change in change.days.map { (change.vehicle, $0.key, $0.value) } }, on: connection
        ) {
            (row: (VehicleID, Int64, DriveTotals), copy: inout BinaryCopy) in
            copy.text(row.0.text)
            copy.timestampMs(row.1)
            fill(row.2, &copy)
        }
    }

    private static func drop(_ changes: [CarChange], on connection: Connection) throws {
        let dropped = changes.flatMap { change in change.droppedTripStarts.map { (change.vehicle.text, $0) } }
        guard !dropped.isEmpty else { return }
        try connection.query(
            """
            DELETE FROM drover.trip USING unnest($1::text[], $2::timestamptz[]) AS gone(vehicle, start_at)
            WHERE trip.vehicle = gone.vehicle AND trip.start_at = gone.start_at
            """, [.textArray(dropped.map(\.0)), .timestampArray(dropped.map(\.1))])
    }

    private static func fill(_ totals: DriveTotals, _ copy: inout BinaryCopy) {
        for column in TotalsColumns.all {
            switch column.width {
            case .int4: copy.int4(column.get(totals).map { Int32(clamping: $0) })
            case .int8: copy.int8(column.get(totals))
            }
        }
    }

    /// Ends the trips that the partitions' clocks have passed by more than the trip gap.
    package static func closeTrips(
        clocks: [(partition: Int32, clockMs: Int64)], rules: TripRules, on connection: Connection
    ) throws {
        guard !clocks.isEmpty else { return }
        try connection.query(
            """
            UPDATE drover.trip SET is_open = false
            FROM drover.vehicle, unnest($1::int[], $2::timestamptz[]) AS clock(partition, now_at)
            WHERE trip.is_open AND vehicle.vehicle = trip.vehicle AND vehicle.kind = 'car'
                AND vehicle.topic_partition = clock.partition
                AND trip.end_at < clock.now_at - $3 * interval '1 millisecond'
            """,
            [
                .int4Array(clocks.map(\.partition)), .timestampArray(clocks.map(\.clockMs)),
                .float8(Double(rules.tripGapMs)),
            ])
    }
}
