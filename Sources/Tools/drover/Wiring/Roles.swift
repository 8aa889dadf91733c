import Alerts
import Codecs
import Delivery
import Fleet
import Foundation
import Gateways
import Ingest
import Kafka
import Postgres
import Settings
import Synchronization
import Telemetry
import Threads
import Trips
import Worker

/// The roles that run until they are stopped, wired from settings.
enum Roles {
    /// `ticker`: the worker's process ticks the partitions that the worker owns.
    static func worker(
        _ settings: Settings, instanceID: String?, ticker: Ticker? = nil, log: Log,
        metrics: Metrics = MetricsRole.of("work")
    ) throws -> Worker {
        let kafka = try kafka(settings, clientID: "drover-work", log: log)
        _ = try Topics.ensure(kafka, settings.topicShape)
        var made = try workerSettings(settings, kafka: kafka, instanceID: instanceID)
        if let ticker { made.onAssignment = { ticker.own($0) } }
        return try Worker(made, metrics: metrics, health: HealthRole.shared, log: log)
    }

    static func workerSettings(
        _ settings: Settings, kafka: KafkaSettings, instanceID: String?
    ) throws -> WorkerSettings {
        let lanes = Int(settings.integer("work.lanes"))
        func kept(_ setting: String) -> KeptSpan {
            let days = settings.integer(setting)
            return KeptSpan(days: days == 0 ? nil : days)
        }
        var made = WorkerSettings(
            kafka: kafka, group: settings.text("kafka.group"), instanceID: instanceID,
            sessionTimeoutMs: settings.integer("kafka.session_timeout_ms"),
            conninfo: settings.text("postgres.url"),
            lanes: lanes == 0 ? ProcessInfo.processInfo.activeProcessorCount : lanes,
            batchMax: Int(settings.integer("kafka.batch_messages_max")),
            commitIntervalMs: settings.integer("work.commit_interval_ms"), tripRules: try settings.tripRules(),
            alertRules: try Rules.load(Home.path(settings.text("alerts.thresholds_dir"))), topics: Topics.readings)
        made.quarantineMax = Int(settings.integer("work.quarantine_max"))
        made.kept = (kept("retention.vehicle_minute_days"), kept("retention.machine_reading_days"))
        return made
    }

    /// What librdkafka has to say goes to our log, each line once in a while.
    static func kafka(_ settings: Settings, clientID: String, log: Log) throws -> KafkaSettings {
        var kafka = try settings.kafka(clientID: clientID)
        let brokerLines = OncePer(periodMs: 30_000)
        kafka.log = { level, line in
            guard level <= 4, let more = brokerLines.pass(String(line.prefix(40))) else { return }
            log.warning("kafka client", ["line": "\(line)", "repeated": "\(more)"])
        }
        return kafka
    }

    static func relay(_ settings: Settings, log: Log) throws -> Relay {
        let kafka = try kafka(settings, clientID: "drover-notify", log: log)
        let shape = settings.topicShape
        return Relay(
            RelaySettings(
                kafka: kafka, conninfo: settings.relayConninfo,
                rejectedRowsMax: settings.integer("rejected.rows_max"),
                prepareTopics: { _ = try Topics.ensure(kafka, shape, timeoutMs: 3_000) }),
            metrics: MetricsRole.of("relay"), log: log)
    }

    /// The ticks of a role while `body` runs; none when the settings leave them to others.
    static func withTicks<R>(
        _ settings: Settings, of role: String, log: Log, _ body: (Ticker?) throws -> R
    ) throws -> R {
        guard try tickRoles(settings).contains(role) else { return try body(nil) }
        // The log of the role's own client says already what ails the broker.
        let ticker = Ticker(
            try settings.kafka(clientID: "drover-ticks"),
            name: Tick.sender(role: role, instance: instance(settings)),
            intervalS: settings.integer("ticks.interval_s"), log: log)
        ticker.start()
        defer { ticker.stop() }
        return try body(ticker)
    }

