internal import Glibc
internal import Synchronization

/// Whether this process was asked to stop. Set once, never cleared.
public enum StopFlag {
    private static let flag = Atomic<Bool>(false)
    /// A pipe that nobody reads: readable from the moment the flag is set, so that sleepers wake at once.
    private static let wake: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }()

    public static var isSet: Bool { flag.load(ordering: .acquiring) }

    /// Asks the process to stop; safe from any thread and in a signal handler once `prepare` has run.
    public static func set() {
        flag.store(true, ordering: .releasing)
        var one: UInt8 = 1
        _ = unsafe write(wake.write, &one, 1)
    }

    /// Sleeps until the flag is set or the time is over; returns whether it is set.
    @discardableResult
    public static func wait(timeoutMs: Int) -> Bool {
        var ready = pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)
        if !isSet { _ = unsafe poll(&ready, 1, Int32(clamping: max(0, timeoutMs))) }
        return isSet
    }

    /// Swift makes globals at their first use, under a lock; a signal handler must not be that first use.
    static func prepare() { _ = (isSet, wake) }
}

/// Whether this process was asked to read its files again (SIGHUP).
public enum ReloadFlag {
    private static let flag = Atomic<Bool>(false)

    /// True once after each time that it was set.
    public static func consume() -> Bool { flag.exchange(false, ordering: .acquiringAndReleasing) }

    static func set() { flag.store(true, ordering: .releasing) }
    static func prepare() { _ = consume() }
}

public enum Signals {
    /// SIGTERM and SIGINT set `StopFlag`; a second one ends the process at once with 128 plus its number. A closed pipe
    /// or socket becomes an error of the call that wrote to it instead of a signal. Call it once, on the main thread,
    /// before others are started.
    public static func install() {
        StopFlag.prepare()
        handle(SIGTERM, stop)
        handle(SIGINT, stop)
        handle(SIGPIPE, SIG_IGN)
        // A parent may have started us with these held back; then no one could stop us politely.
        var stops = sigset_t()
        unsafe sigemptyset(&stops)
        unsafe sigaddset(&stops, SIGTERM)
        unsafe sigaddset(&stops, SIGINT)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &stops, nil)
    }

    /// SIGHUP sets `ReloadFlag` instead of ending the process, and wakes who sleeps in `StopFlag.wait`. For roles that
    /// read files which change; call it after `install`.
    public static func installReload() {
        ReloadFlag.prepare()
        handle(SIGHUP) { _ in ReloadFlag.set() }
    }

    // Runs inside the signal: only atomics, write and _exit are allowed here.
    private static let stop: @convention(c) (Int32) -> Void = { number in
        if StopFlag.isSet { _exit(128 + number) }
        let before = errno
        StopFlag.set()
        errno = before
    }

    private static func handle(_ number: Int32, _ handler: __sighandler_t?) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        // Blocking calls elsewhere go on after the signal; loops look at the flag between them.
        action.sa_flags = Int32(SA_RESTART)
        if unsafe sigaction(number, &action, nil) != 0 { StandardError.write("cannot handle signal \(number)\n") }
    }
}
