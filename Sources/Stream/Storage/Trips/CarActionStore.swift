internal import Alerts
internal import Fleet
internal import Postgres

/// Actions of drivers and gateways on cars and accounts, in PostgreSQL. Of two records of one thing the later one counts,
/// of one time the one with the larger id.
enum CarActionStore {
    /// Precondition: within the transaction that moves the offsets; `action` is of cars and no registration.
    static func write(_ action: Action, offset: Int64?, partition: Int32, on connection: Connection) throws {
        let said = Said(action)
        switch action.kind {
        case .tripStart, .tripStop: try mark(action, said, on: connection)
        case .tripDiscard(let atMs):
            try note(said, .timestampMs(atMs), isDiscard: true, tag: nil, on: connection)
        case .tripTag(let atMs, let tag):
            try note(said, .timestampMs(atMs), isDiscard: false, tag: tag, on: connection)
        case .driving(let fromMs):
            try drove(
                Drivers.Driving(fromMs: fromMs, untilMs: action.ts, account: action.by, id: action.id), said.vehicle,
                on: connection)
        case .assignment(let driver): try assign(driver, said, on: connection)
        case .settings(let account, let text):
            try set(account, text, said, offset: offset, partition: partition, on: connection)
        case .scanRequest(let untilMs): try requestScan(said, untilMs: untilMs, on: connection)
        case .scan(let scan): try write(scan, of: action, on: connection)
        case .support(let pids): try support(pids, said, on: connection)
        case .tripSummary(let summary): try write(summary, of: action, on: connection)
        case .weather(let hourMs, let answer):
            try TripWeatherStore.write(answer, hourMs: hourMs, of: action.vehicle!, on: connection)
        case .registration, .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer:
            preconditionFailure("not of cars")
        }
    }

    /// The vehicle, time, record and author of an action.
    private struct Said {
        let vehicle, at, id, by: Parameter

        init(_ action: Action) {
            vehicle = .text(action.vehicle?.text)
            at = .timestampMs(action.ts)
            id = .text(action.id)
            by = .text(action.by)
        }
    }

