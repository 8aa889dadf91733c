/// Calls that were made, and whether another one may be. In no stretch of time as long as a period there are more calls
/// than its limit, wherever the owner begins to count: the slice that has begun and all that the period touches are added
/// up. That leaves at most a slice's share unused. Pure: the time is the database's, so that all processes agree.
package struct CallBudget: Equatable, Sendable {
    package struct Slice: Equatable, Hashable, Sendable {
        package let period: CallLimits.Period
        /// Slices since 1970.
        package let number: Int64
        package init(_ period: CallLimits.Period, _ number: Int64) { (self.period, self.number) = (period, number) }
    }

    package enum Verdict: Equatable, Sendable {
        /// The call begins then, now or soon; it is counted.
        case go(atMs: Int64)
        case wait(untilMs: Int64)
    }

    package let limits: CallLimits
    package private(set) var calls: [Slice: Int] = [:]
    package private(set) var spacedUntilMs: Int64

    package init(_ limits: CallLimits, calls: [Slice: Int], spacedUntilMs: Int64) {
        self.limits = limits
        self.calls = calls
        self.spacedUntilMs = spacedUntilMs
    }

    /// - Parameter patienceMs: how long the caller would wait for its turn.
    package mutating func reserve(nowMs: Int64, patienceMs: Int64) -> Verdict {
        // A clock that was set back must not make anybody wait for ever.
        let spaced = min(spacedUntilMs, nowMs + 60_000)
        let atMs = limits.spacingMs > 0 ? max(nowMs, spaced) : nowMs
        guard atMs <= nowMs + patienceMs else { return .wait(untilMs: atMs) }
        let freeMs = limits.calls.map { free(period: $0.key, limit: $0.value, atMs: atMs) }.max() ?? atMs
        guard freeMs == atMs else { return .wait(untilMs: freeMs) }
        for period in limits.calls.keys { calls[Slice(period, atMs / period.sliceMs), default: 0] += 1 }
        if limits.spacingMs > 0 { spacedUntilMs = atMs + limits.spacingMs }
        return .go(atMs: atMs)
    }

    /// Calls that may be made now, by period.
    package func left(nowMs: Int64) -> [CallLimits.Period: Int] {
        var left: [CallLimits.Period: Int] = [:]
        for (period, limit) in limits.calls {
            left[period] = max(0, limit - used(period, slice: nowMs / period.sliceMs))
        }
        return left
    }

    /// The number of the oldest slice that still counts.
    package static func oldest(_ period: CallLimits.Period, nowMs: Int64) -> Int64 {
        nowMs / period.sliceMs - period.slices
    }

    private func used(_ period: CallLimits.Period, slice: Int64) -> Int {
        // Later slices count, too: they are of a clock that was ahead.
        calls.reduce(0) { $0 + ($1.key.period == period && $1.key.number >= slice - period.slices ? $1.value : 0) }
    }

    private func free(period: CallLimits.Period, limit: Int, atMs: Int64) -> Int64 {
        var slice = atMs / period.sliceMs
        if used(period, slice: slice) < limit { return atMs }
        let last = slice + period.slices
        while slice <= last, used(period, slice: slice) >= limit { slice += 1 }
        return slice * period.sliceMs
    }
}
