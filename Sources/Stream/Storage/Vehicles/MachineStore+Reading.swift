package import Alerts
internal import Basics
package import Fleet
package import Pipeline
package import Postgres

/// Reads machines and rule sets back. All SQL of one kind of question is one statement, whatever the number of machines.
extension MachineStore {
    // MARK: Taking over

    /// The partition's rule sets. A row that is no rule set is a fault of the database: it is said, not skipped.
    ///
    /// - Parameter before: only those of records before this offset; nil: all.
    package static func rules(
        partition: Int32, before offset: Int64? = nil, on connection: Connection
    ) throws -> RuleTimeline {
        let rows = try connection.query(
            "SELECT in_force_at, rules FROM rule_set WHERE topic_partition = $1 AND record_offset < $2",
            [.int4(partition), .int8(offset ?? .max)])
        return RuleTimeline(
            try rows.map {
                RuleTimeline.Entry(
                    inForceMs: try $0.timestampMs("in_force_at")!, rules: try RuleSet(text: try $0.text("rules")!))
            })
    }

    /// The first record of each partition that is not written yet.
    package static func offsets(on connection: Connection) throws -> [Int32: Int64] {
        let rows = try connection.query(
            "SELECT partition, next_offset FROM partition_progress WHERE topic = $1", [.text(Topic.machines)])
        return Dictionary(
            uniqueKeysWithValues: try rows.map {
                (Int32(try $0.int("partition")!), Int64(try $0.int("next_offset")!))
            })
    }

    /// The machines of which the clock opens an alert, and when.
    package static func deadlines(
        partition: Int32, of selection: VehicleSelection, on connection: Connection
    ) throws -> [(vehicle: VehicleID, ms: Int64)] {
        try connection.query(
            """
            SELECT vehicle, next_deadline_at FROM vehicle
            WHERE topic_partition = $1 AND kind = 'machine' AND next_deadline_at IS NOT NULL
                AND \(selection.condition("vehicle", 2))
            """, [.int4(partition)] + selection.parameters
        ).map { (VehicleID(try $0.text("vehicle")!)!, try $0.timestampMs("next_deadline_at")!) }
    }

    package static func rejudging(
        partition: Int32, on connection: Connection
    ) throws -> [VehicleID: Rejudging] {
        try rejudging("topic_partition = $1", .int4(partition), on: connection)
    }

    /// Rejudgings that these machines wait for.
    static func rejudging(of vehicles: [VehicleID], on connection: Connection) throws -> [VehicleID: Rejudging] {
        try rejudging("vehicle = ANY ($1::text[])", .textArray(vehicles.map(\.text)), on: connection)
    }

    private static func rejudging(
        _ condition: String, _ parameter: Parameter, on connection: Connection
    ) throws -> [VehicleID: Rejudging] {
        Dictionary(
            uniqueKeysWithValues: try connection.query(
                """
                SELECT vehicle, from_at, until_at, asked_offset, is_late, has_begun, again_from_at, again_until_at
                FROM machine_rejudging WHERE \(condition)
                """, [parameter]
            ).map { row in
                var asked = Rejudging(
                    Rejudging.Span(
                        fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!),
                    askedOffset: Int64(try row.int("asked_offset")!), isLate: try row.bool("is_late")!,
                    hasBegun: try row.bool("has_begun")!)
                if let fromMs = try row.timestampMs("again_from_at"),
                    let untilMs = try row.timestampMs("again_until_at")
                {
                    asked.again = Rejudging.Span(fromMs: fromMs, untilMs: untilMs)
                }
                return (VehicleID(try row.text("vehicle")!)!, asked)
            })
    }

    // MARK: Reading back

    /// Adds what a partition needs to what was read back before.
    package static func read(
        _ needs: MachineNeeds, partition: Int32, of selection: VehicleSelection = .all,
        into histories: inout MachineHistories, on connection: Connection
    ) throws {
        try read(needs.machines, into: &histories, on: connection)
        try read(needs.places, into: &histories, on: connection)
        guard let page = needs.page else { return }
        histories.page = try MachineSpreadStore.read(page, partition, of: selection, on: connection)
    }

