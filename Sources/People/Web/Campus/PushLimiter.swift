internal import Fleet
internal import Synchronization

/// Limits the records of one person per minute: an app that runs wild must not fill a campus's log.
final class PushLimiter: Sendable {
    private static let peopleMax = 100_000

    private struct State {
        var minute: Int64 = 0
        var pushed: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Ride drivers say where they are, about once a second.
    static func most(_ role: PersonRole) -> Int { role == .rideDriver ? 240 : 60 }

    /// Seconds until another one is taken; nil: this one is.
    func reserve(_ person: String, most: Int, nowMs: Int64) -> Int64? {
        state.withLock { state in
            if nowMs / 60_000 != state.minute { state = State(minute: nowMs / 60_000) }
            let pushed = state.pushed[person] ?? 0
            guard pushed < most, pushed > 0 || state.pushed.count < PushLimiter.peopleMax else {
                return 60 - nowMs / 1_000 % 60
            }
            state.pushed[person] = pushed + 1
            return nil
        }
    }
}
