internal import Foundation

extension LocalServerGroup {
    /// The variables of a test run, one `NAME=value` a line, the value unquoted to the end of the line.
    /// The database user is the cluster's superuser, so that a test can make databases of its own.
    package func testEnvironment() -> [String] {
        [
            "DROVER_TEST_POSTGRES=\(conninfo(user: "postgres"))",
            "DROVER_TEST_BROKERS=\(brokers)",
        ]
            + broker.settings.sorted { $0.key < $1.key }.map {
                "DROVER_\($0.key.uppercased().replacing(".", with: "_"))=\($0.value)"
            }
    }

    /// The whole of `drover servers`: starts the servers, hands the lines of `testEnvironment()` to `ready`, stays up
    /// until SIGINT, SIGTERM or SIGHUP, stops them. Throws when they cannot start or when one ends by itself.
    ///
    /// To be called on the main thread before other threads exist: these signals are blocked, and a thread that was
    /// there before would still take them.
    package static func serve(_ settings: LocalServerSettings, ready: ([String]) -> Void) throws {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

        let servers = try start(settings)
        defer { servers.stop() }
        ready(servers.testEnvironment())
        var second = timespec(tv_sec: 1, tv_nsec: 0)
        while true {
            if unsafe sigtimedwait(&signals, nil, &second) > 0 { return }
            if let failure = servers.failure() { throw LocalServerError(failure) }
        }
    }
}
