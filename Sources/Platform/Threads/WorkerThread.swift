internal import Foundation
internal import Synchronization
public import Telemetry

/// A thread of our own for work that blocks in C or would delay others. It runs until it is stopped, and `stop` waits for its end.
public final class WorkerThread: Sendable {
    private let isAsked = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    public init() {}

    /// A part of the program that is told when to end: by `stop`, or when the process is to stop.
    /// - Parameters:
    ///   - loop: turns whenever the part asks whether it is to end.
    ///   - body: is handed to the thread once; what it uses no other may use.
    public init(_ name: String, loop: Loop? = nil, _ body: @escaping (_ shouldStop: () -> Bool) -> Void) {
        let own = Own(body: body)
        start(name, loop: loop) { thread in
            own.body {
                loop?.turned()
                return thread.isStopping || StopFlag.isSet
            }
        }
    }

    private struct Own: @unchecked Sendable {
        // Its one caller is the thread that it is handed to.
        let body: (() -> Bool) -> Void
    }

    /// Call once. The thread keeps what `body` holds alive until it ends.
    /// - Parameter loop: ends with the thread.
    public func start(_ name: String, loop: Loop? = nil, _ body: @escaping @Sendable (WorkerThread) -> Void) {
        WorkerThread.start(name) { [self] in
            body(self)
            loop?.ended()
            ended.signal()
        }
    }

    /// Whether the thread is to end.
    public var isStopping: Bool { isAsked.load(ordering: .acquiring) }

    /// Returns when the thread has ended. To be called once, after `start`.
    public func stop() {
        isAsked.store(true, ordering: .releasing)
        wake.signal()
        ended.wait()
    }

    /// There is something to do.
    public func notice() { wake.signal() }

    /// On the thread: sleeps until it is stopped, woken or the time is over. Wake-ups meanwhile are merged.
    public func pause(ms: Int) {
        guard !isStopping, wake.wait(timeout: .now() + .milliseconds(ms)) == .success else { return }
        while wake.wait(timeout: .now()) == .success {}
    }

    /// A thread that ends by itself, and that nobody waits for.
    /// - Parameter name: what top, perf and a core show; at most 15 bytes, longer ones are cut.
    public static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // `Thread.name` does not reach the kernel when it is set before the start, and not always from within: the new
            // thread may run before Foundation knows which one it is.
            try? Data(name.utf8).write(to: URL(fileURLWithPath: "/proc/thread-self/comm"))
            body()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
