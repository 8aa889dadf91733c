internal import Postgres

/// Calls and breakers in PostgreSQL, so that all processes together keep to a service's limits.
struct CallLedger {
    /// The row of the breaker, of the waiting, and of what went wrong last.
    let service: String
    /// Services of one owner share a budget.
    let budget: String
    let limits: CallLimits
    let rules: CircuitBreaker.Rules

    /// Counts a call. Returns how long to wait until it may begin.
    func take(patienceMs: Int64, on connection: Connection) throws -> Int64 {
        try connection.transaction {
            try lock(connection)
            let now = try nowMs(connection)
            let row = try connection.query(
                """
                SELECT failures, open_until, trial_until, wait_until FROM drover.outside_service WHERE service = $1
                """, [.text(service)])[0]
            if let waitMs = try row.timestampMs("wait_until"), now < waitMs {
                throw ServiceError(service, .toldToWait, "it asked us to come back later", retryAtMs: waitMs)
            }
            var breaker = CircuitBreaker(
                rules, failures: try row.int("failures")!, openUntilMs: try row.timestampMs("open_until"),
                trialUntilMs: try row.timestampMs("trial_until"))
            if case .wait(let untilMs) = breaker.ask(nowMs: now) {
                throw ServiceError(
                    service, .resting, "it has failed \(breaker.failures) times in a row and is left alone",
                    retryAtMs: untilMs)
            }
            var known = try read(connection, nowMs: now)
            guard case .go(let atMs) = known.take(nowMs: now, patienceMs: patienceMs) else {
                var (later, untilMs) = (known, now)
                if case .wait(let until) = later.take(nowMs: now, patienceMs: patienceMs) { untilMs = until }
                throw ServiceError(
                    service, .limit, "its limit (\(limits.text)) is reached by all of us together", retryAtMs: untilMs)
            }
            try write(known, breaker, nowMs: now, atMs: atMs, on: connection)
            return atMs - now
        }
    }

    /// What is left of the limits now.
    func left(on connection: Connection) throws -> [CallLimits.Period: Int] {
        let now = try nowMs(connection)
        return try read(connection, nowMs: now).left(nowMs: now)
    }

    func succeeded(dropped: Int, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.outside_service SET failures = 0, open_until = NULL, trial_until = NULL, answered_at = now(),
                dropped_values = dropped_values + $2 WHERE service = $1
            """, [.text(service), .int8(dropped)])
    }

    func failed(_ error: ServiceError, on connection: Connection) throws {
        try connection.transaction {
            try lock(connection)
            let row = try connection.query(
                "SELECT failures, open_until, trial_until FROM drover.outside_service WHERE service = $1",
                [.text(service)])[0]
            var breaker = CircuitBreaker(
                rules, failures: try row.int("failures")!, openUntilMs: try row.timestampMs("open_until"),
                trialUntilMs: try row.timestampMs("trial_until"))
            switch error.reason {
            case .unreachable, .status, .unreadable, .refused: breaker.failed(nowMs: try nowMs(connection))
            case .noAnswer: breaker.succeeded()
            case .limit, .resting, .toldToWait, .database: breaker.gaveUp()
            }
            try connection.query(
                """
                UPDATE drover.outside_service SET failures = $2, open_until = $3, trial_until = $4, fault = $5,
                    failed_at = now(), wait_until = greatest(wait_until, $6) WHERE service = $1
                """,
                [
                    .text(service), .int8(breaker.failures), time(breaker.openUntilMs), time(breaker.trialUntilMs),
                    .text(error.text), error.reason == .toldToWait ? time(error.retryAtMs) : .null,
                ])
        }
    }

    private func time(_ ms: Int64?) -> Parameter { ms.map { .timestampMs($0) } ?? .null }

    /// The rows are always locked in one order, or two processes would wait for each other.
    private func lock(_ connection: Connection) throws {
        let names = [service, budget]
        try connection.query(
            """
            INSERT INTO drover.outside_service (service) SELECT DISTINCT unnest($1::text[]) ON CONFLICT DO NOTHING
            """, [.textArray(names)])
        try connection.query(
            "SELECT FROM drover.outside_service WHERE service = ANY ($1::text[]) ORDER BY service FOR UPDATE",
            [.textArray(names)])
    }

    /// The server's clock, which all processes share; read after the rows are ours.
    func nowMs(_ connection: Connection) throws -> Int64 {
        try connection.query("SELECT clock_timestamp() AS now")[0].timestampMs("now")!
    }

    private func read(_ connection: Connection, nowMs: Int64) throws -> CallBudget {
        let spaced = try connection.query(
            "SELECT spaced_until FROM drover.outside_service WHERE service = $1", [.text(budget)]
        ).first?.timestampMs("spaced_until")
        var calls: [CallBudget.Slice: Int] = [:]
        for row in try connection.query(
            "SELECT period, slice, calls FROM drover.outside_call WHERE budget = $1", [.text(budget)])
        {
            guard let period = CallLimits.Period(rawValue: try row.text("period")!) else { continue }
            calls[CallBudget.Slice(period, Int64(try row.int("slice")!))] = try row.int("calls")!
        }
        return CallBudget(limits, calls: calls, spacedUntilMs: spaced ?? 0)
    }

    private func write(
        _ known: CallBudget, _ breaker: CircuitBreaker, nowMs: Int64, atMs: Int64, on connection: Connection
    ) throws {
        try connection.query(
            "UPDATE drover.outside_service SET trial_until = $2 WHERE service = $1",
            [.text(service), time(breaker.trialUntilMs)])
        if limits.spacingMs > 0 {
            try connection.query(
                "UPDATE drover.outside_service SET spaced_until = $2 WHERE service = $1",
                [.text(budget), .timestampMs(known.spacedUntilMs)])
        }
        for period in limits.calls.keys {
            let slice = CallBudget.Slice(period, atMs / period.sliceMs)
            try connection.query(
                """
                INSERT INTO drover.outside_call (budget, period, slice, calls) VALUES ($1, $2, $3, $4)
                ON CONFLICT (budget, period, slice) DO UPDATE SET calls = excluded.calls
                """,
                [.text(budget), .text(period.rawValue), .int8(slice.number), .int4(Int32(known.calls[slice] ?? 1))])
            try connection.query(
                "DELETE FROM drover.outside_call WHERE budget = $1 AND period = $2 AND slice < $3",
                [.text(budget), .text(period.rawValue), .int8(CallBudget.oldest(period, nowMs: nowMs))])
        }
    }
}
