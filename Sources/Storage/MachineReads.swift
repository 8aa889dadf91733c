package import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// Reads machines and rule sets back. All SQL of one kind of question is one statement, whatever the number of machines.
extension MachineStore {
    // MARK: Taking over

    /// The partition's rule sets. A row that is no rule set is a fault of the database: it is said, not skipped.
    package static func rules(partition: Int32, on connection: Connection) throws -> RuleTimeline {
        let rows = try connection.query(
            "SELECT in_force_at, rules FROM rule_set WHERE topic_partition = $1", [.int4(partition)])
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

    /// The book of a partition that is taken over: its rule sets and the machines that have a deadline. `clockMs` is the
    /// partition's clock as stored with its offset; `rebuilt` counts machines judged again from their first reading,
    /// because a stored state could not be decoded.
    package static func load(
        partition: Int32, clockMs: Int64?, on connection: Connection
    ) throws -> (book: MachineBook, rebuilt: Int) {
        var (book, rebuilt) = (
            MachineBook(rules: try rules(partition: partition, on: connection), clockMs: clockMs), 0
        )
        let rows = try connection.query(
            """
            SELECT vehicle, last_reading_at FROM vehicle
            WHERE topic_partition = $1 AND kind = 'machine' AND next_deadline_at IS NOT NULL
            """, [.int4(partition)])
        // Nothing is stored after the latest reading: only the state before, and what is open.
        let queries = try rows.map {
            MachineQuery(
                vehicle: VehicleID(try $0.text("vehicle")!)!, fromMs: try $0.timestampMs("last_reading_at")! + 1,
                rowsMax: nil)
        }
        for start in stride(from: 0, to: queries.count, by: loadedAtOnce) {
            var histories = MachineHistories()
            try read(Array(queries[start...].prefix(loadedAtOnce)), into: &histories, on: connection)
            rebuilt += book.restore(histories.machines)
        }
        return (book, rebuilt)
    }

    /// Machines whose whole history may have to be in memory together.
    private static let loadedAtOnce = 200

    // MARK: Reading back

    /// Takes events, reading back what that needs. Outside of the transaction that writes what it gives.
    package static func take(
        _ events: [MachineEvent], into book: inout MachineBook, partition: Int32, on connection: Connection
    ) throws -> MachineChanges {
        var histories = MachineHistories()
        while true {
            switch book.take(events, histories: histories) {
            case .taken(let changes): return changes
            case .needs(let needs): try read(needs, partition: partition, into: &histories, on: connection)
            }
        }
    }

    /// Adds what a book needs to what was read back before.
    package static func read(
        _ needs: MachineNeeds, partition: Int32, into histories: inout MachineHistories, on connection: Connection
    ) throws {
        try read(needs.machines, into: &histories, on: connection)
        guard let sinceMs = needs.reportedSinceMs else { return }
        let rows = try connection.query(
            """
            SELECT vehicle FROM vehicle
            WHERE topic_partition = $1 AND kind = 'machine' AND last_reading_at >= $2
            """, [.int4(partition), from(sinceMs)])
        histories.reportedSince = (sinceMs, Set(try rows.map { VehicleID(try $0.text("vehicle")!)! }))
    }

    /// No reading is older, and a timestamptz does not reach as far as an Int64.
    private static func from(_ ms: Int64) -> Parameter { .timestampMs(clamped(ms)) }
    private static func clamped(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }

    private static func read(
        _ queries: [MachineQuery], into histories: inout MachineHistories, on connection: Connection
    ) throws {
        guard !queries.isEmpty else { return }
        let broken = try readOnce(queries, into: &histories, on: connection)
        guard !broken.isEmpty else { return }
        // The state to start from cannot be decoded: start from the first reading instead.
        _ = try readOnce(
            broken.map { MachineQuery(vehicle: $0, fromMs: .min, rowsMax: nil) }, into: &histories, on: connection)
    }

    /// Returns machines whose state before cannot be decoded.
    private static func readOnce(
        _ queries: [MachineQuery], into histories: inout MachineHistories, on connection: Connection
    ) throws -> [VehicleID] {
        var broken: [VehicleID] = []
        let asked: [Parameter] = [
            .textArray(queries.map(\.vehicle.text)), .timestampArray(queries.map { clamped($0.fromMs) }),
        ]
        for query in queries {
            histories.machines[query.vehicle] = MachineHistory(
                fromMs: query.fromMs, before: nil, rows: [], isWhole: true, told: ToldAlerts())
        }
        for row in try connection.query(
            """
            SELECT asked.vehicle, before.alert_state
            FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            CROSS JOIN LATERAL (
                SELECT alert_state FROM machine_reading r
                WHERE r.vehicle = asked.vehicle AND r.read_at < asked.from_at ORDER BY r.read_at DESC LIMIT 1) AS before
            """, asked)
        {
            let vehicle = VehicleID(try row.text("vehicle")!)!
            guard let state = try? AlertFold(packed: row.bytes("alert_state")!) else {
                broken.append(vehicle)
                continue
            }
            histories.machines[vehicle]?.before = state
        }
        try readRows(queries, asked, into: &histories, on: connection)
        try readTold(asked, into: &histories, on: connection)
        for (vehicle, services) in try ActionStore.services(of: queries.map(\.vehicle), on: connection) {
            histories.machines[vehicle]?.services = services
        }
        return broken
    }

    private static func readRows(
        _ queries: [MachineQuery], _ asked: [Parameter], into histories: inout MachineHistories,
        on connection: Connection
    ) throws {
        let names = reading.columns.map { "r.\($0)" }.joined(separator: ", ")
        // One more than asked for tells whether there are more.
        let limits = queries.map { Int64($0.rowsMax.map { $0 + 1 } ?? Int(Int32.max)) }
        for row in try connection.query(
            """
            SELECT \(names) FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS asked(vehicle, from_at, rows_max)
            CROSS JOIN LATERAL (
                SELECT * FROM machine_reading m
                WHERE m.vehicle = asked.vehicle AND m.read_at >= asked.from_at ORDER BY m.read_at LIMIT asked.rows_max) AS r
            ORDER BY r.vehicle, r.read_at
            """, asked + [.int8Array(limits)])
        {
            let reading = try machineReading(row)
            let state = try? AlertFold(packed: row.bytes("alert_state")!)
            histories.machines[reading.vehicle]?.rows.append(
                MachineRow(reading: reading, offset: Int64(try row.int("record_offset") ?? -1), state: state))
        }
        for query in queries {
            guard let rowsMax = query.rowsMax, histories.machines[query.vehicle]!.rows.count > rowsMax else { continue }
            histories.machines[query.vehicle]!.rows.removeLast()
            histories.machines[query.vehicle]!.isWhole = false
        }
    }

    private static func readTold(
        _ asked: [Parameter], into histories: inout MachineHistories, on connection: Connection
    ) throws {
        let names = alert.columns.map { "a.\($0)" }.joined(separator: ", ")
        for row in try connection.query(
            """
            SELECT \(names) FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            CROSS JOIN LATERAL (
                SELECT coalesce(max(r.read_at), '-infinity') AS at FROM machine_reading r
                WHERE r.vehicle = asked.vehicle AND r.read_at < asked.from_at) AS before
            JOIN alert a ON a.vehicle = asked.vehicle AND a.kind = 'machine'
                AND (a.first_opened_at >= before.at
                     OR a.state <> 'withdrawn' AND (a.resolved_at IS NULL OR a.resolved_at > before.at))
            ORDER BY a.vehicle, a.opened_at, a.alert_id
            """, asked)
        {
            let alert = try toldAlert(row)
            let vehicle = alert.episode.vehicle
            let before = histories.machines[vehicle]!.told.all
            histories.machines[vehicle]!.told = ToldAlerts(before + [alert])
        }
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

    /// What people were told of one parameter and was not withdrawn.
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
        let (state, name) = (try row.text("state")!, try row.text("parameter")!)
        let resolvedMs = try row.timestampMs("resolved_at")
        guard
            let episode = Episode(
                vehicle: VehicleID(try row.text("vehicle")!)!, model: try row.text("account") ?? row.text("model")!,
                name: name,
                unit: try row.text("unit")!, severity: try row.text("severity")!,
                isSoon: state == Episode.State.dueSoon.rawValue, test: try row.text("test")!,
                threshold: try thousandths("threshold"), sinceMs: try row.timestampMs("since_at")!,
                openedMs: try row.timestampMs("opened_at")!, openingValue: try thousandths("opening_value"),
                worstValue: try thousandths("worst_value"), worstMs: try row.timestampMs("worst_at")!,
                resolvedMs: resolvedMs, audience: try row.text("audience")!,
                recommended: try thousandths("recommended"), advice: try row.text("advice"),
                rulesVersion: try row.text("rules_version")!)
        else {
            throw StoredRowFault(description: "alert: \(try row.text("alert_id")!) is no alert of this program")
        }
        return ToldAlert(
            id: try row.text("alert_id")!, firstOpenedMs: try row.timestampMs("first_opened_at")!,
            toldMs: try row.timestampMs("told_at"), resolvedToldMs: try row.timestampMs("resolved_told_at"),
            episode: episode, isWithdrawn: state == "withdrawn", revision: Int32(try row.int("revision")!),
            revisedMs: try row.timestampMs("revised_at"))
    }

    private static func machineReading(_ row: Row) throws -> MachineReading {
        var reading = MachineReading(
            vehicle: VehicleID(try row.text("vehicle")!)!, ts: try row.timestampMs("read_at")!,
            id: try row.text("reading_id")!, model: try row.text("model")!)
        (reading.serial, reading.firmware) = (try row.text("serial"), try row.text("firmware"))
        for (parameter, column) in MachineStore.parameters {
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
        reading.isReporting = try row.bool("is_reporting")!
        reading.isPartial = try row.bool("is_partial")!
        return reading
    }
}

/// A row that this program did not write.
package struct StoredRowFault: Error, CustomStringConvertible { package let description: String }
