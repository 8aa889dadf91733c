internal import Synchronization

/// Lets the first of many equal events through in each period and counts the rest, for limits and faults that must be
/// said once and not ten thousand times.
public final class Throttle: Sendable {
    private struct State {
        var until: [String: Int64] = [:]
        var held: [String: Int] = [:]
    }

    private let periodMs: Int64
    private let keysMax: Int
    private let state = Mutex(State())

    /// - Parameter keysMax: with more distinct keys than this in memory all are forgotten, which at worst says
    ///   something twice.
    public init(periodMs: Int64, keysMax: Int = 256) {
        self.periodMs = periodMs
        self.keysMax = keysMax
    }

    /// How many equal events were held back since the last one that was let through; nil: hold this one back too.
    public func pass(_ key: String, nowMs: Int64 = Clock.steadyMs()) -> Int? {
        state.withLock { state in
            if let until = state.until[key] {
                if nowMs < until {
                    state.held[key, default: 0] += 1
                    return nil
                }
            } else if state.until.count >= keysMax {
                state = State()
            }
            state.until[key] = nowMs + periodMs
            return state.held.removeValue(forKey: key) ?? 0
        }
    }
}
