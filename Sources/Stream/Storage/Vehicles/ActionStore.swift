internal import Alerts
internal import Basics
package import Fleet
package import Postgres

/// People's actions on vehicles, in PostgreSQL. They are few: a statement each. The same record again changes nothing.
package enum ActionStore {
    /// Precondition: within the transaction that moves the offsets.
    ///
    /// - Parameter offset: of the action's record, where it is asked for later (an account's settings).
    package static func write(
        _ actions: [(action: Action, offset: Int64?)], partition: Int32, on connection: Connection
    ) throws {
        for (action, offset) in actions {
            switch action.kind {
            case .registration(let registration): try register(action, registration, partition, on: connection)
            case .service(let atHours): try writeService(action, atHours: atHours, on: connection)
            case .acknowledgement(let alert): try acknowledge(action, alert: alert, on: connection)
            case .triage(let triage): try write(triage, of: action, on: connection)
            case .pollRequest(let untilMs, let wanted):
                try request(action, untilMs: untilMs, wanted, on: connection)
            case .pollAnswer(let request, let isDone, let text):
                try answer(action, to: request, isDone: isDone, text, on: connection)
            case .silence(let silence): try write(silence, of: action, partition, on: connection)
            case .tripStart, .tripStop, .tripDiscard, .tripTag, .driving, .assignment, .settings, .scanRequest, .scan,
                .support, .tripSummary, .weather:
                try CarActionStore.write(action, offset: offset, partition: partition, on: connection)
            }
        }
    }

    private static func writeService(_ action: Action, atHours: Int64, on connection: Connection) throws {
        // As `ServiceLog` has it.
        try connection.query(
            """
            INSERT INTO service AS known (vehicle, done_at, record_id, engine_hours_h, recorded_by, note)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (vehicle, done_at) DO UPDATE SET record_id = EXCLUDED.record_id,
                engine_hours_h = EXCLUDED.engine_hours_h, recorded_by = EXCLUDED.recorded_by, note = EXCLUDED.note
            WHERE (EXCLUDED.record_id COLLATE "C", EXCLUDED.engine_hours_h)
                > (known.record_id COLLATE "C", known.engine_hours_h)
            """,
            [
                .text(action.vehicle!.text), .timestampMs(action.ts), .text(action.id),
                .float8(Double(atHours) / 1_000), .text(action.by), .text(action.note),
            ])
    }

    private static func acknowledge(_ action: Action, alert: String, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO acknowledgement (vehicle, record_id, alert_id, acknowledged_at, acknowledged_by, note)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
            """,
            [
                .text(action.vehicle!.text), .text(action.id), .text(alert), .timestampMs(action.ts),
                .text(action.by), .text(action.note),
            ])
    }

    private static func write(_ triage: Action.Triage, of action: Action, on connection: Connection) throws {
        let (word, account, untilMs): (String, String?, Int64?) =
            switch triage.word {
            case .assigned(let account): ("assigned", account, nil)
            case .comment: ("comment", nil, nil)
            case .reopened: ("reopened", nil, nil)
            case .muted(let untilMs): ("muted", nil, untilMs)
            }
        try connection.query(
            """
            INSERT INTO alert_triage (vehicle, record_id, alert_id, said_at, said_by, word, account, until_at, note)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
            """,
            [
                .text(action.vehicle!.text), .text(action.id), .text(triage.alert), .timestampMs(action.ts),
                .text(action.by), .text(word), .text(account), untilMs.map { .timestampMs($0) } ?? .null,
                .text(action.note),
            ])
    }

    private static func request(
        _ action: Action, untilMs: Int64, _ wanted: Action.Wanted, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO poll_request (vehicle, request_id, asked_at, asked_by, expires_at, wants)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (vehicle, request_id) DO UPDATE SET asked_at = EXCLUDED.asked_at,
                asked_by = EXCLUDED.asked_by, expires_at = EXCLUDED.expires_at, wants = EXCLUDED.wants
            """,
            [
                .text(action.vehicle!.text), .text(action.id), .timestampMs(action.ts), .text(action.by),
                .timestampMs(untilMs), .text(wanted == .readings ? nil : wanted.rawValue),
            ])
    }

    private static func answer(
        _ action: Action, to request: String, isDone: Bool, _ text: String, on connection: Connection
    ) throws {
        // Of two gateways' answers the one that brought something counts, else the first.
        try connection.query(
            """
            INSERT INTO poll_request AS known (vehicle, request_id, answered_at, is_done, answer)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (vehicle, request_id) DO UPDATE SET answered_at = EXCLUDED.answered_at,
                is_done = EXCLUDED.is_done, answer = EXCLUDED.answer 
            WHERE known.answered_at IS NULL OR EXCLUDED.is_done AND NOT known.is_done
            """,
            [
                .text(action.vehicle!.text), .text(request), .timestampMs(action.ts), .bool(isDone),
                .text(text),
            ])
    }

    private static func write(
        _ silence: Action.Silence, of action: Action, _ partition: Int32, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO silence (topic_partition, record_id, vehicle, model, parameter, from_at, until_at,
                silenced_by, note)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
            """,
            [
                .int4(partition), .text(action.id), .text(action.vehicle?.text), .text(silence.model),
                .text(silence.parameter?.row.name), .timestampMs(action.ts), .timestampMs(silence.untilMs),
                .text(action.by), .text(action.note),
            ])
    }

    private static func register(
        _ action: Action, _ registration: Action.Registration, _ partition: Int32,
        on connection: Connection
    ) throws {
        let car = registration.car
        if let car { try CarActionStore.own(action, account: car.account, on: connection) }
        func number(_ value: Int32?, per scale: Double) -> Parameter {
            value.map { .float8(Double($0) / scale) } ?? .null
        }
        try connection.query(
            """
            INSERT INTO registration AS known (kind, vehicle, topic_partition, registered_at, record_id, name, model, host,
                port, certificate_sha256, tags, is_disabled, account, vin, make, year, fuel, tank_l, displacement_cc,
                volumetric_efficiency_pct)
            VALUES ($12, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, $15, $16, $17, $18, $19, $20)
            ON CONFLICT (kind, vehicle) DO UPDATE SET
                topic_partition = EXCLUDED.topic_partition, registered_at = EXCLUDED.registered_at,
                record_id = EXCLUDED.record_id, name = EXCLUDED.name, model = EXCLUDED.model, host = EXCLUDED.host,
                port = EXCLUDED.port, certificate_sha256 = EXCLUDED.certificate_sha256, tags = EXCLUDED.tags,
                is_disabled = EXCLUDED.is_disabled, account = EXCLUDED.account, vin = EXCLUDED.vin,
                make = EXCLUDED.make, year = EXCLUDED.year, fuel = EXCLUDED.fuel, tank_l = EXCLUDED.tank_l,
                displacement_cc = EXCLUDED.displacement_cc,
                volumetric_efficiency_pct = EXCLUDED.volumetric_efficiency_pct
            WHERE (EXCLUDED.registered_at, EXCLUDED.record_id COLLATE "C") > (known.registered_at, known.record_id COLLATE "C")
            """,
            [
                .text(action.vehicle!.text), .int4(partition), .timestampMs(action.ts), .text(action.id),
                .text(registration.name), .text(registration.model), .text(registration.address?.host),
                registration.address.map { .int4($0.port) } ?? .null, .text(registration.address?.certificateSHA256),
                .textArray(registration.tags), .bool(registration.isDisabled),
                .text(car == nil ? "machine" : "car"), .text(car?.account), .text(car?.vin), .text(car?.make),
                (car?.year).map { .int4($0) } ?? .null, .text(car?.fuel?.rawValue), number(car?.tankMl, per: 1_000),
                (car?.displacementCc).map { .int4($0) } ?? .null,
                number(car?.volumetricEfficiencyMilliPct, per: 1_000),
            ])
    }

    static func services(of vehicles: [VehicleID], on connection: Connection) throws -> [VehicleID: ServiceLog] {
        let rows = try connection.query(
            "SELECT vehicle, record_id, done_at, engine_hours_h FROM service WHERE vehicle = ANY($1)",
            [.textArray(vehicles.map(\.text))])
        var logs: [VehicleID: ServiceLog] = [:]
        for row in rows {
            guard let hours = Decimal.scaled(try row.double("engine_hours_h")!, decimals: 3) else { continue }
            _ = logs[VehicleID(try row.text("vehicle")!)!, default: .none].insert(
                ServiceLog.Entry(
                    doneMs: try row.timestampMs("done_at")!, atHours: hours, id: try row.text("record_id")!))
        }
        return logs
    }
}
