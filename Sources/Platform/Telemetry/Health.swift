internal import Basics
internal import Synchronization

/// A process's health for monitoring: whether its loops turn (liveness) and whether it can work now (readiness). It reveals no secrets:
/// names of checks, fixed words, numbers.
public final class Health: Sendable {
    /// The result of one check.
    public struct Finding: Equatable, Sendable {
        public let isWell: Bool
        public let why: String
        /// False: the process does its work without it, in part or for a while.
        public var isNeeded = true

        public static func well(_ why: String) -> Finding { Finding(isWell: true, why: why) }
        public static func ill(_ why: String) -> Finding { Finding(isWell: false, why: why) }
        /// The same of something that can be done without.
        public var bearable: Finding { Finding(isWell: isWell, why: why, isNeeded: false) }
    }

    /// An answer to a prober.
    public struct Answer: Equatable, Sendable {
        public let isWell: Bool
        public let json: String
    }

    private struct State {
        var loops: [String: Loop] = [:]
        var checks: [String: @Sendable () -> Finding] = [:]
        /// Parts that have not started yet.
        var starting = 1
        var stuckMs: Int64 = 60_000
    }

    /// An answer stays short, however many lanes there are; what is ill comes first.
    private static let loopsMax = 64

    private let state = Mutex(State())
    private let isStopping: @Sendable () -> Bool
    private let nowMs: @Sendable () -> Int64

    /// - Parameters:
    ///   - isStopping: whether the process was asked to stop.
    ///   - nowMs: by the steady clock; tests give their own.
    public init(
        isStopping: @escaping @Sendable () -> Bool = { StopFlag.isSet },
        nowMs: @escaping @Sendable () -> Int64 = Clock.steadyMs
    ) {
        self.isStopping = isStopping
        self.nowMs = nowMs
    }

    /// A loop that has not turned for so long is stuck.
    public func setStuck(ms: Int64) { state.withLock { $0.stuckMs = ms } }

    /// The process starts when so many parts have. To be called before the first of them does.
    public func setParts(_ count: Int) { state.withLock { $0.starting = count } }

    /// Everything that was to be made is made: from now on the checks alone say whether it is ready. Each part says it once.
    public func started() { state.withLock { $0.starting -= 1 } }

    /// A loop to be watched until it says that it has ended; one that had the name before is forgotten.
    /// - Parameter patience: how many times longer than others it may take, for what waits for servers of others by itself.
    public func loop(_ name: String, patience: Int64 = 1) -> Loop {
        let loop = Loop(patience: patience, nowMs: nowMs)
        state.withLock { $0.loops[name] = loop }
        return loop
    }

    /// A condition of readiness. `look` answers at once, or within a second.
    public func check(_ name: String, _ look: @escaping @Sendable () -> Finding) {
        state.withLock { $0.checks[name] = look }
    }

    /// Whether all loops turn. A process of which this says no is better started again.
    public func live() -> Answer {
        let (loops, stuckMs) = state.withLock { state in
            state.loops = state.loops.filter { !$0.value.hasEnded }
            return (state.loops, state.stuckMs)
        }
        let now = nowMs()
        let found = loops.map { (name: $0.key, finding: $0.value.finding(stuckMs: stuckMs, nowMs: now)) }
        let sorted = found.sorted {
            $0.finding.isWell == $1.finding.isWell ? $0.name < $1.name : !$0.finding.isWell
        }
        return Health.answer(
            Array(sorted.prefix(Health.loopsMax)), others: sorted.count - Health.loopsMax, words: ("live", "stuck"))
    }

    /// Whether the process can do its work now.
    public func ready() -> Answer {
        let state = self.state.withLock { $0 }
        var found: [(name: String, finding: Finding)] = []
        if isStopping() {
            found.append(("process", .ill("is stopping")))
        } else if state.starting > 0 {
            found.append(("process", .ill("is starting")))
        } else {
            found += state.checks.sorted { $0.key < $1.key }.map { ($0.key, $0.value()) }
            let now = nowMs()
            for (name, loop) in state.loops.sorted(by: { $0.key < $1.key }) where found.count < Health.loopsMax {
                guard let wait = loop.longWait(stuckMs: state.stuckMs, nowMs: now), !loop.hasEnded else { continue }
                found.append((name, wait))
            }
        }
        return Health.answer(found, others: 0, words: ("ready", "not ready"))
    }

    private static func answer(
        _ found: [(name: String, finding: Finding)], others: Int, words: (well: String, ill: String)
    ) -> Answer {
        let isWell = found.allSatisfy { $0.finding.isWell || !$0.finding.isNeeded }
        var json = "{\"status\":\"\(isWell ? words.well : words.ill)\",\"checks\":{"
        json += found.map { name, finding in
            "\(JSONString.quoted(name)):{\"ok\":\(finding.isWell)"
                + (finding.isNeeded ? "" : ",\"needed\":false") + ",\"why\":\(JSONString.quoted(finding.why))}"
        }.joined(separator: ",")
        json += "}" + (others > 0 ? ",\"others_well\":\(others)" : "") + "}\n"
        return Answer(isWell: isWell, json: json)
    }
}

/// One loop that has to go on turning. Safe from any thread; cheap enough for each turn.
public final class Loop: Sendable {
    private let patience: Int64
    private let nowMs: @Sendable () -> Int64
    private let turnedMs: Atomic<Int64>
    private let isWaiting = Atomic(false)
    private let isOver = Atomic(false)

    /// Loops that wait for PostgreSQL or the broker may take this many times longer: a restart would not help.
    private static let waitingPatience: Int64 = 10

    init(patience: Int64, nowMs: @escaping @Sendable () -> Int64) {
        self.patience = patience
        self.nowMs = nowMs
        turnedMs = Atomic(nowMs())
    }

    public func turned() { turnedMs.store(nowMs(), ordering: .relaxed) }

    /// It will turn no more, and is not to.
    public func ended() { isOver.store(true, ordering: .relaxed) }

    /// While `body` waits for a server of others the loop is given longer.
    public func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
        turned()
        isWaiting.store(true, ordering: .relaxed)
        defer {
            isWaiting.store(false, ordering: .relaxed)
            turned()
        }
        return try body()
    }

    /// A loop's own question whether it is to stop, which says that it turned.
    public func asking(_ shouldStop: () -> Bool) -> Bool {
        turned()
        return shouldStop()
    }

    var hasEnded: Bool { isOver.load(ordering: .relaxed) }

    func finding(stuckMs: Int64, nowMs: Int64) -> Health.Finding {
        let (ms, isWaiting) = (nowMs - turnedMs.load(ordering: .relaxed), self.isWaiting.load(ordering: .relaxed))
        let allowedMs = stuckMs * patience * (isWaiting ? Loop.waitingPatience : 1)
        let what = isWaiting ? "waits for a server for \(ms) ms" : "turned \(ms) ms ago"
        return ms <= allowedMs ? .well(what) : .ill("\(what); \(allowedMs / 1_000) s are allowed")
    }

    /// A wait for a server so long that work has stopped; nil: there is none.
    func longWait(stuckMs: Int64, nowMs: Int64) -> Health.Finding? {
        let ms = nowMs - turnedMs.load(ordering: .relaxed)
        guard isWaiting.load(ordering: .relaxed), ms > stuckMs else { return nil }
        return .ill("waits for a server for \(ms / 1_000) s")
    }
}
