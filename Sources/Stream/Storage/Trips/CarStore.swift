internal import Basics
internal import Codecs
package import Fleet
package import Pipeline
package import Postgres
internal import Trips

/// Cars in PostgreSQL: reads history back, encodes the rows of a cycle. Decides nothing.
package enum CarStore {
    private static let minute = StagedTable(
        name: "vehicle_minute", columns: ["vehicle", "minute_at", "trip_start_at", "samples"] + TotalsColumns.names,
        key: ["vehicle", "minute_at"], isRevised: true, periodsBy: "minute_at")
    private static let trip = StagedTable(
        name: "trip",
        columns: ["vehicle", "start_at", "end_at", "is_open", "state", "from_before", "goes_on", "carry"]
            + TotalsColumns.names,
        key: ["vehicle", "start_at"], isRevised: true)
    private static let day = StagedTable(
        name: "vehicle_day", columns: ["vehicle", "day_at"] + TotalsColumns.names, key: ["vehicle", "day_at"],
        isRevised: true)
    private static let tripStart = StagedTable(
        name: "trip_start", columns: ["vehicle", "start_at", "latitude_deg", "longitude_deg", "lacks_weather"],
        key: ["vehicle", "start_at"])
    package static let tables = [minute, trip, day, tripStart]

    /// A mark as its cut in epoch milliseconds, as `TripCuts.time` has it.
    static let cutMs =
        "((extract(epoch FROM m.marked_at) * 1000)::bigint + CASE WHEN m.is_start THEN 0 ELSE 1 END)::text"

    static func cuts(_ text: String?) -> [Int64] { text?.split(separator: " ").map { Int64($0)! } ?? [] }

    static let tripColumns =
        "start_at, end_at, is_open, revision, from_before, goes_on, carry, "
        + TotalsColumns.names.joined(separator: ", ")

    static func trip(_ row: Row) throws -> Trip {
        var trip = Trip(
            startMs: try row.timestampMs("start_at")!, endMs: try row.timestampMs("end_at")!,
            totals: try TotalsColumns.totals(row))
        trip.isFromBefore = try row.bool("from_before")!
        trip.goesOn = try row.bool("goes_on")!
        trip.carry = try row.bytes("carry") ?? []
        return trip
    }

    // MARK: Reading back

    /// The trips that each query's span touches (they do not overlap, so the last that begins before the span is the
    /// only one that can reach into it), and the reach of what they touch.
    private static let touched = """
        WITH asked AS (
            SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[])
                AS asked(vehicle, from_at, to_at, open_at)
        ), touched AS (
            SELECT asked.vehicle, asked.from_at, asked.to_at, asked.open_at, trip.start_at, trip.end_at
            FROM asked LEFT JOIN trip ON trip.vehicle = asked.vehicle AND trip.start_at <= asked.to_at
                AND trip.end_at >= asked.from_at AND trip.start_at >= coalesce((
                    SELECT max(earlier.start_at) FROM trip AS earlier
                    WHERE earlier.vehicle = asked.vehicle AND earlier.start_at <= asked.from_at), asked.from_at)
        ), reach AS (
            SELECT vehicle, open_at, min(start_at) AS start_at, max(start_at) AS last_start_at, max(end_at) AS end_at,
                   least(from_at, min(start_at)) AS from_at, greatest(to_at, max(end_at)) AS to_at
            FROM touched GROUP BY vehicle, open_at, from_at, to_at
        )
        """

    package static func history(_ queries: [HistoryQuery], on connection: Connection) throws -> [VehicleID: CarHistory]
    {
        var histories = Dictionary(uniqueKeysWithValues: queries.map { ($0.vehicle, CarHistory.none) })
        guard !queries.isEmpty else { return histories }
        let parameters: [Parameter] = [
            .textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map(\.fromMs)),
            .timestampArray(queries.map(\.toMs)),
            // No open minute: a time that no minute has.
            .timestampArray(queries.map { $0.openMs == .min ? 0 : $0.openMs }),
        ]
        for row in try connection.query(
            """
            \(touched) SELECT reach.vehicle, (
                SELECT max(minute_at) FROM vehicle_minute m WHERE m.vehicle = reach.vehicle AND m.minute_at <> reach.open_at
            ) AS last_at, (
                SELECT string_agg(\(cutMs), ' ') FROM trip_mark AS m WHERE m.vehicle = reach.vehicle
                    AND m.marked_at >= reach.from_at - interval '1 minute' AND m.marked_at <= reach.to_at
            ) AS cuts, next.start_at AS next_at, next.from_before AS next_from_before,
                next.carry AS next_carry
            FROM reach LEFT JOIN LATERAL (
                SELECT start_at, from_before, carry FROM trip n
                WHERE n.vehicle = reach.vehicle AND n.start_at > coalesce(reach.last_start_at, reach.to_at)
                ORDER BY start_at LIMIT 1) AS next ON true
            """, parameters)
        {
            if let nextMs = try row.timestampMs("next_at") {
                var next = Trip(startMs: nextMs, endMs: nextMs, totals: DriveTotals())
                next.isFromBefore = try row.bool("next_from_before")!
                next.carry = try row.bytes("next_carry") ?? []
                histories[try vehicle(row)]?.next = next
            }
            histories[try vehicle(row)]?.lastMinuteMs = try row.timestampMs("last_at")
            histories[try vehicle(row)]?.cuts = cuts(try row.text("cuts"))
        }
        for row in try connection.query(
            """
            \(touched) SELECT vehicle, \(tripColumns)
            FROM (SELECT vehicle, start_at FROM touched) AS t JOIN trip USING (vehicle, start_at)
            ORDER BY vehicle, start_at
            """, parameters)
        {
            histories[try vehicle(row)]?.trips.append(
                .init(try trip(row), isOpen: try row.bool("is_open")!, revision: try revision(row)))
        }
        for (vehicle, history) in histories {
            guard let first = history.trips.first?.trip, first.isFromBefore, first.carry.isEmpty else { continue }
            histories[vehicle]?.before = try before(first, of: vehicle, on: connection)
        }
        try readMinutes(parameters, on: connection, into: &histories)
        try readDays(parameters, on: connection, into: &histories)
        return histories
    }

    /// The readings of the trip before a part that has no carry: no trip is longer than two days.
    static func before(_ part: Trip, of vehicle: VehicleID, on connection: Connection) throws -> [CarReading] {
        try connection.query(
            """
            SELECT minute_at, samples FROM vehicle_minute
            WHERE vehicle = $1 AND minute_at >= $2::timestamptz - interval '2 days' AND minute_at < $2 AND trip_start_at = (
                SELECT max(start_at) FROM trip WHERE vehicle = $1 AND start_at < $2)
            ORDER BY minute_at
            """, [.text(vehicle.text), .timestampMs(part.startMs)]
        ).flatMap(samples)
    }

    static func samples(_ row: Row) throws -> [CarReading] {
        try PackedSamples.decode(try row.bytes("samples")!, minuteMs: try row.timestampMs("minute_at")!)
    }

    private static func readMinutes(
        _ parameters: [Parameter], on connection: Connection, into histories: inout [VehicleID: CarHistory]
    ) throws {
        let names = TotalsColumns.names.map { "m.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            \(touched) SELECT m.vehicle, m.minute_at, m.trip_start_at, m.samples, m.revision, \(names)
            FROM reach JOIN vehicle_minute m ON m.vehicle = reach.vehicle
                AND m.minute_at > reach.start_at - interval '1 minute' AND m.minute_at <= reach.end_at
                AND m.trip_start_at >= reach.start_at AND m.trip_start_at <= reach.last_start_at
            ORDER BY m.vehicle, m.minute_at
            """, parameters)
        {
            let start = try row.timestampMs("minute_at")!
            let minute = VehicleMinute(
                startMs: start, tripStartMs: try row.timestampMs("trip_start_at")!,
                totals: try TotalsColumns.totals(row),
                readings: try PackedSamples.decode(try row.bytes("samples")!, minuteMs: start))
            histories[try vehicle(row)]?.minutes.append(.init(minute, revision: try revision(row)))
        }
    }

    private static func readDays(
        _ parameters: [Parameter], on connection: Connection, into histories: inout [VehicleID: CarHistory]
    ) throws {
        for row in try connection.query(
            """
            \(touched) SELECT m.vehicle, date_trunc('day', m.minute_at, 'UTC') AS day_at, \(TotalsColumns.sums)
            FROM reach JOIN vehicle_minute m ON m.vehicle = reach.vehicle AND m.minute_at <> reach.open_at
                AND m.minute_at >= date_trunc('day', reach.from_at, 'UTC')
                AND m.minute_at < date_trunc('day', reach.to_at, 'UTC') + interval '1 day'
                AND (reach.start_at IS NULL OR m.trip_start_at < reach.start_at OR m.trip_start_at > reach.last_start_at)
            GROUP BY 1, 2
            """, parameters)
        {
            let day = try row.timestampMs("day_at")!
            histories[try vehicle(row)]?.otherMinutesOfDay[day] = try TotalsColumns.totals(row)
        }
        let names = TotalsColumns.names.map { "d.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            \(touched) SELECT d.vehicle, d.day_at, d.revision, \(names)
            FROM reach JOIN vehicle_day d ON d.vehicle = reach.vehicle
                AND d.day_at >= date_trunc('day', reach.from_at, 'UTC') AND d.day_at <= reach.to_at
            """, parameters)
        {
            histories[try vehicle(row)]?.days[try row.timestampMs("day_at")!] = .init(
                try TotalsColumns.totals(row), revision: try revision(row))
        }
    }

    private static func vehicle(_ row: Row) throws -> VehicleID { VehicleID(try row.text("vehicle")!)! }
    private static func revision(_ row: Row) throws -> Int32 { Int32(clamping: try row.int("revision")!) }

    // MARK: Writing

    /// The rows of a cycle, ready for COPY.
    package static func encode(_ cars: borrowing CarPartition) -> [TableRows] {
        let rows = cars.rows
        var (minutes, trips, days) = (BinaryCopy.fragment, BinaryCopy.fragment, BinaryCopy.fragment)
        for index in rows.minutes.indices {
            let row = rows.minutes[index]
            minutes.row(columns: minute.columns.count)
            minutes.text(utf8: cars.vehicle(row.car))
            minutes.timestampMs(row.startMs)
            minutes.timestampMs(row.tripStartMs)
            minutes.bytea(rows.bytes[row.samples])
            fill(row.totals, row.correction, &minutes)
        }
        for row in rows.trips {
            trips.row(columns: trip.columns.count)
            trips.text(utf8: cars.vehicle(row.car))
            trips.timestampMs(row.trip.startMs)
            trips.timestampMs(row.trip.endMs)
            trips.bool(row.isOpen)
            if let state = row.state {
                trips.bytea(rows.bytes[state])
            } else {
                trips.null()
            }
            trips.bool(row.trip.isFromBefore)
            trips.bool(row.trip.goesOn)
            if row.trip.carry.isEmpty { trips.null() } else { trips.bytea(row.trip.carry[...]) }
            fill(row.trip.totals, row.correction, &trips)
        }
        for index in rows.days.indices {
            let row = rows.days[index]
            days.row(columns: day.columns.count)
            days.text(utf8: cars.vehicle(row.car))
            days.timestampMs(row.dayMs)
            fill(row.totals, row.correction, &days)
        }
        let all = [
            TableRows(minute, minutes), TableRows(trip, trips), TableRows(day, days),
            TableRows(tripStart, starts(cars)),
        ]
        return all.filter { $0.count > 0 }
    }

    private static func starts(_ cars: borrowing CarPartition) -> BinaryCopy {
        var starts = BinaryCopy.fragment
        for index in cars.rows.minutes.indices {
            let row = cars.rows.minutes[index]
            guard row.beginsTrip else { continue }
            starts.row(columns: tripStart.columns.count)
            starts.text(utf8: cars.vehicle(row.car))
            starts.timestampMs(row.tripStartMs)
            starts.float8(row.startPlace.map { Double($0.latitude) / 1e7 })
            starts.float8(row.startPlace.map { Double($0.longitude) / 1e7 })
            // `TripWeatherStore.settle` says more of it.
            starts.bool(row.startPlace != nil)
        }
        return starts
    }

    private static func fill(_ totals: DriveTotals, _ correction: CarRows.Correction, _ copy: inout BinaryCopy) {
        append(totals, to: &copy)
        copy.int4(correction.revision)
        copy.timestampMs(correction.revisedMs)
    }

    static func append(_ totals: DriveTotals, to copy: inout BinaryCopy) {
        totals.visit(narrow: { copy.int4($0.map { Int32(clamping: $0) }) }, wide: { copy.int8($0) })
    }

    /// Trips and stretches that no longer exist. Precondition: within the transaction, before the rows of the cycle are
    /// written.
    package static func drop(
        trips: [(vehicle: String, startMs: Int64)], minutes: [(vehicle: String, startMs: Int64)],
        on connection: Connection
    ) throws {
        for (table, key, gone) in [
            ("trip", "start_at", trips), ("trip_start", "start_at", trips), ("vehicle_minute", "minute_at", minutes),
        ]
        where !gone.isEmpty {
            try connection.query(
                """
                DELETE FROM \(table) USING unnest($1::text[], $2::timestamptz[]) AS gone(vehicle, start_at)
                WHERE \(table).vehicle = gone.vehicle AND \(table).\(key) = gone.start_at
                """, [.textArray(gone.map(\.vehicle)), .timestampArray(gone.map(\.startMs))])
        }
    }
}
