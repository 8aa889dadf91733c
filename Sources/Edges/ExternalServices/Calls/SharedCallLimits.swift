internal import Postgres
internal import Storage

/// Calls and breakers in PostgreSQL (`ServiceCallStore`), so that all processes together keep to a service's limits.
struct SharedCallLimits {
    /// The row of the breaker, of the waiting, and of what went wrong last.
    let service: String
    /// Services of one owner share a budget.
    let budget: String
    let limits: CallLimits
    let rules: CircuitBreaker.Rules

    /// Counts a call. Returns how long to wait until it may begin.
    func reserve(patienceMs: Int64, on connection: Connection) throws -> Int64 {
        try connection.transaction {
            try ServiceCallStore.lock([service, budget], on: connection)
            let now = try ServiceCallStore.nowMs(on: connection)
            let standing = try ServiceCallStore.standing(of: service, on: connection)
            if let waitMs = standing.waitUntilMs, now < waitMs {
                throw ServiceError(service, .toldToWait, "it asked us to come back later", retryAtMs: waitMs)
            }
            var breaker = breaker(standing)
            if case .wait(let untilMs) = breaker.ask(nowMs: now) {
                throw ServiceError(
                    service, .resting, "it has failed \(breaker.failures) times in a row and is left alone",
                    retryAtMs: untilMs)
            }
            var known = try read(connection, nowMs: now)
            guard case .go(let atMs) = known.reserve(nowMs: now, patienceMs: patienceMs) else {
                var (later, untilMs) = (known, now)
                if case .wait(let until) = later.reserve(nowMs: now, patienceMs: patienceMs) { untilMs = until }
                throw ServiceError(
                    service, .limit, "its limit (\(limits.text)) is reached by all of us together", retryAtMs: untilMs)
            }
            try write(known, breaker, nowMs: now, atMs: atMs, on: connection)
            return atMs - now
        }
    }

    /// The calls that the limits leave now.
    func left(on connection: Connection) throws -> [CallLimits.Period: Int] {
        let now = try ServiceCallStore.nowMs(on: connection)
        return try read(connection, nowMs: now).left(nowMs: now)
    }

    func succeeded(dropped: Int, on connection: Connection) throws {
        try ServiceCallStore.succeeded(service, dropped: dropped, on: connection)
    }

    func failed(_ error: ServiceError, on connection: Connection) throws {
        try connection.transaction {
            try ServiceCallStore.lock([service, budget], on: connection)
            var breaker = breaker(try ServiceCallStore.standing(of: service, on: connection))
            switch error.reason {
            case .unreachable, .status, .unreadable, .refused:
                breaker.failed(nowMs: try ServiceCallStore.nowMs(on: connection))
            case .noAnswer: breaker.succeeded()
            case .limit, .resting, .toldToWait, .database: breaker.gaveUp()
            }
            let now = ServiceCallStore.Standing(
                failures: breaker.failures, openUntilMs: breaker.openUntilMs, trialUntilMs: breaker.trialUntilMs,
                waitUntilMs: error.reason == .toldToWait ? error.retryAtMs : nil)
            try ServiceCallStore.failed(service, now, fault: error.text, on: connection)
        }
    }

    private func breaker(_ standing: ServiceCallStore.Standing) -> CircuitBreaker {
        CircuitBreaker(
            rules, failures: standing.failures, openUntilMs: standing.openUntilMs, trialUntilMs: standing.trialUntilMs)
    }

    private func read(_ connection: Connection, nowMs: Int64) throws -> CallBudget {
        let spacedMs = try ServiceCallStore.spacedUntilMs(budget, on: connection)
        var calls: [CallBudget.Slice: Int] = [:]
        for count in try ServiceCallStore.counts(of: budget, on: connection) {
            guard let period = CallLimits.Period(rawValue: count.period) else { continue }
            calls[CallBudget.Slice(period, count.slice)] = count.calls
        }
        return CallBudget(limits, calls: calls, spacedUntilMs: spacedMs ?? 0)
    }

    private func write(
        _ known: CallBudget, _ breaker: CircuitBreaker, nowMs: Int64, atMs: Int64, on connection: Connection
    ) throws {
        try ServiceCallStore.tries(service, untilMs: breaker.trialUntilMs, on: connection)
        if limits.spacingMs > 0 {
            try ServiceCallStore.space(budget, untilMs: known.spacedUntilMs, on: connection)
        }
        for period in limits.calls.keys {
            let slice = CallBudget.Slice(period, atMs / period.sliceMs)
            try ServiceCallStore.keep(
                budget, period: period.rawValue, slice: slice.number, calls: Int32(known.calls[slice] ?? 1),
                oldest: CallBudget.oldest(period, nowMs: nowMs), on: connection)
        }
    }
}
