/// Leaves a service alone that fails again and again, and lets one call at a time try whether it is back. Pure; its
/// fields are a row that all processes share.
public struct CircuitBreaker: Equatable, Sendable {
    public struct Rules: Equatable, Sendable {
        /// Failures in a row that open it.
        public var failuresMax = 3
        /// The first rest; each failed try doubles it, to sixteen times.
        public var restMs: Int64 = 30_000
        /// How long a try may take until another one is let through: its process may have died.
        public var trialMs: Int64 = 15_000
        public init() {}
    }

    public enum Verdict: Equatable, Sendable { case go, wait(untilMs: Int64) }

    public private(set) var failures: Int
    public private(set) var openUntilMs: Int64?
    public private(set) var trialUntilMs: Int64?
    public let rules: Rules

    public init(_ rules: Rules, failures: Int = 0, openUntilMs: Int64? = nil, trialUntilMs: Int64? = nil) {
        (self.rules, self.failures) = (rules, failures)
        (self.openUntilMs, self.trialUntilMs) = (openUntilMs, trialUntilMs)
    }

    public mutating func ask(nowMs: Int64) -> Verdict {
        guard let openUntilMs else { return .go }
        if nowMs < openUntilMs { return .wait(untilMs: openUntilMs) }
        if let trialUntilMs, nowMs < trialUntilMs { return .wait(untilMs: trialUntilMs) }
        trialUntilMs = nowMs + rules.trialMs
        return .go
    }

    public mutating func succeeded() { (failures, openUntilMs, trialUntilMs) = (0, nil, nil) }

    /// The call was not made after all.
    public mutating func gaveUp() { trialUntilMs = nil }

    public mutating func failed(nowMs: Int64) {
        failures = min(failures + 1, 1_000_000)
        guard failures >= rules.failuresMax else { return }
        let doublings = min(4, failures - rules.failuresMax)
        (openUntilMs, trialUntilMs) = (nowMs + rules.restMs << Int64(doublings), nil)
    }
}
