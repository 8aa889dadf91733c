package import Settings
internal import Synchronization
internal import Telemetry
internal import Threads

/// A role that runs until it is stopped, by the name of its command.
package enum ServiceRole: String, CaseIterable, Sendable {
    case work, notify, gateway, serve

    fileprivate func run(_ settings: Settings, _ tell: (String) -> Void) throws {
        switch self {
        case .work: try ServiceRoles.work(settings)
        case .notify: try ServiceRoles.notify(settings)
        case .gateway: try ServiceRoles.gateway(settings)
        case .serve: try ServiceRoles.serve(settings, tell)
        }
    }
}

extension ServiceRoles {
    /// Runs roles in this process until it is to stop, each on a thread of its own. When one ends, however it does, the others stop:
    /// whoever started the process starts all of them again, as with one.
    /// - Throws: what the first role that failed threw, when all have ended.
    package static func together(
        _ roles: [ServiceRole], _ settings: Settings, _ tell: @escaping @Sendable (String) -> Void
    ) throws {
        // Before there are threads that would take the signals as they were.
        Signals.install()
        if roles.count > 1 { HealthRole.together(roles.count) }
        let failure = FirstFailure()
        try MetricsRole.serving(settings, log: log) {
            let threads = roles.map { role in
                WorkerThread(role.rawValue) { _ in
                    do { try role.run(settings, tell) } catch {
                        failure.keep(error)
                        log.error("a role failed, so all stop", ["role": "\(role)", "error": "\(error)"])
                    }
                    StopFlag.set()
                }
            }
            while !StopFlag.wait(timeoutMs: 60_000) {}
            for thread in threads { thread.stop() }
        }
        try failure.tell()
    }
}

/// Of several threads: the others may fail for its sake.
private final class FirstFailure: Sendable {
    private let error = Mutex<(any Error)?>(nil)

    func keep(_ new: any Error) {
        error.withLock { if $0 == nil { $0 = new } }
    }

    func tell() throws {
        if let error = error.withLock({ $0 }) { throw error }
    }
}
