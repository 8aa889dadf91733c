internal import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// Machines and their alerts in PostgreSQL: reads history back, writes the rows of a batch. Decides nothing.
package enum MachineStore {
    /// One row a parameter, in the order of the COPY: the column and how its stored integer looks there.
    private static let parameters: [(parameter: MachineParameter, column: String)] = [
        (.engineHours, "engine_hours_h"), (.engineTurnOnCount, "engine_turn_on_count"),
        (.keyTurnOnCount, "key_turn_on_count"),
        (.fuelLevel, "fuel_level_gal"), (.coolantTemperature, "coolant_c"),
        (.hydraulicOilTemperature, "hydraulic_oil_c"),
        (.tirePressure, "tire_pressure_kpa"), (.gpsAvailable, "gps_available"), (.gpsFixTime, "gps_fix_at"),
        (.rdaLicense, "rda_license"), (.wdtLicense, "wdt_license"), (.machineSync, "machine_sync"),
        (.connectedDevices, "connected_devices"), (.lastCellCallIn, "last_cell_call_in_at"),
        (.lastReprogrammingStatus, "last_reprogramming_ok"), (.lastReprogrammingTime, "last_reprogramming_at"),
    ]
    private static let texts = ["vehicle", "read_at", "reading_id", "model", "serial", "firmware"]
    private static let tail = ["latitude_deg", "longitude_deg", "connected_device_names", "alert_state"]

    private static let reading = StagedTable(
        name: "machine_reading", columns: texts + parameters.map(\.column) + tail, key: ["vehicle", "read_at"])
    private static let alert = StagedTable(
        name: "alert",
        columns: [
            "alert_id", "vehicle", "model", "parameter", "unit", "severity", "state", "test", "threshold", "since_at",
            "opened_at", "opening_value", "worst_value", "worst_at", "resolved_at", "audience", "recommended", "advice",
            "rules_version",
        ], key: ["alert_id"])

    package static func prepare(_ connection: Connection) throws {
        for table in [reading, alert] { try connection.execute(table.create) }
    }

    // MARK: Reading back

    package static func history(_ queries: [HistoryQuery], on connection: Connection) throws -> [VehicleID:
        MachineHistory]
    {
        var histories = Dictionary(uniqueKeysWithValues: queries.map { ($0.vehicle, MachineHistory.none) })
        guard !queries.isEmpty else { return histories }
        let asked: [Parameter] = [.textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map(\.fromMs))]
        for row in try connection.query(
            """
            SELECT asked.vehicle, before.alert_state
            FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            CROSS JOIN LATERAL (
                SELECT alert_state FROM drover.machine_reading r
                WHERE r.vehicle = asked.vehicle AND r.read_at < asked.from_at ORDER BY r.read_at DESC LIMIT 1) AS before
            """, asked)
        {
            histories[VehicleID(try row.text("vehicle")!)!]?.stateBefore = try AlertFold(
                packed: row.bytes("alert_state")!)
        }
        let names = reading.columns.map { "r.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            SELECT \(names) FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            JOIN drover.machine_reading r ON r.vehicle = asked.vehicle AND r.read_at >= asked.from_at
            ORDER BY r.vehicle, r.read_at
            """, asked)
        {
            let reading = try machineReading(row)
            histories[reading.vehicle]?.readings.append(reading)
        }
        for row in try connection.query(
            """
            SELECT a.vehicle, a.alert_id FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            JOIN drover.alert a ON a.vehicle = asked.vehicle AND a.state <> 'withdrawn'
                AND (a.resolved_at IS NULL OR a.resolved_at > coalesce(
                    (SELECT max(r.read_at) FROM drover.machine_reading r
                     WHERE r.vehicle = asked.vehicle AND r.read_at < asked.from_at), '-infinity'))
            """, asked)
        {
            histories[VehicleID(try row.text("vehicle")!)!]?.alertIDs.insert(try row.text("alert_id")!)
        }
        return histories
    }

    private static func machineReading(_ row: Row) throws -> MachineReading {
        var reading = MachineReading(
            vehicle: VehicleID(try row.text("vehicle")!)!, ts: try row.timestampMs("read_at")!,
            id: try row.text("reading_id")!, model: try row.text("model")!)
        (reading.serial, reading.firmware) = (try row.text("serial"), try row.text("firmware"))
        for (parameter, column) in parameters {
            switch parameter.row.kind {
            case .number: reading.values[parameter] = try row.double(column).flatMap { Decimal.scaled($0, decimals: 3) }
            case .count: reading.values[parameter] = try row.int(column).map { Int64($0) }
            case .flag: reading.values[parameter] = try row.bool(column).map { $0 ? 1 : 0 }
            case .time: reading.values[parameter] = try row.timestampMs(column)
            }
        }
        reading.latitude = try row.double("latitude_deg").flatMap { Decimal.scaled($0, decimals: 7) }.map { Int32($0) }
        reading.longitude = try row.double("longitude_deg").flatMap { Decimal.scaled($0, decimals: 7) }.map {
            Int32($0)
        }
        reading.connectedDevices = try row.textArray("connected_device_names").map { $0.compactMap { $0 } }
        return reading
    }

    // MARK: Writing

    /// Precondition: within the transaction that moves the offsets; one change a machine.
    package static func write(_ changes: [MachineChange], on connection: Connection) throws {
        try reading.write(changes.flatMap(\.readings), on: connection) {
            (row: (reading: MachineReading, state: AlertFold), copy: inout BinaryCopy) in
            fill(row.reading, row.state, &copy)
        }
        try alert.write(changes.flatMap(\.episodes), on: connection) { (episode, copy: inout BinaryCopy) in
            fill(episode, &copy)
        }
        let withdrawn = changes.flatMap(\.withdrawnIDs)
        guard !withdrawn.isEmpty else { return }
        try connection.query(
            "UPDATE drover.alert SET state = 'withdrawn' WHERE alert_id = ANY($1::text[])", [.textArray(withdrawn)])
    }

    private static func fill(_ reading: MachineReading, _ state: AlertFold, _ copy: inout BinaryCopy) {
        copy.text(reading.vehicle.text)
        copy.timestampMs(reading.ts)
        copy.text(reading.id)
        copy.text(reading.model)
        copy.text(reading.serial)
        copy.text(reading.firmware)
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
        copy.bytea(state.packed)
    }

    private static func fill(_ episode: Episode, _ copy: inout BinaryCopy) {
        func thousandths(_ value: Int64?) -> Double? { value.map { Double($0) / 1_000 } }
        copy.text(episode.id)
        copy.text(episode.vehicle.text)
        copy.text(episode.model)
        copy.text(episode.name)
        copy.text(episode.unit)
        copy.text(episode.severity.rawValue)
        copy.text(episode.state.rawValue)
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
    }
}
