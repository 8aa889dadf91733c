internal import Delivery
internal import Reports
package import Settings
package import Telemetry
package import Threads

/// The list of what `drover notify` runs beside the topics' relay, in the order in which they are stopped.
package enum RelayRole: CaseIterable {
    case notices, mail, webhooks, alertmanager, forward, reports

    /// A job in a thread of its own, until it is asked to stop.
    private struct Job {
        let name: String
        var patience: Int64 = 10
        let run: (() -> Bool) -> Void
    }

    /// None where the settings leave it out.
    private func jobs(_ settings: Settings, log: Log) throws -> [Job] {
        switch self {
        case .notices:
            let notices = try NoticeRole.relay(settings, log: log)
            return [Job(name: "notices") { notices.run(shouldStop: $0) }]
        case .mail:
            guard let mail = try MailRole.relay(settings, log: log) else { return [] }
            return [Job(name: "mail") { mail.run(shouldStop: $0) }]
        case .webhooks:
            guard let webhooks = try NoticeRole.webhooks(settings, log: log) else { return [] }
            return [
                Job(name: "post") { webhooks.any.run(shouldStop: $0) },
                Job(name: "post-answered") { webhooks.answered.run(shouldStop: $0) },
            ]
        case .alertmanager:
            guard let alertmanager = try NoticeRole.alertmanager(settings, log: log) else { return [] }
            return [Job(name: "alertmanager") { alertmanager.run(shouldStop: $0) }]
        case .forward:
            guard let forward = try ForwardRole.relay(settings, log: log) else { return [] }
            return [Job(name: "forward") { forward.run(shouldStop: $0) }]
        case .reports:
            guard let reports = try ReportRole.scheduler(settings, log: log) else { return [] }
            // A report of a year takes minutes.
            return [Job(name: "reports", patience: 60) { reports.run(shouldStop: $0) }]
        }
    }

    /// Each waits for servers of others by itself. None is started before all are made.
    package static func start(_ settings: Settings, log: Log) throws -> [WorkerThread] {
        try allCases.flatMap { try $0.jobs(settings, log: log) }.map { job in
            WorkerThread(job.name, loop: HealthRole.shared.loop(job.name, patience: job.patience), job.run)
        }
    }
}
