internal import Postgres
internal import Synchronization
internal import Telemetry

/// Requests that wait until their record is decided and committed. They hold no thread.
final class CommitWaiters: Sendable {
    /// Records of so many requests.
    static let waitsMax = 4_000

    private struct Wait {
        let partition: Int32
        let offset: Int64
        let deadlineMs: Int64
        /// Once: with a session that sees what was committed, or nil when that took too long.
        let settle: @Sendable (Connection?) -> Void
    }

    private struct State {
        var waits: [Wait] = []
        /// Offsets up to which everything is committed, by partition.
        var committed: [Int32: Int64] = [:]
    }

    private let state = Mutex(State())

    /// False: too many wait.
    func wait(
        partition: Int32, offset: Int64, forMs ms: Int64, settle: @escaping @Sendable (Connection?) -> Void
    ) -> Bool {
        let wait = Wait(partition: partition, offset: offset, deadlineMs: Clock.steadyMs() + ms, settle: settle)
        return state.withLock { state in
            guard state.waits.count < CommitWaiters.waitsMax else { return false }
            state.waits.append(wait)
            return true
        }
    }

    var isEmpty: Bool { state.withLock { $0.waits.isEmpty } }

    // MARK: On the listener's thread

    func found(_ progress: [Int32: Int64]) { state.withLock { $0.committed = progress } }

    /// - Parameter connection: nil: there is none now.
    func settle(on connection: Connection?) {
        let nowMs = Clock.steadyMs()
        let (settled, late) = state.withLock { state in
            var (settled, late, open): ([Wait], [Wait], [Wait]) = ([], [], [])
            for wait in state.waits {
                if connection != nil, wait.offset < state.committed[wait.partition] ?? 0 {
                    settled.append(wait)
                } else if wait.deadlineMs <= nowMs {
                    late.append(wait)
                } else {
                    open.append(wait)
                }
            }
            state.waits = open
            return (settled, late)
        }
        for wait in settled { wait.settle(connection) }
        for wait in late { wait.settle(nil) }
    }
}
