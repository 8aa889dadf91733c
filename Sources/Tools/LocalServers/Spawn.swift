internal import Foundation
internal import Synchronization
internal import Threads

/// One posix_spawn: own process group, default signals, no descriptors but the three standard ones.
struct Spawn: Sendable {
    let command: [String]
    let input: String?
    let output: String

    func run() -> Result<pid_t, LocalServerError> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // Opened before the change of user, so that the logs stay ours.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Not all that we opened is close-on-exec. (A descriptor opened meanwhile by another thread slips through.)
        for descriptor in Self.openDescriptors where descriptor > 2 {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        // A process group of its own: Ctrl-C reaches only us, and we stop the servers after the work that needs them.
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        // The strings are ours: strdup here, free when the call is over.
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe Self.environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }

        var pid: pid_t = 0
        let code = unsafe posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { return .failure(advice(code)) }
        return .success(pid)
    }

    private func advice(_ code: Int32) -> LocalServerError {
        let cure = code == ENOENT ? "Install it: apt-get install util-linux" : "Its output would go to \(output)."
        return LocalServerError("\(command[0]): cannot be started: \(errorText(code)). \(cure)")
    }

    private static var openDescriptors: [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int32($0) }
    }

    /// Nothing of the caller's environment but where things are: PGDATA, LD_PRELOAD and friends do not leak in.
    private static var environment: [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return ["PATH=\(path):/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/"]
    }
}

/// The thread that starts every child. The kernel's parent-death signal is bound to the thread, not to the process, so
/// children need a starter that lives until the process ends; a thread of a pool does not.
enum SpawnThread {
    private static let jobs: Mailbox<@Sendable () -> Void> = {
        let jobs = Mailbox<@Sendable () -> Void>()
        WorkerThread.start("drover-spawn") { while let job = jobs.dequeue() { job() } }
        return jobs
    }()

    static func run<T: Sendable>(_ body: @escaping @Sendable () -> T) -> T {
        let box = Box<T>()
        jobs.put { box.put(body()) }
        return box.wait()
    }

    private final class Box<T: Sendable>: Sendable {
        private let value = Mutex<T?>(nil)
        private let done = DispatchSemaphore(value: 0)

        func put(_ new: T) {
            value.withLock { $0 = new }
            done.signal()
        }

        func wait() -> T {
            done.wait()
            guard let value = value.withLock({ $0 }) else { preconditionFailure("signalled without a value") }
            return value
        }
    }
}
