/// Leaves a service alone that fails again and again, and lets one call at a time try whether it is back. Pure; its
/// fields are a row that all processes share.
package struct CircuitBreaker: Equatable, Sendable {
    package struct Rules: Equatable, Sendable {
        /// Failures in a row that open it.
        package var failuresMax = 3
        /// The first rest; each failed try doubles it, to sixteen times.
        package var restMs: Int64 = 30_000
        /// The time until another trial call is allowed: the process of the first may have died.
        package var trialMs: Int64 = 15_000
        package init() {}
    }

    package enum Verdict: Equatable, Sendable { case go, wait(untilMs: Int64) }

    package private(set) var failures: Int
    package private(set) var openUntilMs: Int64?
    package private(set) var trialUntilMs: Int64?
    package let rules: Rules

    package init(_ rules: Rules, failures: Int = 0, openUntilMs: Int64? = nil, trialUntilMs: Int64? = nil) {
        self.rules = rules
        self.failures = failures
        self.openUntilMs = openUntilMs
        self.trialUntilMs = trialUntilMs
    }

    package mutating func ask(nowMs: Int64) -> Verdict {
        guard let openUntilMs else { return .go }
        if nowMs < openUntilMs { return .wait(untilMs: openUntilMs) }
        if let trialUntilMs, nowMs < trialUntilMs { return .wait(untilMs: trialUntilMs) }
        trialUntilMs = nowMs + rules.trialMs
        return .go
    }

    package mutating func succeeded() { (failures, openUntilMs, trialUntilMs) = (0, nil, nil) }

    /// The call was not made after all.
    package mutating func gaveUp() { trialUntilMs = nil }

    package mutating func failed(nowMs: Int64) {
        failures = min(failures + 1, 1_000_000)
        guard failures >= rules.failuresMax else { return }
        let doublings = min(4, failures - rules.failuresMax)
        openUntilMs = nowMs + rules.restMs << Int64(doublings)
        trialUntilMs = nil
    }
}
