internal import Foundation
internal import Observe
internal import Synchronization

/// Work that waits for others, one after the other on a thread of its own with a tool of its own: the server's threads must
/// not wait.
final class SideThread<Tool>: Sendable {
    private typealias Work = @Sendable (Tool) -> Void

    private struct State {
        var waiting: [Work] = []
        var isStopped = false
    }

    private let waitingMax: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ name: String, waitingMax: Int, make: @escaping @Sendable () -> Tool) {
        self.waitingMax = waitingMax
        // The thread keeps this alive until it is stopped.
        Threads.start(name) { [self] in
            run(make())
            ended.signal()
        }
    }

    /// What waits is done; nothing is taken any more. To be called once.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    /// False: too much waits, or it is stopped.
    func take(_ work: @escaping @Sendable (Tool) -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard state.waiting.count < waitingMax, !state.isStopped else { return false }
            state.waiting.append(work)
            return true
        }
        if isTaken { wake.signal() }
        return isTaken
    }

    private func run(_ tool: Tool) {
        while true {
            wake.wait()
            let (work, isStopped) = state.withLock { state in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isStopped)
            }
            if let work { work(tool) } else if isStopped { return }
        }
    }
}
