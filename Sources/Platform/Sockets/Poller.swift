internal import CEpoll
internal import Glibc

/// An error of a system call on a socket.
package struct SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }

    /// The text of `errno` after a failed call.
    init(doing: String, _ code: Int32 = errno) {
        description = unsafe "\(doing): \(String(cString: strerror(code)))"
    }
}

/// Waits for many descriptors at once (epoll, level-triggered). One thread.
@safe
package final class Poller {
    private let epoll: Int32
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: 1_024)

    package init() throws {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketError(doing: "epoll_create1") }
    }

    deinit { close(epoll) }

    /// Asks for reading, or for writing, or both. A descriptor that is closed leaves by itself.
    package func add(_ descriptor: Int32, tag: Int, reading: Bool, writing: Bool) throws {
        try control(EPOLL_CTL_ADD, descriptor, tag, reading, writing)
    }

    package func change(_ descriptor: Int32, tag: Int, reading: Bool, writing: Bool) throws {
        try control(EPOLL_CTL_MOD, descriptor, tag, reading, writing)
    }

    private func control(_ what: Int32, _ descriptor: Int32, _ tag: Int, _ reading: Bool, _ writing: Bool) throws {
        var event = unsafe epoll_event()
        unsafe event.events = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
        unsafe event.data.u64 = UInt64(tag)
        guard unsafe epoll_ctl(epoll, what, descriptor, &event) == 0 else { throw SocketError(doing: "epoll_ctl") }
    }

    /// The tags of what is ready, at most 1,024 of them; empty after the time or a signal.
    package func wait(timeoutMs: Int32) -> [Int] {
        let count = unsafe epoll_wait(epoll, &events, Int32(events.count), timeoutMs)
        return (0..<max(0, Int(count))).map { unsafe Int(events[$0].data.u64) }
    }
}

/// Descriptors that a process may have open at once.
package enum Descriptors {
    /// Raises the soft limit to the hard one and returns it.
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
