package import Codecs
package import Fleet
package import Postgres

/// Ways that routing services have told, by rounded places and hour of the week.
package enum TravelStore {
    package typealias Pair = (from: Position, to: Position)

    /// Travel times of these ways that are known and still believed, by their places in `pairs`.
    package static func legs(
        of pairs: [Pair], from source: String, weekHour: Int, nowMs: Int64, on connection: Connection
    ) throws -> [(index: Int, leg: OSRM.Leg)] {
        try connection.query(
            """
            SELECT w.place, l.duration_ms, l.distance_m
            FROM unnest($2::int[], $3::int[], $4::int[], $5::int[]) WITH ORDINALITY AS w (a, b, c, d, place)
            JOIN drover.travel_leg l ON l.source = $1 AND l.from_latitude = a AND l.from_longitude = b
                AND l.to_latitude = c AND l.to_longitude = d AND l.week_hour = $6 AND l.kept_until > $7
            """, [.text(source)] + columns(pairs) + [.int4(Int32(weekHour)), .timestampMs(nowMs)]
        ).map { (try $0.int("place")! - 1, try leg($0)) }
    }

    /// - Parameter legs: in one order everywhere, or two processes would wait for each other.
    package static func keep(
        _ legs: [(pair: Pair, leg: OSRM.Leg)], from source: String, weekHour: Int, untilMs: Int64, nowMs: Int64,
        on connection: Connection
    ) throws {
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
                [.text(source)] + columns(legs.map(\.pair)) + [
                    .int4(Int32(weekHour)), .int8Array(legs.map(\.leg.durationMs)),
                    .int8Array(legs.map(\.leg.distanceM)), .timestampMs(untilMs),
                ])
            try CacheExpiry.delete(from: .legs, nowMs: nowMs, on: connection)
        }
    }

    private static func columns(_ pairs: [Pair]) -> [Parameter] {
        [
            .int4Array(pairs.map(\.from.latitude)), .int4Array(pairs.map(\.from.longitude)),
            .int4Array(pairs.map(\.to.latitude)), .int4Array(pairs.map(\.to.longitude)),
        ]
    }

    private static func leg(_ row: Row) throws -> OSRM.Leg {
        OSRM.Leg(durationMs: Int64(try row.int("duration_ms")!), distanceM: Int64(try row.int("distance_m")!))
    }

    // MARK: Lines

    /// - Parameter stops: their digest.
    package static func line(
        through stops: [UInt8], from source: String, nowMs: Int64, on connection: Connection
    ) throws -> OSRM.Line? {
        let row = try connection.query(
            """
            SELECT line, duration_ms, distance_m FROM drover.travel_line
            WHERE source = $1 AND stops = $2 AND kept_until > $3
            """, [.text(source), .bytes(stops), .timestampMs(nowMs)]
        ).first
        guard let row, let points = try? Polyline.decode(row.text("line")!) else { return nil }
        return OSRM.Line(points: points, leg: try leg(row))
    }

    package static func keep(
        _ line: OSRM.Line, through stops: [UInt8], from source: String, untilMs: Int64, nowMs: Int64,
        on connection: Connection
    ) throws {
        try connection.transaction {
            try connection.query(
                """
                INSERT INTO drover.travel_line (source, stops, line, duration_ms, distance_m, kept_until)
                VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (source, stops) DO UPDATE SET line = excluded.line, duration_ms = excluded.duration_ms,
                    distance_m = excluded.distance_m, kept_until = excluded.kept_until
                """,
                [
                    .text(source), .bytes(stops), .text(Polyline.encode(line.points)), .int8(line.leg.durationMs),
                    .int8(line.leg.distanceM), .timestampMs(untilMs),
                ])
            try CacheExpiry.delete(from: .lines, nowMs: nowMs, on: connection)
        }
    }
}
