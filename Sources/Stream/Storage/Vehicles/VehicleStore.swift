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
        /// What the box called the machine last, of the readings that are written with this.
        let machineID: (text: String, readMs: Int64)?

        package init(
            vehicle: String, kind: VehicleKind, model: String?, partition: Int32, lastMs: Int64?,
            machineID: (text: String, readMs: Int64)? = nil
        ) {
            self.vehicle = vehicle
            self.kind = kind
            self.model = model
            self.partition = partition
            self.lastMs = lastMs
            self.machineID = machineID
        }
    }

    package static func write(_ rows: [Row], on connection: Connection) throws {
        guard !rows.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO vehicle (vehicle, kind, model, topic_partition, last_reading_at, machine_id, machine_id_at)
            SELECT vehicle, kind, nullif(model, ''), topic_partition, nullif(last_reading_at, 'epoch'),
                nullif(machine_id, ''), nullif(machine_id_at, 'epoch')
            FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[], $6::text[], $7::timestamptz[])
                AS row(vehicle, kind, model, topic_partition, last_reading_at, machine_id, machine_id_at)
            ON CONFLICT (kind, vehicle) DO UPDATE SET
                model = CASE WHEN EXCLUDED.last_reading_at >= vehicle.last_reading_at THEN EXCLUDED.model ELSE vehicle.model END,
                topic_partition = EXCLUDED.topic_partition,
                last_reading_at = greatest(vehicle.last_reading_at, EXCLUDED.last_reading_at),
                machine_id = CASE WHEN EXCLUDED.machine_id_at >= coalesce(vehicle.machine_id_at, '-infinity')
                    THEN EXCLUDED.machine_id ELSE vehicle.machine_id END,
                machine_id_at = greatest(vehicle.machine_id_at, EXCLUDED.machine_id_at)
            """,
            [
                .textArray(rows.map(\.vehicle)), .textArray(rows.map(\.kind.rawValue)),
                .textArray(rows.map { $0.model ?? "" }),
                .int4Array(rows.map(\.partition)), .timestampArray(rows.map { $0.lastMs ?? 0 }),
                .textArray(rows.map { $0.machineID?.text ?? "" }),
                .timestampArray(rows.map { $0.machineID?.readMs ?? 0 }),
            ])
    }

    /// Precondition: the readings are written. Looks up again what these machines were called last.
    static func findMachineID(of vehicles: [String], on connection: Connection) throws {
        guard !vehicles.isEmpty else { return }
        try connection.query(
            """
            UPDATE vehicle v SET machine_id = said.machine_id, machine_id_at = said.read_at
            FROM unnest($1::text[]) AS asked(vehicle)
            LEFT JOIN LATERAL (
                SELECT r.machine_id, r.read_at FROM machine_reading r
                WHERE r.vehicle = asked.vehicle AND r.machine_id <> '' ORDER BY r.read_at DESC LIMIT 1) AS said ON true
            WHERE v.kind = 'machine' AND v.vehicle = asked.vehicle
            """, [.textArray(vehicles)])
    }
}
