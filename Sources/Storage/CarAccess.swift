public import Fleet
public import Postgres

/// Which account may hand in what of which car.
public enum CarAccess {
    /// The cars of these that `account` may not write to: they are registered to another account, and it was not assigned to
    /// drive them at any time of the span.
    public static func refused(
        _ spans: [VehicleID: ClosedRange<Int64>], account: String, on connection: Connection
    ) throws -> [VehicleID] {
        let cars = spans.sorted { $0.key < $1.key }
        return try connection.query(
            """
            SELECT asked.vehicle
            FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS asked(vehicle, from_at, until_at)
            JOIN drover.registration r ON r.kind = 'car' AND r.vehicle = asked.vehicle AND r.account <> $4
            WHERE NOT EXISTS (
                SELECT FROM (
                    SELECT a.account, a.assigned_at,
                           lead(a.assigned_at, 1, 'infinity') OVER (ORDER BY a.assigned_at) AS ended_at
                    FROM drover.assignment a WHERE a.vehicle = asked.vehicle) AS a
                WHERE a.account = $4 AND a.assigned_at <= asked.until_at AND a.ended_at > asked.from_at)
            ORDER BY asked.vehicle
            """,
            [
                .textArray(cars.map(\.key.text)), .timestampArray(cars.map(\.value.lowerBound)),
                .timestampArray(cars.map(\.value.upperBound)), .text(account),
            ]
        ).map { VehicleID(try $0.text("vehicle")!)! }
    }

    /// Whether `account` may look at what the car does now: it is registered to it, it is assigned to it, or the account's
    /// own readings of the last hour are there.
    public static func mayLook(_ vehicle: VehicleID, account: String, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM drover.registration r
                WHERE r.kind = 'car' AND r.vehicle = $1 AND r.account = $2
            ) OR coalesce((
                SELECT a.account = $2 FROM drover.assignment a WHERE a.vehicle = $1 AND a.assigned_at <= now()
                ORDER BY a.assigned_at DESC LIMIT 1
            ), false) OR EXISTS (
                SELECT FROM drover.driving d
                WHERE d.vehicle = $1 AND d.account = $2 AND d.until_at > now() - interval '1 hour'
            )
            """, [.text(vehicle.text), .text(account)])[0].bool(0)!
    }
}
