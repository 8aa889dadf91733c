internal import Synchronization

/// Signs of life that were pushed lately: at most one of a person in half a minute, whatever his app asks.
final class HeartbeatLimiter: Sendable {
    static let periodMs: Int64 = 30_000
    private static let keysMax = 100_000

    private let pushedMs = Mutex<[String: Int64]>([:])

    /// Whether one is due; it is then taken as pushed.
    /// - Parameter lastMs: the last one that is committed.
    func isDue(_ key: String, lastMs: Int64, nowMs: Int64) -> Bool {
        guard nowMs - lastMs >= HeartbeatLimiter.periodMs else { return false }
        return pushedMs.withLock { pushed in
            if let before = pushed[key], nowMs - before < HeartbeatLimiter.periodMs { return false }
            if pushed.count >= HeartbeatLimiter.keysMax {
                pushed = pushed.filter { nowMs - $0.value < HeartbeatLimiter.periodMs }
            }
            guard pushed.count < HeartbeatLimiter.keysMax else { return false }
            pushed[key] = nowMs
            return true
        }
    }
}
