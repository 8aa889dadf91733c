internal import Codecs
package import Delivery
internal import Foundation
package import Ingest
package import Kafka
package import Settings
package import Synchronization
package import Telemetry
package import Worker

/// The roles that run until they are stopped, wired from settings.
package enum ServiceRoles {
    /// `ticker`: the worker's process ticks the partitions that the worker owns.
    package static func worker(
        _ settings: Settings, instanceID: String?, ticker: Ticker? = nil, log: Log,
        metrics: Metrics = MetricsRole.of("work")
    ) throws -> Worker {
        let kafka = try kafka(settings, clientID: "drover-work", log: log)
        _ = try Topics.ensure(kafka, settings.topicShape)
        var made = try workerSettings(settings, kafka: kafka, instanceID: instanceID)
        if let ticker { made.onAssignment = { ticker.own($0) } }
        return try Worker(made, metrics: metrics, health: HealthRole.shared, log: log)
    }

    package static func workerSettings(
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

    /// Settings of Kafka's client. Lines of librdkafka go to our log, each once in a while.
    package static func kafka(_ settings: Settings, clientID: String, log: Log) throws -> KafkaSettings {
        var kafka = try settings.kafka(clientID: clientID)
        let brokerLines = Throttle(periodMs: 30_000)
        kafka.log = { level, line in
            guard level <= 4, let more = brokerLines.pass(String(line.prefix(40))) else { return }
            log.warning("kafka client", ["line": "\(line)", "repeated": "\(more)"])
        }
        return kafka
    }

    package static func relay(_ settings: Settings, log: Log) throws -> OutboxRelay {
        let kafka = try kafka(settings, clientID: "drover-notify", log: log)
        let shape = settings.topicShape
        return OutboxRelay(
            OutboxRelaySettings(
                kafka: kafka, conninfo: settings.relayConninfo,
                rejectedRowsMax: settings.integer("rejected.rows_max"),
                prepareTopics: { _ = try Topics.ensure(kafka, shape, timeoutMs: 3_000) }),
            metrics: MetricsRole.of("relay"), log: log)
    }

    /// The ticks of a role while `body` runs; none when the settings leave them to others.
    package static func withTicks<R>(
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

    /// The name that tells this process from others of its role.
    private static func instance(_ settings: Settings) -> String {
        let named = settings.text("kafka.instance_id")
        return named.isEmpty ? ProcessInfo.processInfo.hostName : named
    }

    /// Which roles send ticks.
    package static func tickRoles(_ settings: Settings) throws -> [String] {
        let known = ["work", "serve", "notify", "gateway"]
        let wanted = settings.words(of: "ticks.roles")
        if let unknown = wanted.first(where: { !known.contains($0) }) {
            throw Failure("ticks.roles: `\(unknown)` is not one of \(known.joined(separator: ", "))")
        }
        return wanted
    }

    /// As the settings say, from when they are loaded.
    package static let logFormat = Mutex(Log.Format.text)

    package static var log: Log { log(standard: .info) }

    /// - Parameter standard: the level where `DROVER_LOG` names none.
    package static func log(standard: Log.Level) -> Log {
        let level = ProcessInfo.processInfo.environment["DROVER_LOG"].flatMap(Log.Level.init)
        return Log(level: level ?? standard, format: logFormat.withLock { $0 })
    }
}
