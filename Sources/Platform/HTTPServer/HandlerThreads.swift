internal import Threads

/// Threads on which handlers run, so that one that waits for a database keeps no other connection waiting. What waits for a
/// thread is bounded by the server's connections: each has one request under way.
final class HandlerThreads: Sendable {
    private let waiting = Mailbox<@Sendable () -> Void>()
    private let threads: [WorkerThread]

    init(_ count: Int) {
        threads = (0..<count).map { _ in WorkerThread() }
        for (number, thread) in threads.enumerated() {
            // The threads keep this alive until it is stopped.
            thread.start("handler-\(number)") { [self] _ in
                while let work = waiting.dequeue() { work() }
            }
        }
    }

    func run(_ work: @escaping @Sendable () -> Void) { waiting.put(work) }

    /// Waits for running and queued work. Call once, when nothing is added any more.
    func stop() {
        waiting.close()
        for thread in threads { thread.stop() }
    }
}
