public import Codecs

/// The clock of one partition: the greatest tick that counts. Facts in (ticks with the broker's stamp), decisions out.
///
/// A tick ahead of the broker's stamp never counts. One that jumps far beyond the clock waits: it comes from a wrong clock, the broker's
/// own among them, or time went on while nobody ticked. It counts when a tick of another sender agrees with it, or a later one of the same
/// sender, and meanwhile nobody has said that time goes on as before. docs/decisions/0020 has the reasons.
public struct PartitionClock: Equatable, Sendable {
    /// A tick that waits for another to agree.
    public struct Waiting: Equatable, Sendable {
        public let ts: Int64
        public let pushedMs: Int64
        /// Empty: it did not say.
        public let by: String

        public init(ts: Int64, pushedMs: Int64, by: String) { (self.ts, self.pushedMs, self.by) = (ts, pushedMs, by) }
    }

    public enum Decision: Equatable, Sendable {
        /// Time has come to here, if it had not before.
        case counts(Int64)
        case waits
        /// It, or the one that waited, counts for nothing.
        case dropped
        /// A person has set the clock back to here.
        case setBack(Int64)
    }

    /// A tick further ahead of the broker's stamp is somebody's wrong clock.
    public static let aheadMsMax: Int64 = 60_000
    /// Ticks come every 5 s, each minute at the least: restarts, elections and rebalances are over within this. What an alert or a trip
    /// waits for is of the same size, so that a wrong clock below it shows at once and does little.
    static let jumpMsMax: Int64 = 600_000
    /// A sender agrees with itself only after this, by the broker's stamp: two ticks of everybody else come within it.
    static let agreeAfterMs: Int64 = 10_000
    /// Two clocks that agree are this close to each other; with what a tick may be late.
    static let agreeWithinMs: Int64 = 60_000
    /// The time after which a tick that waits was alone: two and a half of the longest `ticks.interval_s`.
    public static let waitMsMax: Int64 = 150_000

    /// 0 before the first tick.
    public private(set) var clockMs: Int64
    public private(set) var waiting: Waiting?
    /// An import has brought it to where it is: it says nothing of what time it is now, as if there had been no tick.
    public private(set) var isOfImport = false

    public init(clockMs: Int64 = 0, waiting: Waiting? = nil) { (self.clockMs, self.waiting) = (clockMs, waiting) }

    /// As it stands beside the offset; nil: there is nothing but the time.
    public var text: String? { waiting?.text ?? (isOfImport ? PartitionClock.ofImport : nil) }
    private static let ofImport = "import"

    public init(clockMs: Int64, text: String?) {
        self.init(clockMs: clockMs, waiting: text.flatMap { Waiting(text: $0) })
        isOfImport = text == PartitionClock.ofImport
    }

    /// - Parameter pushedMs: the broker's stamp; -1: there is none, and nothing is known of a jump.
    public mutating func accept(_ tick: Tick, pushedMs: Int64) -> Decision {
        if tick.isSetBack { return setBack(tick.ts) }
        guard pushedMs >= 0 else { return count(tick.ts) }
        if tick.ts - pushedMs > PartitionClock.aheadMsMax { return .dropped }
        if tick.isOfImport { return countImport(tick.ts) }
        // An empty partition has no time to go on from.
        if clockMs == 0 || isOfImport {
            isOfImport = isOfImport && tick.ts <= clockMs
            return count(tick.ts)
        }
        if tick.ts <= clockMs + PartitionClock.jumpMsMax {
            // Who moves the clock says that time goes on as before.
            let contradicts = waiting != nil && tick.ts > clockMs
            if contradicts { waiting = nil }
            return count(tick.ts)
        }
        return jump(Waiting(ts: tick.ts, pushedMs: pushedMs, by: tick.by ?? ""))
    }

    private mutating func count(_ ts: Int64) -> Decision {
        clockMs = max(clockMs, ts)
        return .counts(ts)
    }

    /// Counts a tick of an import: what it closes is behind its own readings, of whatever time they are.
    private mutating func countImport(_ ts: Int64) -> Decision {
        if clockMs == 0 || ts > clockMs + PartitionClock.jumpMsMax { (isOfImport, waiting) = (true, nil) }
        return count(ts)
    }

    private mutating func setBack(_ ts: Int64) -> Decision {
        guard ts < clockMs else { return .dropped }
        (clockMs, waiting, isOfImport) = (ts, nil, false)
        return .setBack(ts)
    }

    private mutating func jump(_ tick: Waiting) -> Decision {
        guard let before = waiting, before.isFresh(at: tick.pushedMs) else {
            waiting = tick
            return .waits
        }
        if tick.agrees(with: before) {
            guard tick.by != before.by || tick.pushedMs - before.pushedMs >= PartitionClock.agreeAfterMs else {
                return .waits
            }
            waiting = nil
            return count(tick.ts)
        }
        // The nearer one is more likely right; who said it may say better, and then the first one was wrong.
        if tick.by == before.by || tick.ts < before.ts { waiting = tick }
        return .dropped
    }
}

extension PartitionClock.Waiting {
    /// The broker's stamps may go back, too.
    fileprivate func isFresh(at pushedMs: Int64) -> Bool {
        (0...PartitionClock.waitMsMax).contains(pushedMs - self.pushedMs)
    }

    /// Both clocks went on as far as the broker's did.
    fileprivate func agrees(with before: PartitionClock.Waiting) -> Bool {
        abs((ts - before.ts) - (pushedMs - before.pushedMs)) <= PartitionClock.agreeWithinMs
    }
}

extension PartitionClock.Waiting {
    public var text: String { "\(ts) \(pushedMs) \(by)" }

    /// Nil: it is none.
    public init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let ts = Int64(parts[0]), let pushedMs = Int64(parts[1]) else { return nil }
        self.init(ts: ts, pushedMs: pushedMs, by: String(parts[2]))
    }
}
