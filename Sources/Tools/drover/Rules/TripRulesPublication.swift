import App
import Basics
import Codecs
import Fleet
import Ingest
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Telemetry
import Trips
import Worker

/// Trip rules as a person sees them: what is in force where, and what the settings say.
struct TripRulesStatus {
    /// In the order of their numbers; empty before any worker took one over.
    let partitions: [(partition: Int32, timeline: TripRuleTimeline)]

    init(on connection: Connection) throws { partitions = try TripRuleStore.all(on: connection) }

    /// By these settings' keys, as these would be written.
    static func shown(_ rules: TripRules) -> [(key: String, text: String)] {
        [
            ("trips.gap_s", Decimal.text(rules.gapMs, decimals: 3)),
            ("trips.trip_gap_min", Decimal.text(Decimal.divided(rules.tripGapMs * 1_000, by: 60_000), decimals: 3)),
            ("trips.sharp_mps2", Decimal.text(rules.sharpMmPerS2, decimals: 3)),
            ("trips.sharp_speed_kmh_min", Decimal.text(rules.sharpLeastMetresPerHour, decimals: 3)),
            ("trips.sharp_hold_ms", String(rules.sharpHoldMs)),
        ]
    }

    /// The settings' difference from the rules that are in force when nothing more comes; nil: none.
    func difference(_ settings: TripRules) -> String? {
        var lines: [String] = []
        let others = partitions.map { ($0.partition, $0.timeline.last) }.filter { $0.1 != settings }
        for (rules, partitions) in TripRulesStatus.grouped(others) {
            let pairs = zip(TripRulesStatus.shown(settings), TripRulesStatus.shown(rules))
            let keys = pairs.filter { $0.text != $1.text }.map {
                "\($0.key) is \($0.text) in the settings and \($1.text)"
            }
            let what = keys.isEmpty ? "limits that are no setting differ from what is" : keys.joined(separator: ", ")
            lines.append("\(what) on the log of \(TripRulesStatus.text(partitions))")
        }
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    static let remedy = """
        the log counts and the settings decide nothing: `drover rules trips --publish` puts the settings' on the log, \
        or set them to what is in force (`drover rules trips`)
        """

    /// In force at a time and later.
    func table(nowMs: Int64) -> Table {
        var table = Table(["partitions", "from"] + TripRulesStatus.shown(TripRules()).map(\.key) + ["state"])
        for (timeline, partitions) in TripRulesStatus.grouped(self.partitions.map { ($0.partition, $0.timeline) }) {
            let now = timeline.entries.last { $0.fromMs <= nowMs }
            let coming = timeline.entries.filter { $0.fromMs > nowMs }
            let first = (
                now.map { UTC.text($0.fromMs) } ?? "the beginning", now?.rules ?? timeline.base, "in force"
            )
            for (from, rules, state) in [first] + coming.map({ (UTC.text($0.fromMs), $0.rules, "comes") }) {
                table.rows.append(
                    [TripRulesStatus.text(partitions), from] + TripRulesStatus.shown(rules).map(\.text) + [state])
            }
        }
        return table
    }

    private static func grouped<Value: Equatable>(_ pairs: [(Int32, Value)]) -> [(Value, [Int32])] {
        var groups: [(Value, [Int32])] = []
        for (partition, value) in pairs {
            if let index = groups.firstIndex(where: { $0.0 == value }) {
                groups[index].1.append(partition)
            } else {
                groups.append((value, [partition]))
            }
        }
        return groups
    }

    /// Such as `partitions 0-3, 7`.
    private static func text(_ partitions: [Int32]) -> String {
        var spans: [ClosedRange<Int32>] = []
        for partition in partitions.sorted() {
            if let last = spans.last, last.upperBound + 1 == partition {
                spans[spans.count - 1] = last.lowerBound...partition
            } else {
                spans.append(partition...partition)
            }
        }
        let texts = spans.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return (partitions.count == 1 ? "partition " : "partitions ") + texts.joined(separator: ", ")
    }
}

/// Brings the log of every partition of the cars' topic to trip rules: looks what each was told last, and tells those that
/// were told others.
struct TripRulesPublication {
    struct Outcome {
        /// Partitions that got them now; 0: all of them had them.
        let told: Int
        let partitions: Int
        let fromMs: Int64
        /// A time that was asked for lies too early.
        let isLater: Bool
    }

