package import Fleet
package import Postgres

/// The vehicles that have reported. A vehicle comes into being with its first reading.
package enum VehicleStore {
    package struct Row {
        let vehicle: String
        let kind: VehicleKind
        let model: String?
        let partition: Int32
        /// Nil for a car: its latest trip tells.
        let lastMs: Int64?

        package init(vehicle: String, kind: VehicleKind, model: String?, partition: Int32, lastMs: Int64?) {
            self.vehicle = vehicle
            self.kind = kind
            self.model = model
            self.partition = partition
            self.lastMs = lastMs
        }
    }

    package static func write(_ rows: [Row], on connection: Connection) throws {
        guard !rows.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO vehicle (vehicle, kind, model, topic_partition, last_reading_at)
            SELECT vehicle, kind, nullif(model, ''), topic_partition, nullif(last_reading_at, 'epoch')
            FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[])
                AS row(vehicle, kind, model, topic_partition, last_reading_at)
            ON CONFLICT (kind, vehicle) DO UPDATE SET
                model = CASE WHEN EXCLUDED.last_reading_at >= vehicle.last_reading_at THEN EXCLUDED.model ELSE vehicle.model END,
                topic_partition = EXCLUDED.topic_partition,
                last_reading_at = greatest(vehicle.last_reading_at, EXCLUDED.last_reading_at)
            """,
            [
                .textArray(rows.map(\.vehicle)), .textArray(rows.map(\.kind.rawValue)),
                .textArray(rows.map { $0.model ?? "" }),
                .int4Array(rows.map(\.partition)), .timestampArray(rows.map { $0.lastMs ?? 0 }),
            ])
    }
}
