package import Alerts
internal import Codecs
internal import Fleet
internal import Ingest
internal import Kafka
internal import Postgres
package import Settings
internal import Storage
package import Telemetry
internal import Worker

/// Brings the log to a rule set: looks what each partition was told last, and tells those that were told another.
package struct RulesPublication {
    package struct Outcome {
        /// Against the set that was published last.
        package let changes: [RuleChange]
        /// Partitions that got the set now; 0: all of them had it.
        package let told: Int
        package let partitions: Int
        package let fromMs: Int64
    }

    private let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    package func publish(_ rules: RuleSet) throws -> Outcome {
        let kafka = try settings.kafka(clientID: "drover-rules")
        let topics = try Topics.ensure(kafka, settings.topicShape)
        let partitions = (0..<(topics[Topic.machines] ?? 0)).map {
            TopicPartition(topic: Topic.machines, partition: $0)
        }
        let connection = try SchemaConnection.connect(settings.readerConninfo)
        // Two publishers would each compare with what the other has not told yet.
        try connection.execute("SET lock_timeout = '10s'; SET statement_timeout = '60s'")
        return try connection.transaction {
            try NamedLocks.acquire(.rules, on: connection)
            let last = try last(partitions, kafka, connection)
            let latest = last.values.max { $0.inForceMs < $1.inForceMs }
            let missing = partitions.filter { last[$0]?.rules.version != rules.version }
            // After every set there is, also one from a clock that ran ahead: the last one published counts.
            let fromMs = max(Clock.nowMs(), (latest?.inForceMs ?? 0) + 1)
            let changes = rules.changes(since: latest?.rules ?? .empty)
            if !missing.isEmpty {
                let deed = AuditedOperation(
                    .rulesPublished, by: Terminal.login,
                    [
                        ("of", "alerts"), ("version", rules.version),
                        ("changes", changes.map(\.description).joined(separator: "; ")),
                    ])
                // Beside this transaction, which keeps other publishers off until they are on the log.
                try deed.run(on: SchemaConnection.connect(settings.readerConninfo)) {
                    try RulesPublisher(kafka).publish(rules, fromMs: fromMs, to: missing)
                }
            }
            return Outcome(
                changes: changes, told: missing.count,
                partitions: partitions.count,
                fromMs: missing.isEmpty ? latest?.inForceMs ?? fromMs : fromMs)
        }
    }

    /// The last rule set of each partition: what the workers have read is in the database, the rest is read here.
    private func last(
        _ partitions: [TopicPartition], _ kafka: KafkaSettings, _ connection: Connection
    ) throws -> [TopicPartition: RuleTimeline.Entry] {
        let reader = try RecordReader(kafka)
        let (offsets, decoder) = (try MachineStore.offsets(on: connection), RecordDecoder())
        var last: [TopicPartition: RuleTimeline.Entry] = [:]
        for partition in partitions {
            var timeline = try MachineStore.rules(partition: partition.partition, on: connection)
            try reader.read(partition, (offsets[partition.partition] ?? 0)...(.max)) { record in
                guard
                    case .rules(let fromMs, let version, let text)? = try? decoder.decode(
                        line: record.value ?? [], isMachine: true)
                else { return }
                // What is no rule set the worker rejects.
                guard let entry = try? RuleTimeline.Entry(fromMs: fromMs, version: version, text: text) else { return }
                _ = timeline.insert(entry)
            }
            last[partition] = timeline.entries.last
        }
        return last
    }
}

/// Publishes the rules of the thresholds folder when its files change. Files that do not load change nothing: the set
/// that was published last stays in force.
package struct RulesFolderMonitor {
    private let publication: RulesPublication
    private let directory: String
    private let log: Log
    private let intervalMs: Int64
    private var nextMs: Int64 = 0
    /// The folder that the last look found, and the one that was published or refused last.
    private var seen: RuleFolder?
    private var settled: RuleFolder?
    /// Said already.
    private var trouble: String?

    /// Nil when the settings switch it off.
    package init?(_ settings: Settings, log: Log) throws {
        intervalMs = settings.integer("alerts.watch_s") * 1_000
        guard intervalMs > 0 else { return nil }
        publication = RulesPublication(settings: settings)
        self.log = log
        directory = try Home.path(settings.text("alerts.thresholds_dir"))
    }

    /// Looks when it is time, or at once and whatever was found before when someone asks for it. Waits for the broker and
    /// the database only when there is something to publish.
    package mutating func look(isReload: Bool = false) {
        guard isReload || Clock.steadyMs() >= nextMs else { return }
        defer { nextMs = Clock.steadyMs() + intervalMs }
        do {
            let folder = try Rules.read(directory)
            // Files that change from one look to the next are still being written.
            let isStill = folder == seen
            seen = folder
            guard isReload || isStill && folder != settled else { return }
            let rules: RuleSet
            do { rules = try Rules.load(folder, directory) } catch {
                settled = folder
                throw error
            }
            let outcome = try publication.publish(rules)
            settled = folder
            trouble = nil
            say(outcome, rules)
        } catch {
            let text = "\(error)"
            guard isReload || text != trouble else { return }
            trouble = text
            for line in text.split(separator: "\n") {
                log.error("rules not published; the last good set stays in force", ["error": "\(line)"])
            }
        }
    }

    private func say(_ outcome: RulesPublication.Outcome, _ rules: RuleSet) {
        guard outcome.told > 0 else { return log.info("rules are in force already", ["version": "\(rules.version)"]) }
        for change in outcome.changes { log.info("rule changed", ["change": "\(change)"]) }
        log.info("rules published", ["version": "\(rules.version)", "partitions": "\(outcome.told)"])
    }
}