    /// The broker's clock may be ahead of ours.
    private static let marginMs: Int64 = 60_000

    let settings: Settings

    /// - Parameter askedMs: from when they shall be in force; nil: as early as can be.
    func publish(_ rules: TripRules, fromMs askedMs: Int64?) throws -> Outcome {
        let kafka = try settings.kafka(clientID: "drover-rules")
        let topics = try Topics.ensure(kafka, settings.topicShape)
        let partitions = (0..<(topics[Topic.cars] ?? 0)).map { TopicPartition(topic: Topic.cars, partition: $0) }
        let connection = try SchemaConnection.connect(settings.readerConninfo)
        // Two publishers would each compare with what the other has not told yet.
        try connection.execute("SET lock_timeout = '10s'; SET statement_timeout = '60s'")
        return try connection.transaction {
            try NamedLocks.acquire(.tripRules, on: connection)
            let known = try known(partitions, kafka, connection)
            let missing = partitions.filter { known[$0]?.last != rules }
            let leastMs = TripRuleTimeline.leastMs(pushedMs: Clock.nowMs() + TripRulesPublication.marginMs)
            // After every set there is, so that the last one published counts.
            let latestMs = known.values.compactMap { $0.entries.last?.fromMs }.max() ?? 0
            let fromMs = UTC.minute(of: max(leastMs, latestMs, (askedMs ?? 0) - 1)) + UTC.msPerMinute
            if !missing.isEmpty {
                let deed = AuditedOperation(
                    .rulesPublished, by: Terminal.login, [("of", "trips"), ("from", UTC.text(fromMs))])
                // Beside this transaction, which keeps other publishers off until they are on the log.
                try deed.run(on: SchemaConnection.connect(settings.readerConninfo)) {
                    try RulesPublisher(kafka).publish(rules, fromMs: fromMs, to: missing)
                }
            }
            return Outcome(
                told: missing.count, partitions: partitions.count, fromMs: missing.isEmpty ? latestMs : fromMs,
                isLater: askedMs.map { fromMs - $0 > UTC.msPerMinute } ?? false)
        }
    }

    /// Rule sets that the workers have read are in the database; the rest of each partition is read here. A partition that no worker has
    /// taken over is not there unless a set lies on its log.
    private func known(
        _ partitions: [TopicPartition], _ kafka: KafkaSettings, _ connection: Connection
    ) throws -> [TopicPartition: TripRuleTimeline] {
        let (reader, decoder) = (try RecordReader(kafka), RecordDecoder())
        let offsets = try TripRuleStore.offsets(on: connection)
        let stored = Dictionary(
            uniqueKeysWithValues: try TripRuleStore.all(on: connection).map { ($0.partition, $0.timeline) })
        var known: [TopicPartition: TripRuleTimeline] = [:]
        for partition in partitions {
            var timeline = stored[partition.partition]
            try reader.read(partition, (offsets[partition.partition] ?? 0)...(.max)) { record in
                // Readings have a key, and there are many.
                guard record.key.isEmpty, let value = record.value,
                    case .tripRules(let fromMs, let limits)? = try? decoder.decode(line: value, isMachine: false),
                    fromMs != TripRulesBase.fromMs, let rules = try? TripRules(limits)
                else { return }
                let leastMs = TripRuleTimeline.leastMs(pushedMs: record.pushedMs)
                timeline = timeline ?? TripRuleTimeline(base: rules)
                timeline?.insert(TripRuleTimeline.Entry(fromMs: max(fromMs, leastMs), rules: rules))
            }
            known[partition] = timeline
        }
        return known
    }
}