    /// No reading is older, and a timestamptz does not reach as far as an Int64.
    static func from(_ ms: Int64) -> Parameter { .timestampMs(clamped(ms)) }
    private static func clamped(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }

    private static func read(
        _ places: [MachinePlace], into histories: inout MachineHistories, on connection: Connection
    ) throws {
        guard !places.isEmpty else { return }
        for place in places { histories.places.updateValue(nil, forKey: place) }
        let names = reading.columns.map { "r.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            SELECT \(names) FROM unnest($1::text[], $2::timestamptz[]) AS place(vehicle, read_at)
            JOIN machine_reading r USING (vehicle, read_at)
            """, [.textArray(places.map(\.vehicle.text)), .timestampArray(places.map(\.ts))])
        {
            let row = try machineRow(row)
            histories.places[MachinePlace(vehicle: row.reading.vehicle, ts: row.reading.ts)] = row
        }
    }

    private static func read(
        _ queries: [MachineQuery], into histories: inout MachineHistories, on connection: Connection
    ) throws {
        guard !queries.isEmpty else { return }
        let asked: [Parameter] = [
            .textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map { clamped($0.fromMs) }),
        ]
        for query in queries {
            histories.machines[query.vehicle] = MachineHistory(before: .nothing, rowsMax: query.rowsMax)
        }
        var (lastMs, open): ([VehicleID: Int64], [Episode]) = ([:], [])
        for row in try connection.query(
            """
            SELECT asked.vehicle, before.read_at, before.alert_state
            FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS asked(vehicle, from_at, rows_max)
            CROSS JOIN LATERAL (
                SELECT read_at, alert_state FROM machine_reading r
                WHERE r.vehicle = asked.vehicle AND r.read_at < asked.from_at
                    -- Pieces go on past readings that wait to be judged after them.
                    AND (r.alert_state <> '' OR asked.rows_max = 0)
                ORDER BY r.read_at DESC LIMIT 1) AS before
            """, asked + [.int8Array(queries.map { Int64($0.rowsMax) })])
        {
            let vehicle = VehicleID(try row.text("vehicle")!)!
            let beforeMs = try row.timestampMs("read_at")!
            let state = try? AlertFold(packed: row.bytes("alert_state")!)
            histories.machines[vehicle]?.before = state.map { .state($0) } ?? .unknown(lastMs: beforeMs)
            lastMs[vehicle] = beforeMs
            open += state?.open ?? []
        }
        let paged = queries.filter { $0.rowsMax > 0 }
        if !paged.isEmpty { try readRows(paged, into: &histories, on: connection) }
        try readTold(queries.map { ($0.vehicle, lastMs[$0.vehicle]) }, open: open, into: &histories, on: connection)
        for (vehicle, services) in try ActionStore.services(of: queries.map(\.vehicle), on: connection) {
            histories.machines[vehicle]?.services = services
        }
    }

    private static func readRows(
        _ queries: [MachineQuery], into histories: inout MachineHistories, on connection: Connection
    ) throws {
        let names = reading.columns.map { "r.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            SELECT \(names) FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS asked(vehicle, from_at, rows_max)
            CROSS JOIN LATERAL (
                SELECT * FROM machine_reading m
                WHERE m.vehicle = asked.vehicle AND m.read_at >= asked.from_at ORDER BY m.read_at LIMIT asked.rows_max) AS r
            ORDER BY r.vehicle, r.read_at
            """,
            [
                .textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map { clamped($0.fromMs) }),
                // One more than asked for tells whether there are more.
                .int8Array(queries.map { Int64($0.rowsMax) + 1 }),
            ])
        {
            let row = try machineRow(row)
            histories.machines[row.reading.vehicle]?.rows.append(row)
        }
        for query in queries where histories.machines[query.vehicle]!.rows.count > query.rowsMax {
            histories.machines[query.vehicle]!.rows.removeLast()
            histories.machines[query.vehicle]!.isWhole = false
        }
    }

    private static func machineRow(_ row: Row) throws -> MachineRow {
        MachineRow(
            reading: try machineReading(row), offset: Int64(try row.int("record_offset") ?? -1),
            state: try? AlertFold(packed: row.bytes("alert_state")!))
    }

    /// Reads alerts for which `ToldAlert.isReached` holds true. `lastMs` nil: all.
    private static func readTold(
        _ machines: [(vehicle: VehicleID, lastMs: Int64?)], open: [Episode], into histories: inout MachineHistories,
        on connection: Connection
    ) throws {
        let names = alert.columns.map { "a.\($0)" }.joined(separator: ", ")
        var told: [VehicleID: [ToldAlert]] = [:]
        for row in try connection.query(
            """
            WITH reached(vehicle, from_at, parameter) AS (
                SELECT vehicle, last_at, NULL FROM unnest($1::text[], $2::timestamptz[]) AS machine(vehicle, last_at)
                UNION ALL SELECT * FROM unnest($3::text[], $4::timestamptz[], $5::text[])),
            found AS (
                SELECT a.alert_id FROM reached r JOIN alert a USING (vehicle)
                WHERE a.kind = 'machine' AND coalesce(r.parameter = a.parameter, true) AND a.first_opened_at >= r.from_at
                UNION
                SELECT a.alert_id FROM reached r JOIN alert a USING (vehicle)
                WHERE a.kind = 'machine' AND coalesce(r.parameter = a.parameter, true)
                    AND a.state <> 'withdrawn' AND a.resolved_at > r.from_at
                UNION
                SELECT a.alert_id FROM reached r JOIN alert a USING (vehicle)
                WHERE a.kind = 'machine' AND a.state <> 'withdrawn' AND a.resolved_at IS NULL)
            SELECT \(names) FROM found JOIN alert a USING (alert_id) ORDER BY a.vehicle, a.opened_at, a.alert_id
            """,
            [
                .textArray(machines.map(\.vehicle.text)),
                .timestampArray(machines.map { clamped($0.lastMs ?? .min) }),
                .textArray(open.map(\.vehicle.text)), .timestampArray(open.map(\.openedMs)),
                .textArray(open.map(\.name)),
            ])
        {
            let alert = try toldAlert(row)
            told[alert.episode.vehicle, default: []].append(alert)
        }
        for (vehicle, alerts) in told { histories.machines[vehicle]!.told = ToldAlerts(alerts) }
    }

    // MARK: A machine's history, for readers

    package static func services(of vehicle: VehicleID, on connection: Connection) throws -> ServiceLog {
        try ActionStore.services(of: [vehicle], on: connection)[vehicle] ?? .none
    }

    /// The machines whose latest reading is of this model, with their partitions.

    package static func machines(
        of model: String, on connection: Connection
    ) throws -> [(vehicle: VehicleID, partition: Int32)] {
        try connection.query(
            """
            SELECT vehicle, topic_partition FROM vehicle WHERE kind = 'machine' AND model = $1
            ORDER BY vehicle COLLATE "C"
            """, [.text(model)]
        ).map { (VehicleID(try $0.text("vehicle")!)!, Int32(try $0.int("topic_partition")!)) }
    }

    /// One, with its partition; empty where it has not reported.
    package static func machine(
        _ vehicle: VehicleID, on connection: Connection
    ) throws -> [(vehicle: VehicleID, partition: Int32)] {
        try connection.query(
            "SELECT topic_partition FROM vehicle WHERE kind = 'machine' AND vehicle = $1", [.text(vehicle.text)]
        ).map { (vehicle, Int32(try $0.int("topic_partition")!)) }
    }

    /// The stored readings from a time on, in the order of their times, as many as asked for.
    package static func readings(
        of vehicle: VehicleID, fromMs: Int64, rowsMax: Int, on connection: Connection
    ) throws -> [MachineReading] {
        try connection.query(
            """
            SELECT \(reading.columns.filter { $0 != "alert_state" }.joined(separator: ", ")) FROM machine_reading
            WHERE vehicle = $1 AND read_at >= $2 ORDER BY read_at LIMIT $3
            """, [.text(vehicle.text), from(fromMs), .int8(Int64(rowsMax))]
        ).map(machineReading)
    }

    /// Alerts of one parameter that people were told of and that were not withdrawn.
    package static func alerts(
        of vehicle: VehicleID, _ parameter: MachineParameter, on connection: Connection
    ) throws -> [Episode] {
        try connection.query(
            """
            SELECT \(alert.columns.joined(separator: ", ")) FROM alert
            WHERE vehicle = $1 AND kind = 'machine' AND state <> 'withdrawn' ORDER BY opened_at, alert_id
            """, [.text(vehicle.text)]
        ).map { try toldAlert($0).episode }.filter { $0.parameter == parameter }
    }

    /// The partition's greatest tick; nil before the first.
    package static func clockMs(partition: Int32, on connection: Connection) throws -> Int64? {
        try connection.query(
            "SELECT clock_at FROM partition_progress WHERE topic = $1 AND partition = $2",
            [.text(Topic.machines), .int4(partition)]
        ).map { try $0.timestampMs("clock_at") }.first ?? nil
    }

    static func toldAlert(_ row: Row) throws -> ToldAlert {
        func thousandths(_ column: String) throws -> Int64? {
            try row.double(column).flatMap { Decimal.scaled($0, decimals: 3) }
        }
        let (state, name): (AlertState, String) = (try row.word("state")!, try row.text("parameter")!)
        let resolvedMs = try row.timestampMs("resolved_at")
        guard
            let episode = Episode(
                vehicle: VehicleID(try row.text("vehicle")!)!, model: try row.text("account") ?? row.text("model")!,
                name: name,
                unit: try row.text("unit")!, severity: try row.word("severity")!,
                isSoon: state == .dueSoon, test: try row.word("test")!,
                threshold: try thousandths("threshold"), sinceMs: try row.timestampMs("since_at")!,
                openedMs: try row.timestampMs("opened_at")!, openingValue: try thousandths("opening_value"),
                worstValue: try thousandths("worst_value"), worstMs: try row.timestampMs("worst_at")!,
                resolvedMs: resolvedMs, audience: try row.word("audience")!,
                recommended: try thousandths("recommended"), advice: try row.text("advice"),
                rulesVersion: try row.text("rules_version")!)
        else {
            throw StoredRowFault(description: "alert: \(try row.text("alert_id")!) is no alert of this program")
        }
        return ToldAlert(
            id: try row.text("alert_id")!, firstOpenedMs: try row.timestampMs("first_opened_at")!,
            toldMs: try row.timestampMs("told_at"), resolvedToldMs: try row.timestampMs("resolved_told_at"),
            episode: episode, isWithdrawn: state == .withdrawn, revision: Int32(try row.int("revision")!),
            revisedMs: try row.timestampMs("revised_at"))
    }

    static func value(_ parameter: MachineParameter, _ column: String, _ row: Row) throws -> Int64? {
        switch parameter.row.kind {
        case .number: try row.double(column).flatMap { Decimal.scaled($0, decimals: 3) }
        case .count: try row.int(column).map { Int64($0) }
        case .flag: try row.bool(column).map { $0 ? 1 : 0 }
        case .time: try row.timestampMs(column)
        }
    }

    private static func machineReading(_ row: Row) throws -> MachineReading {
        var reading = MachineReading(
            vehicle: VehicleID(try row.text("vehicle")!)!, ts: try row.timestampMs("read_at")!,
            id: try row.text("reading_id")!, model: try row.text("model")!)
        reading.serial = try row.text("serial")
        reading.firmware = try row.text("firmware")
        reading.machineID = try row.text("machine_id")
        for (parameter, column) in MachineStore.parameters {
            reading.values[parameter] = try value(parameter, column, row)
        }
        reading.latitude = try row.double("latitude_deg").flatMap { Decimal.scaled($0, decimals: 7) }.map { Int32($0) }
        reading.longitude = try row.double("longitude_deg").flatMap { Decimal.scaled($0, decimals: 7) }.map {
            Int32($0)
        }
        reading.connectedDevices = try row.textArray("connected_device_names").map { $0.compactMap { $0 } }
        reading.isReporting = try row.bool("is_reporting")!
        reading.isPartial = try row.bool("is_partial")!
        return reading
    }
}

/// A row that this program did not write.
package struct StoredRowFault: Error, CustomStringConvertible { package let description: String }
