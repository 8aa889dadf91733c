internal import Foundation

/// Threads of our own, for what blocks in C or must not keep others waiting.
public enum Threads {
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
