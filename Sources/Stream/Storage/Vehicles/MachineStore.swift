internal import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// Machines and their alerts in PostgreSQL: writes the rows of a batch. Reading back: MachineStore+Reading.swift. Decides nothing.
package enum MachineStore {
    /// One row a parameter, in the order of the COPY: the column and how its stored integer looks there.
    package static let parameters: [(parameter: MachineParameter, column: String)] = [
        (.engineHours, "engine_hours_h"), (.engineTurnOnCount, "engine_turn_on_count"),
        (.keyTurnOnCount, "key_turn_on_count"),
        (.fuelLevel, "fuel_level_gal"), (.coolantTemperature, "coolant_c"),
        (.hydraulicOilTemperature, "hydraulic_oil_c"),
        (.tirePressure, "tire_pressure_kpa"), (.gpsAvailable, "gps_available"), (.gpsFixTime, "gps_fix_at"),
        (.rdaLicense, "rda_license"), (.wdtLicense, "wdt_license"), (.machineSync, "machine_sync"),
        (.connectedDevices, "connected_devices"), (.lastCellCallIn, "last_cell_call_in_at"),
        (.lastReprogrammingStatus, "last_reprogramming_ok"), (.lastReprogrammingTime, "last_reprogramming_at"),
        (.contact, "contact"),
    ]
    /// The column of a parameter as shown to people.
    package static func column(ofName name: String) -> String? {
        guard case .parameter(let parameter)? = ThresholdField(anyName: name) else { return nil }
        return parameters.first { $0.parameter == parameter }?.column
    }
    static let texts = ["vehicle", "read_at", "reading_id", "model", "serial", "firmware", "machine_id"]
    static let tail = [
        "latitude_deg", "longitude_deg", "connected_device_names", "is_reporting", "alert_state", "record_offset",
        "is_partial",
    ]

    static let reading = StagedTable(
        name: "machine_reading", columns: texts + parameters.map(\.column) + tail, key: ["vehicle", "read_at"],
        periodsBy: "read_at")
    static let alert = StagedTable(
        name: "alert",
        columns: [
            "alert_id", "vehicle", "model", "parameter", "unit", "severity", "state", "test", "threshold", "since_at",
            "opened_at", "opening_value", "worst_value", "worst_at", "resolved_at", "audience", "recommended", "advice",
            "rules_version", "first_opened_at", "revision", "revised_at", "told_at", "resolved_told_at", "kind",
            "account",
        ], key: ["alert_id"])

    package static let tables = [reading, alert]

    /// Precondition: within the transaction that moves the offsets, after the vehicles' rows; one change a machine.
    package static func write(_ changes: MachineChanges, partition: Int32, on connection: Connection) throws {
        try reading.write(changes.machines.flatMap(\.readings), on: connection) { (row, copy: inout BinaryCopy) in
            fill(row, &copy)
        }
        try VehicleStore.findMachineID(
            of: changes.machines.filter(\.isMachineIDLost).map(\.vehicle.text), on: connection)
        try alert.write(changes.machines.flatMap(\.alerts), on: connection) { (alert, copy: inout BinaryCopy) in
            fill(alert, &copy)
        }
        try ActionStore.write(changes.actions.map { ($0, nil) }, partition: partition, on: connection)
        try writeDeadlines(changes.machines.filter(\.isLatest), on: connection)
        try writeRejudging(changes.rejudging, partition: partition, on: connection)
        if let spreads = changes.spreads { try MachineSpreadStore.write(spreads, partition, on: connection) }
        for (entry, offset) in changes.rules {
            try connection.query(
                """
                INSERT INTO rule_set AS known (topic_partition, in_force_at, version, rules, record_offset)
                VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (topic_partition, in_force_at) DO UPDATE SET
                    version = EXCLUDED.version, rules = EXCLUDED.rules, record_offset = EXCLUDED.record_offset
                WHERE EXCLUDED.version COLLATE "C" > known.version COLLATE "C"
                """,
                [
                    .int4(partition), .timestampMs(entry.inForceMs), .text(entry.rules.version),
                    .text(entry.rules.text), .int8(offset),
                ])
        }
    }

    private static func writeDeadlines(_ changes: [MachineChange], on connection: Connection) throws {
        guard !changes.isEmpty else { return }
        try connection.query(
            """
            UPDATE vehicle v SET next_deadline_at = nullif(row.deadline_at, 'epoch'::timestamptz)
            FROM unnest($1::text[], $2::timestamptz[]) AS row(vehicle, deadline_at)
            WHERE v.kind = 'machine' AND v.vehicle = row.vehicle
                AND v.next_deadline_at IS DISTINCT FROM nullif(row.deadline_at, 'epoch'::timestamptz)
            """,
            [
                .textArray(changes.map(\.vehicle.text)),
                // An array parameter has no nil here: the epoch stands for none.
                .timestampArray(changes.map { $0.nextDeadlineMs ?? 0 }),
            ])
    }

    static func writeRejudging(
        _ changes: [VehicleID: Rejudging?], partition: Int32, on connection: Connection
    ) throws {
        let over = changes.filter { $0.value == nil }.map(\.key.text)
        if !over.isEmpty {
            try connection.query("DELETE FROM machine_rejudging WHERE vehicle = ANY ($1::text[])", [.textArray(over)])
        }
        let asked = changes.compactMap { vehicle, asked in asked.map { (vehicle, $0) } }
        guard !asked.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO machine_rejudging AS known (vehicle, topic_partition, from_at, until_at, asked_offset,
                is_late, has_begun, again_from_at, again_until_at)
            SELECT vehicle, $1, from_at, until_at, asked_offset, is_late, has_begun,
                CASE WHEN is_again THEN again_from_at END, CASE WHEN is_again THEN again_until_at END
            FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[], $5::bigint[], $6::boolean[], $7::boolean[],
                    $8::boolean[], $9::timestamptz[], $10::timestamptz[])
                AS row(vehicle, from_at, until_at, asked_offset, is_late, has_begun, is_again, again_from_at, again_until_at)
            ON CONFLICT (vehicle) DO UPDATE SET
                topic_partition = EXCLUDED.topic_partition, from_at = EXCLUDED.from_at, until_at = EXCLUDED.until_at,
                asked_offset = EXCLUDED.asked_offset, is_late = EXCLUDED.is_late, has_begun = EXCLUDED.has_begun,
                again_from_at = EXCLUDED.again_from_at, again_until_at = EXCLUDED.again_until_at
            """,
            [
                .int4(partition), .textArray(asked.map(\.0.text)), .timestampArray(asked.map(\.1.span.fromMs)),
                .timestampArray(asked.map(\.1.span.untilMs)), .int8Array(asked.map(\.1.askedOffset)),
                .boolArray(asked.map(\.1.isLate)), .boolArray(asked.map(\.1.hasBegun)),
                .boolArray(asked.map { $0.1.again != nil }), .timestampArray(asked.map { $0.1.again?.fromMs ?? 0 }),
                .timestampArray(asked.map { $0.1.again?.untilMs ?? 0 }),
            ])
    }

    private static func fill(_ row: MachineRow, _ copy: inout BinaryCopy) {
        let reading = row.reading
        copy.text(reading.vehicle.text)
        copy.timestampMs(reading.ts)
        copy.text(reading.id)
        copy.text(reading.model)
        copy.text(reading.serial)
        copy.text(reading.firmware)
        copy.text(reading.machineID)
        for (parameter, _) in parameters {
            let value = reading.values[parameter]
            switch parameter.row.kind {
            case .number: copy.float8(value.map { Double($0) / 1_000 })
            case .count: copy.int8(value)
            case .flag: copy.bool(value.map { $0 != 0 })
            case .time: copy.timestampMs(value)
            }
        }
        copy.float8(reading.latitude.map { Double($0) / 1e7 })
        copy.float8(reading.longitude.map { Double($0) / 1e7 })
        if let names = reading.connectedDevices { copy.textArray(names) } else { copy.null() }
        copy.bool(reading.isReporting)
        // A reading that waits to be judged has no state; the column has one, empty.
        copy.bytea(row.state?.packed ?? [])
        copy.int8(row.offset)
        copy.bool(reading.isPartial)
    }

    static func fill(_ alert: ToldAlert, _ copy: inout BinaryCopy) {
        func thousandths(_ value: Int64?) -> Double? { value.map { Double($0) / 1_000 } }
        let episode = alert.episode
        copy.text(alert.id)
        copy.text(episode.vehicle.text)
        let isCar = episode.parameter.isOfCars
        copy.text(isCar ? "" : episode.model)
        copy.text(episode.name)
        copy.text(episode.unit)
        copy.text(episode.severity.rawValue)
        copy.text(alert.state.rawValue)
        copy.text(episode.test.rawValue)
        copy.float8(thousandths(episode.threshold))
        copy.timestampMs(episode.sinceMs)
        copy.timestampMs(episode.openedMs)
        copy.float8(thousandths(episode.openingValue))
        copy.float8(thousandths(episode.worstValue))
        copy.timestampMs(episode.worstMs)
        copy.timestampMs(episode.resolvedMs)
        copy.text(episode.audience.rawValue)
        copy.float8(thousandths(episode.recommended))
        copy.text(episode.advice)
        copy.text(episode.rulesVersion)
        copy.timestampMs(alert.firstOpenedMs)
        copy.int4(alert.revision)
        copy.timestampMs(alert.revisedMs)
        copy.timestampMs(alert.toldMs)
        copy.timestampMs(alert.resolvedToldMs)
        copy.text(isCar ? "car" : "machine")
        copy.text(isCar ? episode.model : nil)
    }
}
