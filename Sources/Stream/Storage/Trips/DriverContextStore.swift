package import Alerts
package import Fleet
package import Pipeline
package import Postgres

/// Drivers of cars, and what these people have set, in PostgreSQL.
package enum DriverContextStore {
    /// The drivers of each of these cars and their settings, from a time on.
    ///
    /// - Parameters:
    ///   - untilMs: of drives that begin later nothing is asked; `.max`: of all.
    ///   - offset: what accounts set by records from there on is left out; nil: nothing is.
    ///   - installation: as far as the partition has taken it.
    package static func contexts(
        of cars: [(vehicle: VehicleID, fromMs: Int64)], untilMs: Int64 = .max, partition: Int32,
        before offset: Int64?, _ installation: InstallationLimits, on connection: Connection
    ) throws -> [VehicleID: DriverContext] {
        guard !cars.isEmpty else { return [:] }
        let vehicles = Parameter.textArray(cars.map(\.vehicle.text))
        let drivings = try drivings(of: cars, untilMs: untilMs, on: connection)
        func changes(_ statement: String) throws -> [VehicleID: [Drivers.Change]] {
            try DriverContextStore.changes(statement, vehicles, on: connection)
        }
        let assignments = try changes(
            "SELECT vehicle, assigned_at, account FROM assignment WHERE vehicle = ANY ($1::text[])")
        let owners = try changes("SELECT vehicle, owned_at, account FROM car_owner WHERE vehicle = ANY ($1::text[])")
        let drivers = Dictionary(
            cars.map { car in
                (
                    car.vehicle,
                    Drivers(
                        drivings: drivings[car.vehicle] ?? [], assignments: assignments[car.vehicle] ?? [],
                        owners: owners[car.vehicle] ?? [])
                )
            }, uniquingKeysWith: { first, _ in first })
        let rules = try rules(
            of: drivers.values.reduce(into: []) { $0.formUnion($1.accounts) }, fromMs: cars.map(\.fromMs).min()!,
            partition, before: offset, on: connection)
        let driven = try driven(vehicles, on: connection)
        var contexts: [VehicleID: DriverContext] = [:]
        for (vehicle, drivers) in drivers {
            var known = Dictionary(uniqueKeysWithValues: drivers.accounts.map { ($0, rules[$0]!) })
            known[InstallationLimits.account] = installation.rules(of: vehicle)
            contexts[vehicle] = DriverContext(
                drivers: drivers, rules: known, hasDriven: driven.contains(vehicle))
        }
        return contexts
    }

    private static func drivings(
        of cars: [(vehicle: VehicleID, fromMs: Int64)], untilMs: Int64, on connection: Connection
    ) throws -> [VehicleID: [Drivers.Driving]] {
        var drivings: [VehicleID: [Drivers.Driving]] = [:]
        for row in try connection.query(
            """
            SELECT d.vehicle, d.from_at, d.until_at, d.account, d.record_id
            FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            JOIN driving d ON d.vehicle = asked.vehicle AND d.until_at >= asked.from_at AND d.from_at <= $3
            """,
            [
                .textArray(cars.map(\.vehicle.text)),
                // What ended a moment before may go on.
                .timestampArray(cars.map { DriverAlertStore.clamped($0.fromMs - Drivers.pauseMsMax) }),
                .timestampMs(DriverAlertStore.clamped(untilMs)),
            ])
        {
            drivings[VehicleID(try row.text("vehicle")!)!, default: []].append(
                Drivers.Driving(
                    fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!,
                    account: try row.text("account")!, id: try row.text("record_id")!))
        }
        return drivings
    }

    private static func changes(
        _ statement: String, _ vehicles: Parameter, on connection: Connection
    ) throws -> [VehicleID: [Drivers.Change]] {
        var changes: [VehicleID: [Drivers.Change]] = [:]
        for row in try connection.query(statement, [vehicles]) {
            changes[VehicleID(try row.text(0)!)!, default: []].append(
                Drivers.Change(fromMs: try row.timestampMs(1)!, account: try row.text(2)))
        }
        return changes
    }

    private static func driven(_ vehicles: Parameter, on connection: Connection) throws -> Set<VehicleID> {
        Set(
            try connection.query(
                """
                SELECT asked.vehicle FROM unnest($1::text[]) AS asked(vehicle)
                WHERE EXISTS (SELECT FROM driving d WHERE d.vehicle = asked.vehicle)
                """, [vehicles]
            ).map { VehicleID(try $0.text(0)!)! })
    }

    /// The settings that accounts had at a time, and all that they set after it.
    private static func rules(
        of accounts: Set<String>, fromMs: Int64, _ partition: Int32, before offset: Int64?, on connection: Connection
    ) throws -> [String: DriverRules] {
        guard !accounts.isEmpty else { return [:] }
        var versions: [String: [DriverRules.Version]] = [:]
        for row in try connection.query(
            """
            SELECT s.account, s.in_force_at, s.settings FROM unnest($1::text[]) AS asked(account)
            JOIN account_settings s ON s.topic_partition = $2 AND s.account = asked.account
                AND coalesce(s.record_offset < $3::bigint, true)
                AND s.in_force_at >= coalesce((
                    SELECT max(earlier.in_force_at) FROM account_settings earlier
                    WHERE earlier.topic_partition = $2 AND earlier.account = asked.account AND earlier.in_force_at <= $4
                        AND coalesce(earlier.record_offset < $3::bigint, true)), '-infinity')
            """,
            [
                .textArray(accounts.sorted()), .int4(partition), offset.map { .int8(Int($0)) } ?? .null,
                .timestampMs(DriverAlertStore.clamped(fromMs)),
            ])
        {
            // The worker refuses what is none. A row of a version that took more must not stop everybody's alerts.
            let settings = (try? DriverSettings(text: try row.text("settings")!)) ?? .standard
            versions[try row.text("account")!, default: []].append(
                DriverRules.Version(inForceMs: try row.timestampMs("in_force_at")!, settings: settings))
        }
        return Dictionary(
            uniqueKeysWithValues: accounts.map { ($0, DriverRules(account: $0, versions: versions[$0] ?? [])) })
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

    /// In whose names cars were registered, and who was to drive them: of each the last entry before a time and those from it on.
    package static func accounts(
        of cars: [VehicleID: Int64], most: Int = CarAccounts.entriesMax, on connection: Connection
    ) throws -> [VehicleID: CarAccounts] {
        let owners = try logs("car_owner", at: "owned_at", cars, most: most, on: connection)
        let drivers = try logs("assignment", at: "assigned_at", cars, most: most, on: connection)
        return Dictionary(
            uniqueKeysWithValues: cars.keys.map { vehicle in
                (vehicle, CarAccounts(owners: owners(vehicle), drivers: drivers(vehicle)))
            })
    }

    private static func logs(
        _ table: String, at time: String, _ cars: [VehicleID: Int64], most: Int, on connection: Connection
    ) throws -> (VehicleID) -> AccountLog {
        var entries: [VehicleID: [AccountLog.Entry]] = [:]
        // By the primary key: a car may have been given on ten thousand times.
        for row in try connection.query(
            """
            SELECT asked.vehicle, e.at, e.record_id, e.account
            FROM unnest($1::text[], $2::timestamptz[]) AS asked(vehicle, from_at)
            CROSS JOIN LATERAL (
                SELECT \(time) AS at, record_id, account FROM \(table)
                WHERE vehicle = asked.vehicle AND \(time) >= coalesce((
                    SELECT max(b.\(time)) FROM \(table) b
                    WHERE b.vehicle = asked.vehicle AND b.\(time) < asked.from_at), '-infinity')
                ORDER BY \(time) LIMIT $3) AS e
            """,
            [
                .textArray(cars.map(\.key.text)),
                .timestampArray(cars.map { DriverAlertStore.clamped($0.value) }), .int8(Int64(most)),
            ])
        {
            entries[VehicleID(try row.text(0)!)!, default: []].append(
                AccountLog.Entry(fromMs: try row.timestampMs(1)!, id: try row.text(2)!, account: try row.text(3)))
        }
        let read = entries
        return { AccountLog(read[$0] ?? [], since: cars[$0]!, most: most) }
    }

    /// Those of the cars that somebody has driven or owned, or that are registered.
    package static func people(of vehicles: [VehicleID], on connection: Connection) throws -> [DriverPartition.People] {
        try connection.query(
            """
            SELECT asked.vehicle, owned.since_at, watched.is_so FROM unnest($1::text[]) AS asked(vehicle)
            CROSS JOIN LATERAL (
                SELECT min(o.owned_at) AS since_at, count(o.account) > 0 AS by_somebody FROM car_owner o
                WHERE o.vehicle = asked.vehicle
            ) AS owned CROSS JOIN LATERAL (
                SELECT coalesce(owned.by_somebody
                    OR (SELECT true FROM assignment a WHERE a.vehicle = asked.vehicle AND a.account IS NOT NULL LIMIT 1)
                    OR (SELECT true FROM driving d WHERE d.vehicle = asked.vehicle LIMIT 1), false) AS is_so
            ) AS watched
            WHERE owned.since_at IS NOT NULL OR watched.is_so
            """, [.textArray(vehicles.map(\.text))]
        ).map { row in
            DriverPartition.People(
                VehicleID(try row.text("vehicle")!)!, ownedMs: try row.timestampMs("since_at") ?? .max,
                isWatched: try row.bool("is_so")!)
        }
    }

    /// Those of the cars that have said which trouble codes they have.
    package static func scanned(of vehicles: [VehicleID], on connection: Connection) throws -> [VehicleID] {
        try connection.query(
            """
            SELECT asked.vehicle FROM unnest($1::text[]) AS asked(vehicle)
            WHERE EXISTS (SELECT FROM health_scan s WHERE s.vehicle = asked.vehicle AND s.is_done)
            """, [.textArray(vehicles.map(\.text))]
        ).map { VehicleID(try $0.text(0)!)! }
    }
}