    private static func mark(_ action: Action, _ said: Said, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO trip_mark AS known (vehicle, marked_at, is_start, record_id, marked_by)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (vehicle, marked_at, is_start) DO UPDATE SET
                record_id = EXCLUDED.record_id, marked_by = EXCLUDED.marked_by
            WHERE EXCLUDED.record_id COLLATE "C" > known.record_id COLLATE "C"
            """, [said.vehicle, said.at, .bool(action.kind == .tripStart), said.id, said.by])
    }

    private static func assign(_ driver: String?, _ said: Said, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO assignment AS known (vehicle, assigned_at, account, record_id, assigned_by)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (vehicle, assigned_at) DO UPDATE SET account = EXCLUDED.account,
                record_id = EXCLUDED.record_id, assigned_by = EXCLUDED.assigned_by
            WHERE EXCLUDED.record_id COLLATE "C" > known.record_id COLLATE "C"
            """, [said.vehicle, said.at, .text(driver), said.id, said.by])
    }

    private static func set(
        _ account: String, _ text: String, _ said: Said, offset: Int64?, partition: Int32, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO account_settings AS known
                (topic_partition, account, in_force_at, settings, record_id, record_offset)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (topic_partition, account, in_force_at) DO UPDATE SET settings = EXCLUDED.settings,
                record_id = EXCLUDED.record_id, record_offset = EXCLUDED.record_offset
            WHERE EXCLUDED.record_id COLLATE "C" > known.record_id COLLATE "C"
            """, [.int4(partition), .text(account), said.at, .text(text), said.id, .int8(offset.map { Int($0) })])
    }

    private static func requestScan(_ said: Said, untilMs: Int64, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO health_scan (vehicle, scan_id, asked_at, asked_by, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (vehicle, scan_id) DO UPDATE SET
                asked_at = EXCLUDED.asked_at, asked_by = EXCLUDED.asked_by, expires_at = EXCLUDED.expires_at
            """, [said.vehicle, said.id, said.at, said.by, .timestampMs(untilMs)])
    }

    private static func support(_ pids: [String], _ said: Said, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO car_support AS known (vehicle, seen_at, record_id, pids) VALUES ($1, $2, $3, $4)
            ON CONFLICT (vehicle) DO UPDATE SET
                seen_at = EXCLUDED.seen_at, record_id = EXCLUDED.record_id, pids = EXCLUDED.pids
            WHERE (EXCLUDED.seen_at, EXCLUDED.record_id COLLATE "C") > (known.seen_at, known.record_id COLLATE "C")
            """, [said.vehicle, said.at, said.id, .textArray(pids)])
    }

    /// A drive is one row, in however many pieces and in whatever order they come.
    private static func drove(_ piece: Drivers.Driving, _ vehicle: Parameter, on connection: Connection) throws {
        var (drive, rows): (Drivers.Driving, [Drivers.Driving]) = (piece, [])
        // Until no more rows adjoin what it has become.
        while true {
            let found = try drives(of: vehicle, near: drive, on: connection)
            guard found.count > rows.count else { break }
            rows = found
            drive = Drivers.joined(rows + [piece])[0]
        }
        guard rows != [drive] else { return }
        let written = try connection.query(
            """
            INSERT INTO driving AS known (vehicle, from_at, until_at, account, record_id) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (vehicle, record_id) DO UPDATE SET from_at = EXCLUDED.from_at, until_at = EXCLUDED.until_at
            WHERE known.account = EXCLUDED.account
            """,
            [
                vehicle, .timestampMs(drive.fromMs), .timestampMs(drive.untilMs), .text(drive.account), .text(drive.id),
            ])
        let others = rows.map(\.id).filter { $0 != drive.id }
        // Nothing was written: another account has a record of this id, and the first counts.
        guard written.rowsChanged > 0, !others.isEmpty else { return }
        try connection.query(
            "DELETE FROM driving WHERE vehicle = $1 AND record_id = ANY ($2)", [vehicle, .textArray(others)])
    }

    /// Drives of its account that overlap or adjoin it.
    private static func drives(
        of vehicle: Parameter, near drive: Drivers.Driving, on connection: Connection
    ) throws -> [Drivers.Driving] {
        try connection.query(
            """
            SELECT from_at, until_at, account, record_id FROM driving
            WHERE vehicle = $1 AND account = $2 AND until_at >= $3 AND from_at <= $4
            """,
            [
                vehicle, .text(drive.account), .timestampMs(drive.fromMs - Drivers.pauseMsMax),
                .timestampMs(drive.untilMs + Drivers.pauseMsMax),
            ]
        ).map { row in
            Drivers.Driving(
                fromMs: try row.timestampMs("from_at")!, untilMs: try row.timestampMs("until_at")!,
                account: try row.text("account")!, id: try row.text("record_id")!)
        }
    }

    /// A summary is said once; of two with one id the first counts.
    private static func write(_ summary: Action.TripSummary, of action: Action, on connection: Connection) throws {
        func number(_ value: Int64?) -> Parameter { value.map { .float8(Double($0) / 1_000) } ?? .null }
        func count(_ value: Int64?) -> Parameter { value.map { .int4(Int32(clamping: $0)) } ?? .null }
        try connection.query(
            """
            INSERT INTO trip_summary (vehicle, record_id, start_at, end_at, account, distance_km, average_speed_kmh,
                max_speed_kmh, fuel_l, average_mpg, idle_s, max_coolant_c, sharp_accelerations, sharp_brakings, note)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT DO NOTHING
            """,
            [
                .text(action.vehicle!.text), .text(action.id), .timestampMs(summary.fromMs), .timestampMs(action.ts),
                .text(action.by), number(summary.distanceMilliKm), number(summary.averageSpeedMilliKmh),
                number(summary.maxSpeedMilliKmh), number(summary.fuelMl), number(summary.averageMilliMpg),
                number(summary.idleMs), number(summary.maxCoolantMilliC), count(summary.sharpAccelerations),
                count(summary.sharpBrakings), .text(action.note),
            ])
    }

    /// Writes whose car it is from then on.
    static func own(_ action: Action, account: String?, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO car_owner AS known (vehicle, owned_at, account, record_id) VALUES ($1, $2, $3, $4)
            ON CONFLICT (vehicle, owned_at) DO UPDATE SET account = EXCLUDED.account, record_id = EXCLUDED.record_id
            WHERE EXCLUDED.record_id COLLATE "C" > known.record_id COLLATE "C"
            """, [.text(action.vehicle!.text), .timestampMs(action.ts), .text(account), .text(action.id)])
    }

    private static func note(
        _ said: Said, _ tripAt: Parameter, isDiscard: Bool, tag: String?, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO trip_note AS known (vehicle, trip_at, is_discard, tag, noted_at, record_id, noted_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (vehicle, trip_at, is_discard) DO UPDATE SET tag = EXCLUDED.tag, noted_at = EXCLUDED.noted_at,
                record_id = EXCLUDED.record_id, noted_by = EXCLUDED.noted_by
            WHERE (EXCLUDED.noted_at, EXCLUDED.record_id COLLATE "C") > (known.noted_at, known.record_id COLLATE "C")
            """, [said.vehicle, tripAt, .bool(isDiscard), .text(tag), said.at, said.id, said.by])
    }

    /// Writes a scan's answer. Of two to one request the one that brought something counts, else the first.
    private static func write(_ scan: Action.HealthScan, of action: Action, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO health_scan AS known (vehicle, scan_id, scanned_at, scanned_by, is_done, answer, stored, pending,
                permanent, is_lamp_on, not_ready, vin, freeze_frame)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (vehicle, scan_id) DO UPDATE SET scanned_at = EXCLUDED.scanned_at,
                scanned_by = EXCLUDED.scanned_by, is_done = EXCLUDED.is_done, answer = EXCLUDED.answer,
                stored = EXCLUDED.stored, pending = EXCLUDED.pending, permanent = EXCLUDED.permanent,
                is_lamp_on = EXCLUDED.is_lamp_on, not_ready = EXCLUDED.not_ready, vin = EXCLUDED.vin,
                freeze_frame = EXCLUDED.freeze_frame
            WHERE known.scanned_at IS NULL OR EXCLUDED.is_done AND NOT known.is_done
            """,
            [
                .text(action.vehicle!.text), .text(scan.request ?? action.id), .timestampMs(action.ts),
                .text(action.by), .bool(scan.isDone), .text(scan.text), .textArray(scan.stored),
                .textArray(scan.pending), .textArray(scan.permanent), scan.isLampOn.map { .bool($0) } ?? .null,
                .textArray(scan.notReady), .text(scan.vin), .text(scan.freezeFrame),
            ])
    }
}
