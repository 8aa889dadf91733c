internal import Foundation
internal import Observe
internal import Synchronization

/// Threads on which handlers run, so that one that waits for a database keeps no other connection waiting. What waits for a
/// thread is bounded by the server's connections: each has one request under way.
final class HandlerThreads: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// Of those that wait, how many have been taken from the front.
        var taken = 0
        var isStopped = false
    }

    private let count: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ count: Int) {
        self.count = count
        for number in 0..<count {
            // The threads keep this alive until it is stopped.
            Threads.start("handler-\(number)") { [self] in
                while let work = next() { work() }
                ended.signal()
            }
        }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(work) }
        wake.signal()
    }

    /// Waits for what is at work and what waits. To be called once, when nothing is added any more.
    func stop() {
        state.withLock { $0.isStopped = true }
        for _ in 0..<count { wake.signal() }
        for _ in 0..<count { ended.wait() }
    }

    /// Nil: it is stopped, and nothing is left.
    private func next() -> (@Sendable () -> Void)? {
        while true {
            wake.wait()
            let (work, isOver) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                guard state.taken < state.waiting.count else { return (nil, state.isStopped) }
                defer {
                    state.taken += 1
                    if state.taken == state.waiting.count || state.taken >= 1_000 {
                        state.waiting.removeFirst(state.taken)
                        state.taken = 0
                    }
                }
                return (state.waiting[state.taken], false)
            }
            if work != nil || isOver { return work }
        }
    }
}