    /// What tells this process from others of its role.
    private static func instance(_ settings: Settings) -> String {
        let named = settings.text("kafka.instance_id")
        return named.isEmpty ? ProcessInfo.processInfo.hostName : named
    }

    /// Which roles send ticks.
    static func tickRoles(_ settings: Settings) throws -> [String] {
        let known = ["work", "serve", "notify", "gateway"]
        let wanted = settings.text("ticks.roles").split(separator: ",").map { String($0.filter { $0 != " " }) }
        if let unknown = wanted.first(where: { !known.contains($0) }) {
            throw Failure("ticks.roles: `\(unknown)` is not one of \(known.joined(separator: ", "))")
        }
        return wanted
    }

    /// As the settings say, from when they are loaded.
    static let logFormat = Mutex(Log.Format.text)

    static var log: Log { log(standard: .info) }

    /// - Parameter standard: the level where `DROVER_LOG` names none.
    static func log(standard: Log.Level) -> Log {
        let level = ProcessInfo.processInfo.environment["DROVER_LOG"].flatMap(Log.Level.init)
        return Log(level: level ?? standard, format: logFormat.withLock { $0 })
    }
}

extension Command {
    static let work = Command(
        name: "work", operands: "[options]",
        summary: "Runs a worker: topics in, results to PostgreSQL, exactly once. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover work --set kafka.instance_id=worker-1",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            SettingFiles.warn(settings, of: .work, log: Roles.log)
            Signals.install()
            let instance = settings.text("kafka.instance_id")
            try MetricsRole.serving(settings, log: Roles.log) {
                try HealthRole.watch(settings, database: settings.text("postgres.url"))
                HealthRole.shared.started()
                HealthRole.shared.check("partitions") { .ill("the worker cannot start yet: see its log") }
                try Roles.withTicks(settings, of: "work", log: Roles.log) { ticker in
                    while !StopFlag.isSet {
                        // Until the worker is there and says so itself.
                        _ = HealthRole.shared.loop("poll", patience: 10)
                        do {
                            let worker = try Roles.worker(
                                settings, instanceID: instance.isEmpty ? nil : instance, ticker: ticker, log: Roles.log)
                            worker.run { StopFlag.isSet }
                        } catch  where error is KafkaError || error is TopicFault {
                            // A worker that is started before its broker waits for it, as it would later on.
                            Roles.log.error(
                                "the worker cannot start yet", ["error": "\(error)", "retry_in_ms": "3000"])
                            _ = StopFlag.wait(timeoutMs: 3_000)
                        }
                    }
                }
            }
            return .done
        })

    static let notify = Command(
        name: "notify", operands: "[options]",
        summary:
            "Brings what the workers decided to its topics and to people, waiting mail to the mail server, surveys to a "
            + "collector; makes reports that fall due. "
            + "Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover notify --set postgres.relay_url='dbname=drover user=drover_notify'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            SettingFiles.warn(settings, of: .notify, log: Roles.log)
            Signals.install()
            try MetricsRole.serving(settings, log: Roles.log) {
                // Reports that fall due are read as their owner reads.
                let isReporting = !settings.text("postgres.page_url").isEmpty
                try HealthRole.watch(settings, database: settings.relayConninfo, logins: isReporting ? [.page] : [])
                let others = try RelayRole.start(settings, log: Roles.log)
                defer { for other in others { other.stop() } }
                try Roles.withTicks(settings, of: "notify", log: Roles.log) { _ in
                    let loop = HealthRole.shared.loop("relay", patience: 10)
                    let relay = try Roles.relay(settings, log: Roles.log)
                    HealthRole.shared.check("turn") { [standing = relay.standing] in standing.finding }
                    HealthRole.shared.started()
                    relay.run { loop.asking { StopFlag.isSet } }
                    loop.ended()
                }
            }
            return .done
        })
}
