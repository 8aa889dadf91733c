package import Alerts
package import Fleet
package import Postgres
internal import Wire

/// What drivers' alerts are judged from, and the alerts, in PostgreSQL. All within the transaction that writes what asked
/// for it, so that it sees those rows. Decides nothing.
package enum DriverAlertStore {
    // MARK: Who and by what limits

    private static let accounts = """
        CROSS JOIN LATERAL (
            (SELECT o.account, o.owned_at FROM car_owner o WHERE o.vehicle = v.vehicle ORDER BY o.owned_at DESC LIMIT 1)
            UNION (SELECT a.account, a.assigned_at FROM assignment a WHERE a.vehicle = v.vehicle ORDER BY a.assigned_at DESC LIMIT 1)
            UNION (SELECT d.account, d.from_at FROM driving d WHERE d.vehicle = v.vehicle ORDER BY d.from_at DESC LIMIT 1)
        ) AS known(account, since_at)
        """

    /// The narrowest limits of all who may drive a car now, and since when nobody else's counted.
    package struct Known {
        package var limits = CarLimits.none
        package var sinceMs = Int64.min
    }

    /// Of these cars; one that nobody drives or owns is left out.
    package static func limits(
        of vehicles: [VehicleID], partition: Int32, on connection: Connection
    ) throws -> [VehicleID: Known] {
        try limits(
            connection.query(
                "SELECT v.vehicle, known.account, known.since_at FROM unnest($1::text[]) AS v(vehicle) \(accounts)",
                [.textArray(vehicles.map(\.text))]), partition, on: connection)
    }

    private static func limits(
        _ rows: Rows, _ partition: Int32, on connection: Connection
    ) throws -> [VehicleID: Known] {
        let told = try rows.map { (VehicleID(try $0.text(0)!)!, try $0.text(1), try $0.timestampMs(2)!) }
        let rules = try settings(of: Set(told.compactMap(\.1)), latest: 2, partition, on: connection)
        var known: [VehicleID: Known] = [:]
        for case (let vehicle, let account?, _) in told {
            let versions = rules[account] ?? []
            for settings in versions.isEmpty ? [.standard] : versions.map(\.settings) {
                known[vehicle, default: Known()].limits.formUnion(settings.limits)
            }
            guard let firstMs = versions.map(\.inForceMs).min() else { continue }
            known[vehicle]!.sinceMs = max(known[vehicle]!.sinceMs, firstMs)
        }
        // Also that nobody drives it any more.
        for (vehicle, _, ms) in told where known[vehicle] != nil {
            known[vehicle]!.sinceMs = max(known[vehicle]!.sinceMs, ms)
        }
        return known
    }

    /// - Parameter latest: so many versions of each, one of them may come into force only later; nil: all.
    private static func settings(
        of accounts: Set<String>, latest: Int?, _ partition: Int32, on connection: Connection
    ) throws -> [String: [DriverRules.Version]] {
        var found: [String: [DriverRules.Version]] = [:]
        for row in try connection.query(
            """
            SELECT asked.account, s.in_force_at, s.settings FROM unnest($1::text[]) AS asked(account)
            CROSS JOIN LATERAL (
                SELECT in_force_at, settings FROM account_settings s
                WHERE s.topic_partition = $2 AND s.account = asked.account ORDER BY in_force_at DESC LIMIT $3) AS s
            """, [.textArray(accounts.sorted()), .int4(partition), .int8(latest)])
        {
            // The worker refuses what is none. A row of a version that took more must not stop everybody's alerts.
            let settings = (try? DriverSettings(text: try row.text("settings")!)) ?? .standard
            found[try row.text("account")!, default: []].append(
                DriverRules.Version(inForceMs: try row.timestampMs("in_force_at")!, settings: settings))
        }
        return found
    }

    /// The cars of the partition that `account` may have driven or owned from a time on.
    package static func cars(
        of account: String, fromMs: Int64, partition: Int32, on connection: Connection
    ) throws -> [VehicleID] {
        try connection.query(
            """
            SELECT v.vehicle FROM vehicle v WHERE v.kind = 'car' AND v.topic_partition = $2 AND v.vehicle IN (
                SELECT vehicle FROM car_owner WHERE account = $1
                UNION SELECT vehicle FROM assignment WHERE account = $1
                UNION SELECT vehicle FROM driving WHERE account = $1 AND until_at >= $3)
            """, [.text(account), .int4(partition), .timestampMs(fromMs)]
        ).map { VehicleID(try $0.text(0)!)! }
    }

    /// Of a partition that is taken over: the cars that somebody drives or owns.
    package struct Watched {
        package let vehicle: VehicleID
        package let limits: Known
        /// Nil: it has said nothing yet.
        package let lastMs: Int64?
        /// Not later than its latest spell at the wheel began.
        package let spellMs: Int64
        package let open: [MachineParameter]
    }

    package static func watched(partition: Int32, on connection: Connection) throws -> [Watched] {
        let limits = try limits(
            connection.query(
                """
                SELECT v.vehicle, known.account, known.since_at
                FROM (SELECT vehicle FROM vehicle WHERE kind = 'car' AND topic_partition = $1) AS v \(accounts)
                """, [.int4(partition)]), partition, on: connection)
        guard !limits.isEmpty else { return [] }
        let vehicles = limits.keys.sorted()
        var open: [String: [MachineParameter]] = [:]
        for row in try connection.query(
            """
            SELECT vehicle, parameter FROM alert
            WHERE kind = 'car' AND state = 'open' AND parameter NOT LIKE \(codes) AND vehicle = ANY ($1)
            """, [.textArray(vehicles.map(\.text))])
        {
            guard case .parameter(let parameter)? = ThresholdField(anyName: try row.text(1)!) else { continue }
            open[try row.text(0)!, default: []].append(parameter)
        }
        return try connection.query(
            """
            SELECT v.vehicle, t.end_at, least(t.start_at, (
                SELECT min(e.start_at) FROM trip e
                WHERE e.vehicle = v.vehicle AND e.start_at > t.end_at - interval '12 hours')) AS spell_at
            FROM unnest($1::text[]) AS v(vehicle)
            LEFT JOIN LATERAL (
                SELECT start_at, end_at FROM trip t WHERE t.vehicle = v.vehicle ORDER BY start_at DESC LIMIT 1) AS t ON true
            """, [.textArray(vehicles.map(\.text))]
        ).map { row in
            let vehicle = VehicleID(try row.text("vehicle")!)!
            return Watched(
                vehicle: vehicle, limits: limits[vehicle]!, lastMs: try row.timestampMs("end_at"),
                spellMs: try row.timestampMs("spell_at") ?? 0, open: open[vehicle.text] ?? [])
        }
    }

    private static let codes = "'Trouble Code %'"

    // MARK: Judging

    /// Everything of a car within reach of a span, but no further than the part of a drive that it lies in: a drive may last
    /// for months.
    package struct Stretch {
        package let fromMs, toMs: Int64
        /// By time, one a time.
        package let readings: [CarReading]
        /// The car has readings after it, out of reach.
        package let isFollowed: Bool
        /// The drive goes on behind it: the next stretch begins at once.
        package let goesOn: Bool

        /// What it says opens until then.
        package var untilMs: Int64 { goesOn ? toMs : toMs + DriverWatch.reachMs }
    }

    /// Since when something of the car is open, however long ago it was left; nil: nothing is.
    package static func openSinceMs(of vehicle: VehicleID, on connection: Connection) throws -> Int64? {
        try connection.query(
            """
            SELECT min(opened_at) FROM alert
            WHERE vehicle = $1 AND kind = 'car' AND state = 'open' AND parameter NOT LIKE \(codes)
            """, [.text(vehicle.text)])[0].timestampMs(0)
    }

    /// The first stretch that ends at `fromMs` or later and begins before `untilMs`, both with what is within reach. One
    /// after the other they are judged: a span of years must not be in memory at once.
    ///
    /// - Parameters:
    ///   - open: readings of the open minute, which may not be stored yet.
    ///   - borderMs: where their trip begins, if the drive began before.
    /// - Returns: nil when there is none.
    package static func stretch(
        of vehicle: VehicleID, fromMs: Int64, untilMs: Int64, open: [CarReading], borderMs: Int64? = nil,
        on connection: Connection
    ) throws -> Stretch? {
        if let stretch = try stretch(of: vehicle, at: fromMs, open: open, borderMs, on: connection) { return stretch }
        let next = try connection.query(
            "SELECT min(start_at) FROM trip WHERE vehicle = $1 AND start_at BETWEEN $2 AND $3",
            [.text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(untilMs))])[0].timestampMs(0)
        let inMemory = open.first { $0.ts >= fromMs && $0.ts <= untilMs }?.ts
        return try [next, inMemory].compactMap { $0 }.min().flatMap {
            try stretch(of: vehicle, at: $0, open: open, borderMs, on: connection)
        }
    }

    private static func stretch(
        of vehicle: VehicleID, at ms: Int64, open: [CarReading], _ borderMs: Int64?, on connection: Connection
    ) throws -> Stretch? {
        let atMs = clamped(ms)
        var (fromMs, toMs) = (atMs, atMs)
        // The borders around it, as far as they are known.
        var (firstMs, nextMs) = (Int64.min, Int64.max)
        if let borderMs, borderMs <= atMs { firstMs = borderMs } else { nextMs = borderMs ?? .max }
        var (isFound, isGrowing) = (false, true)
        while isGrowing {
            let (beforeMs, afterMs) = (fromMs, toMs)
            let row = try connection.query(
                """
                SELECT min(start_at) AS from_at, max(end_at) AS to_at,
                    max(start_at) FILTER (WHERE from_before AND start_at <= $4) AS first_at,
                    min(end_at) FILTER (WHERE goes_on AND end_at > $4) AS next_at
                FROM trip
                WHERE vehicle = $1 AND start_at <= $3 AND end_at >= $2 AND start_at >= coalesce((
                    SELECT max(earlier.start_at) FROM trip earlier
                    WHERE earlier.vehicle = $1 AND earlier.start_at <= $2), $2)
                """,
                [
                    .text(vehicle.text), .timestampMs(clamped(max(fromMs - DriverWatch.reachMs, firstMs))),
                    .timestampMs(clamped(min(toMs + DriverWatch.reachMs, nextMs - 1))), .timestampMs(atMs),
                ])[0]
            firstMs = max(firstMs, try row.timestampMs("first_at") ?? .min)
            nextMs = min(nextMs, try row.timestampMs("next_at") ?? .max)
            if let tripFromMs = try row.timestampMs("from_at"), let tripToMs = try row.timestampMs("to_at") {
                (fromMs, toMs, isFound) = (min(fromMs, tripFromMs), max(toMs, tripToMs), true)
            }
            if let first = open.first?.ts, let last = open.last?.ts, first <= toMs + DriverWatch.reachMs,
                last >= fromMs - DriverWatch.reachMs, first < nextMs, last >= firstMs
            {
                (fromMs, toMs, isFound) = (min(fromMs, first), max(toMs, last), true)
            }
            (fromMs, toMs) = (max(fromMs, firstMs), min(toMs, nextMs - 1))
            isGrowing = (beforeMs, afterMs) != (fromMs, toMs)
        }
        guard isFound else { return nil }
        // The trip's row may not know yet that the drive goes on.
        let goesOn = nextMs != .max && toMs + DriverWatch.reachMs >= nextMs
        if goesOn { toMs = nextMs - 1 }
        let span = fromMs...toMs
        let readings = try readings(of: vehicle, fromMs, toMs, on: connection) + open.filter { span.contains($0.ts) }
        let later = try connection.query(
            "SELECT EXISTS (SELECT FROM trip WHERE vehicle = $1 AND start_at > $2)",
            [.text(vehicle.text), .timestampMs(toMs)])[0].bool(0)!
        return Stretch(
            fromMs: fromMs, toMs: toMs, readings: readings.unioned(),
            isFollowed: later || open.contains { $0.ts > toMs }, goesOn: goesOn)
    }

    private static func readings(
        of vehicle: VehicleID, _ fromMs: Int64, _ toMs: Int64, on connection: Connection
    ) throws -> [CarReading] {
        try connection.query(
            """
            SELECT minute_at, samples FROM vehicle_minute
            WHERE vehicle = $1 AND minute_at > $2::timestamptz - interval '1 minute' AND minute_at <= $3 ORDER BY minute_at
            """, [.text(vehicle.text), .timestampMs(fromMs), .timestampMs(toMs)]
        ).flatMap { row in
            try PackedSamples.decode(try row.bytes("samples")!, minuteMs: try row.timestampMs("minute_at")!)
        }.filter { $0.ts >= fromMs && $0.ts <= toMs }
    }

    /// Who drove in a span, and what they had set.
    package static func drivers(
        of vehicle: VehicleID, fromMs: Int64, toMs: Int64, partition: Int32, on connection: Connection
    ) throws -> (drivers: Drivers, rules: [String: DriverRules]) {
        let asked: [Parameter] = [
            .text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(toMs)),
        ]
        let drivings = try connection.query(
            """
            SELECT from_at, until_at, account, record_id FROM driving
            WHERE vehicle = $1 AND from_at <= $3 AND until_at >= $2
            """, asked
        ).map { row in
            Drivers.Driving(
                fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!,
                account: try row.text("account")!, id: try row.text("record_id")!)
        }
        func changes(_ statement: String) throws -> [Drivers.Change] {
            try connection.query(statement, [asked[0]]).map {
                Drivers.Change(fromMs: try $0.timestampMs(0)!, account: try $0.text(1))
            }
        }
        let drivers = Drivers(
            drivings: drivings,
            assignments: try changes("SELECT assigned_at, account FROM assignment WHERE vehicle = $1"),
            owners: try changes("SELECT owned_at, account FROM car_owner WHERE vehicle = $1"))
        let settings = try settings(of: drivers.accounts, latest: nil, partition, on: connection)
        let rules = drivers.accounts.map { ($0, DriverRules(account: $0, versions: settings[$0] ?? [])) }
        return (drivers, Dictionary(uniqueKeysWithValues: rules))
    }

    /// The answered scans of a car.
    package static func scans(of vehicle: VehicleID, on connection: Connection) throws -> [TroubleCodes.Scan] {
        try connection.query(
            """
            SELECT scan_id, scanned_at, stored || pending || permanent AS codes FROM health_scan
            WHERE vehicle = $1 AND is_done
            """, [.text(vehicle.text)]
        ).map { row in
            TroubleCodes.Scan(
                ts: try row.timestampMs("scanned_at")!, id: try row.text("scan_id")!,
                codes: Set(try row.textArray("codes")!.compactMap { $0 }))
        }
    }

    /// What was told of a car's values in a span.
    package static func told(
        of vehicle: VehicleID, fromMs: Int64, toMs: Int64, on connection: Connection
    ) throws -> ToldAlerts {
        try told(
            "parameter NOT LIKE \(codes) AND (opened_at BETWEEN $2 AND $3 OR first_opened_at BETWEEN $2 AND $3)",
            [.text(vehicle.text), .timestampMs(clamped(fromMs)), .timestampMs(clamped(toMs))], on: connection)
    }

    package static func toldCodes(of vehicle: VehicleID, on connection: Connection) throws -> ToldAlerts {
        try told("parameter LIKE \(codes)", [.text(vehicle.text)], on: connection)
    }

    private static func told(
        _ condition: String, _ parameters: [Parameter], on connection: Connection
    ) throws -> ToldAlerts {
        ToldAlerts(
            try connection.query(
                """
                SELECT \(MachineStore.alert.columns.joined(separator: ", ")) FROM alert
                WHERE vehicle = $1 AND kind = 'car' AND \(condition) ORDER BY opened_at, alert_id
                """, parameters
            ).map(MachineStore.toldAlert))
    }

    package static func write(_ alerts: [ToldAlert], on connection: Connection) throws {
        try MachineStore.alert.write(alerts, on: connection) { (alert, copy: inout BinaryCopy) in
            MachineStore.fill(alert, &copy)
        }
    }

    /// A timestamptz does not reach as far as an Int64.
    private static func clamped(_ ms: Int64) -> Int64 {
        min(max(ms, UTC.plausible.lowerBound), UTC.plausible.upperBound)
    }
}
