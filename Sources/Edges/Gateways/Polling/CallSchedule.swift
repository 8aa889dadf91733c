/// When a box or an adapter is called next. One that fails is tried again soon, then less and less often, never all at once.
package struct CallSchedule {
    private static let firstBackOffMs: Int64 = 1_000
    /// This many polls in a row that brought nothing: no contact.
    static let lostAfterFailures = 3

    private let intervalMs: Int64
    private let backOffMsMax: Int64
    package private(set) var nextMs: Int64
    private(set) var failures = 0

    package init(
        nowMs: Int64, intervalMs: Int64, backOffMsMax: Int64, chance: inout some RandomNumberGenerator
    ) {
        self.intervalMs = intervalMs
        self.backOffMsMax = backOffMsMax
        // Spread over the interval, so that boxes registered together are not polled together for ever.
        nextMs = nowMs + Int64.random(in: 0..<intervalMs, using: &chance)
    }

    package var isWithoutContact: Bool { failures >= CallSchedule.lostAfterFailures }

    mutating func callNoLater(than ms: Int64) { nextMs = min(nextMs, ms) }

    /// Somebody waits for it.
    mutating func callNow(nowMs: Int64) { nextMs = nowMs }

    /// The next poll keeps its place in the interval; intervals that were missed are not made up for.
    package mutating func succeeded(nowMs: Int64) {
        failures = 0
        nextMs += intervalMs * max(1, (nowMs - nextMs) / intervalMs + 1)
    }

    /// - Parameter madeProgress: readings were stored before it failed.
    package mutating func failed(nowMs: Int64, madeProgress: Bool, chance: inout some RandomNumberGenerator) {
        failures = madeProgress ? 1 : failures + 1
        let doubled = CallSchedule.firstBackOffMs << min(failures - 1, 20)
        let backOff = min(doubled, backOffMsMax)
        nextMs = nowMs + Int64.random(in: backOff / 2...backOff, using: &chance)
    }

    /// It did its part and has nothing to say for now.
    mutating func rested(nowMs: Int64, forMs: Int64, chance: inout some RandomNumberGenerator) {
        failures = 0
        nextMs = nowMs + Int64.random(in: forMs / 4 * 3...forMs, using: &chance)
    }
}
