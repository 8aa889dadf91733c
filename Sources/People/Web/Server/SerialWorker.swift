internal import Threads

/// Work that waits for others, one after the other on a thread of its own with a tool of its own: the server's threads must
/// not wait.
final class SerialWorker<Tool>: Sendable {
    private typealias Work = @Sendable (Tool) -> Void

    private let waitingMax: Int
    private let waiting = Mailbox<Work>()
    private let thread = WorkerThread()

    init(_ name: String, waitingMax: Int, make: @escaping @Sendable () -> Tool) {
        self.waitingMax = waitingMax
        // The thread keeps this alive until it is stopped.
        thread.start(name) { [self] _ in
            let tool = make()
            while let work = waiting.dequeue() { work(tool) }
        }
    }

    /// Finishes waiting work and accepts no more. Call once.
    func stop() {
        waiting.close()
        thread.stop()
    }

    /// False: too much waits, or it is stopped.
    func enqueue(_ work: @escaping @Sendable (Tool) -> Void) -> Bool { waiting.offer(work, atMost: waitingMax) }
}
