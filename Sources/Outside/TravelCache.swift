internal import Fleet
internal import Postgres
internal import Secrets
internal import Wire

/// Ways that a service told, by rounded places and hour of the week.
struct TravelCache {
    let source: String
    let database: SharedDatabase
    let keptMs: Int64

    /// What is known of a table, by its place row by row.
    func read(
        _ sources: [Position], _ destinations: [Position], _ weekHour: Int, _ nowMs: Int64
    ) throws(ServiceError) -> [(index: Int, leg: OSRM.Leg)] {
        try database.run("travel") { connection in
            let pairs = sources.flatMap { source in destinations.map { (source, $0) } }
            let rows = try connection.query(
                """
                SELECT w.place, l.duration_ms, l.distance_m
                FROM unnest($2::int[], $3::int[], $4::int[], $5::int[]) WITH ORDINALITY AS w (a, b, c, d, place)
                JOIN drover.travel_leg l ON l.source = $1 AND l.from_latitude = a AND l.from_longitude = b
                    AND l.to_latitude = c AND l.to_longitude = d AND l.week_hour = $6 AND l.kept_until > $7
                """, [.text(source)] + columns(pairs) + [.int4(Int32(weekHour)), .timestampMs(nowMs)])
            return try rows.map { row in
                (
                    try row.int("place")! - 1,
                    OSRM.Leg(
                        durationMs: Int64(try row.int("duration_ms")!), distanceM: Int64(try row.int("distance_m")!))
                )
            }
        }
    }

    func write(
        _ legs: [OSRM.Leg?], _ sources: [Position], _ destinations: [Position], _ weekHour: Int, _ nowMs: Int64
    ) throws(ServiceError) {
        var rows: [(pair: (Position, Position), leg: OSRM.Leg)] = []
        for (index, leg) in legs.enumerated() {
            guard let leg else { continue }
            rows.append(((sources[index / destinations.count], destinations[index % destinations.count]), leg))
        }
        // In one order everywhere, or two processes would wait for each other.
        rows.sort { key($0.pair).lexicographicallyPrecedes(key($1.pair)) }
        guard !rows.isEmpty else { return }
        try database.run("travel") { connection in
            try connection.transaction {
                try connection.query(
                    """
                    INSERT INTO drover.travel_leg (source, from_latitude, from_longitude, to_latitude, to_longitude,
                        week_hour, duration_ms, distance_m, kept_until)
                    SELECT $1, a, b, c, d, $6, duration_ms, distance_m, $9
                    FROM unnest($2::int[], $3::int[], $4::int[], $5::int[], $7::bigint[], $8::bigint[])
                        AS w (a, b, c, d, duration_ms, distance_m)
                    ON CONFLICT (source, from_latitude, from_longitude, to_latitude, to_longitude, week_hour)
                    DO UPDATE SET duration_ms = excluded.duration_ms, distance_m = excluded.distance_m,
                        kept_until = excluded.kept_until
                    """,
                    [.text(source)] + columns(rows.map(\.pair)) + [
                        .int4(Int32(weekHour)), .int8Array(rows.map(\.leg.durationMs)),
                        .int8Array(rows.map(\.leg.distanceM)), .timestampMs(nowMs + keptMs),
                    ])
                try Expired.delete(from: .legs, nowMs: nowMs, on: connection)
            }
        }
    }

    private func columns(_ pairs: [(Position, Position)]) -> [Parameter] {
        [
            .int4Array(pairs.map(\.0.latitude)), .int4Array(pairs.map(\.0.longitude)),
            .int4Array(pairs.map(\.1.latitude)), .int4Array(pairs.map(\.1.longitude)),
        ]
    }

    private func key(_ pair: (Position, Position)) -> [Int32] {
        [pair.0.latitude, pair.0.longitude, pair.1.latitude, pair.1.longitude]
    }

    func line(_ stops: [Position], _ nowMs: Int64) throws(ServiceError) -> OSRM.Line? {
        try database.run("travel") { connection in
            let row = try connection.query(
                """
                SELECT line, duration_ms, distance_m FROM drover.travel_line
                WHERE source = $1 AND stops = $2 AND kept_until > $3
                """, [.text(source), .bytes(digest(stops)), .timestampMs(nowMs)]
            ).first
            guard let row, let points = try? Polyline.decode(row.text("line")!) else { return nil }
            return OSRM.Line(
                points: points,
                leg: OSRM.Leg(
                    durationMs: Int64(try row.int("duration_ms")!), distanceM: Int64(try row.int("distance_m")!)))
        }
    }

    func write(_ line: OSRM.Line, _ stops: [Position], _ nowMs: Int64) throws(ServiceError) {
        try database.run("travel") { connection in
            try connection.transaction {
                try connection.query(
                    """
                    INSERT INTO drover.travel_line (source, stops, line, duration_ms, distance_m, kept_until)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (source, stops) DO UPDATE SET line = excluded.line, duration_ms = excluded.duration_ms,
                        distance_m = excluded.distance_m, kept_until = excluded.kept_until
                    """,
                    [
                        .text(source), .bytes(digest(stops)), .text(Polyline.encode(line.points)),
                        .int8(line.leg.durationMs), .int8(line.leg.distanceM), .timestampMs(nowMs + keptMs),
                    ])
                try Expired.delete(from: .lines, nowMs: nowMs, on: connection)
            }
        }
    }

    private func digest(_ stops: [Position]) -> [UInt8] {
        Secrets.digest(Array(stops.map(\.text).joined(separator: ";").utf8))
    }
}
