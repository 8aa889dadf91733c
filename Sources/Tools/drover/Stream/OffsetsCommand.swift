import App
import Fleet
import Ingest
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let offsets = Command(
        name: "offsets", operands: "show|reset|accept TOPIC [options]",
        summary:
            "Where the workers stand on each partition; `reset` reads anew what the broker has lost, `accept` takes records "
            + "that their senders stamped before the topic had append time.",
        options: [.init("--dry-run", nil, "reset: only say what would be done")] + SettingsSource.options,
        example: "drover offsets reset --dry-run",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let offsets = try Offsets(settings)
            switch arguments.operands {
            case ["show"]: Out.result(try offsets.table().text())
            case ["reset"]:
                let isDry = arguments.has("--dry-run")
                let lost = try offsets.resetLost(isDryRun: isDry)
                for line in lost { Out.note(line) }
                Out.note(
                    isDry
                        ? "\(lost.count) partitions would be read anew; nothing was changed"
                        : "\(lost.count) partitions are read anew from the first record that is there. "
                            + "Workers that left them alone look again within 10 s")
                let recounted = offsets.recounted()
                for line in recounted { Out.note(line) }
                if !recounted.isEmpty { return .failed }
            case let words where words.count == 2 && words[0] == "accept":
                guard Topics.readings.contains(words[1]) else {
                    throw UsageError("\(words[1]): is not a topic of readings")
                }
                let topics = try Topics.deciding(settings.kafka(clientID: "drover-offsets"), timeoutMs: 10_000)
                guard !topics.stampedBySenders.contains(words[1]) else {
                    throw Failure(
                        "\(words[1]): what comes next would be stamped by its sender, too. First set "
                            + "\(Topics.stampType)=\(Topics.brokerStamps): drover check says how")
                }
                for line in try offsets.accept(words[1]) { Out.note(line) }
                Out.note("workers that left \(words[1]) alone look again within 10 s")
            default: throw UsageError("say `show`, `reset` or `accept TOPIC`")
            }
            return .done
        })
}

/// The stored offsets beside the logs.
struct Offsets {
    private enum State: String {
        case ok
        /// Our offset lies before the log's first record, or beyond its end.
        case lost
        /// The record before our offset is another one than we read: the log's end was lost and written anew.
        case replaced
        /// The topic was deleted and made anew.
        case another
        /// The topic has another number of partitions than when it was first read: nothing here mends that.
        case recounted

        init(_ mismatch: TopicMismatch) {
            switch mismatch {
            case .recounted: self = .recounted
            case .madeAnew: self = .another
            }
        }
    }

    private struct Place {
        let partition: TopicPartition
        let stored: Int64?
        /// The first record that is still needed.
        let replayFrom: Int64?
        let fingerprint: Int64?
        let low: Int64
        let high: Int64
        var state = State.ok
    }

    /// How long the brokers have to show the records before our offsets.
    private static let patienceMs: Int64 = 3_000

    private let connection: Connection
    private let consumer: Consumer
    private let stored: [String: TopicIdentity]
    private let found: [String: TopicIdentity]

    /// - Parameter connection: that is read on; nil: the worker's, which may also reset.
    init(_ settings: Settings, _ connection: Connection? = nil) throws {
        self.connection = try connection ?? Connection(conninfo: settings.text("postgres.url"))
        consumer = try Consumer(
            try settings.kafka(clientID: "drover-offsets"), group: "drover-offsets", instanceID: nil, batchMax: 1_000)
        stored = try ProgressStore.topics(on: self.connection)
        found = try consumer.identities(of: Set(Topics.readings), timeoutMs: 10_000)
    }

    private func places() throws -> [Place] {
        let stored = try ProgressQueries.places(on: connection)
        var places: [Place] = []
        for topic in Topics.readings {
            // A topic that is gone has no record: whatever was stored for it lies beyond its end.
            let known = stored.keys.filter { $0.topic == topic }.map { $0.partition + 1 }.max() ?? 0
            let count = found[topic]?.partitions
            for index in 0..<max(known, count ?? 0) {
                let partition = TopicPartition(topic: topic, partition: index)
                let ends = index < count ?? 0 ? try consumer.watermarks(of: partition, timeoutMs: 10_000) : (0, 0)
                let place = stored[partition]
                places.append(
                    Place(
                        partition: partition, stored: place?.next, replayFrom: place?.replayFrom,
                        fingerprint: place?.fingerprint,
                        low: ends.0, high: ends.1))
            }
        }
        return places
    }

    /// Whether each log still is the one that was read: by the record before our offset, where it is there.
    private func checked() throws -> [Place] {
        var places = try places()
        let found = try lastRecords(places)
        for index in places.indices {
            if let mismatch = mismatch(of: places[index].partition.topic) {
                places[index].state = State(mismatch)
                continue
            }
            guard let stored = places[index].stored else { continue }
            if let replayFrom = places[index].replayFrom, replayFrom < places[index].low {
                places[index].state = .lost
            } else if let fingerprint = found[places[index].partition] {
                places[index].state = fingerprint == places[index].fingerprint ? .ok : .replaced
            } else if stored < places[index].low || stored > places[index].high {
                places[index].state = .lost
            }
        }
        return places
    }

    private func mismatch(of topic: String) -> TopicMismatch? {
        guard let stored = stored[topic], let found = found[topic] else { return nil }
        return TopicMismatch(stored: stored, found: found)
    }

    private func lastRecords(_ places: [Place]) throws -> [TopicPartition: Int64] {
        var wanted: [TopicPartition: Int64] = [:]
        for place in places {
            guard let stored = place.stored, place.fingerprint != nil, stored > place.low else { continue }
            wanted[place.partition] = stored - 1
        }
        guard !wanted.isEmpty else { return [:] }
        try consumer.add(wanted)
        // Leaving them behind costs at most a fetch.
        defer { try? consumer.remove(wanted.keys) }
        var found: [TopicPartition: Int64] = [:]
        var waiting = Set(wanted.keys)
        let startMs = Clock.steadyMs()
        while !waiting.isEmpty, Clock.steadyMs() - startMs < Offsets.patienceMs {
            let batch = try consumer.poll(timeoutMs: 100)
            for run in batch.runs where waiting.contains(run.partition) {
                waiting.remove(run.partition)
                guard batch.offset(run.messages.lowerBound) == wanted[run.partition] else { continue }
                found[run.partition] = batch.fingerprint(run.messages.lowerBound)
            }
            for case .outOfRange(let partition) in consumer.drainChanges() { waiting.remove(partition) }
            // At the end of the log nothing comes: what the ends say has to do.
            waiting = waiting.filter { partition in
                places.contains { $0.partition == partition && $0.high > wanted[partition]! }
                    || Clock.steadyMs() - startMs < 500
            }
        }
        return found
    }

    /// Records that are on the topics and not written yet.
    func lag() throws -> Int64 { try places().reduce(0) { $0 + max(0, $1.high - max($1.stored ?? 0, $1.low)) } }

    func table() throws -> Table {
        var table = Table(["topic", "partition", "stored", "first", "next", "lag", "state"])
        for place in try checked() {
            let lag = max(0, place.high - max(place.stored ?? 0, place.low))
            table.rows.append([
                place.partition.topic, String(place.partition.partition), place.stored.map { String($0) },
                String(place.low), String(place.high), String(lag),
                text(place),
            ])
        }
        return table
    }

    private func text(_ place: Place) -> String {
        switch place.state {
        case .ok: "ok"
        case .lost, .replaced, .another: "\(place.state.rawValue): drover offsets reset"
        case .recounted: mismatch(of: place.partition.topic).map { "recounted: \($0.what)" } ?? "recounted"
        }
    }

    /// Topics whose partitions cannot be read as they are, with the way out.
    func recounted() -> [String] {
        stored.keys.sorted().compactMap { topic in
            guard case .recounted(let count, let now)? = mismatch(of: topic) else { return nil }
            let mismatch = TopicMismatch.recounted(stored: count, found: now)
            return "\(topic): \(mismatch.what): nothing of it is reset. To go on, \(mismatch.remedy)"
        }
    }

    /// Reads records that are on the topic's log now, whoever stamped them.
    func accept(_ topic: String) throws -> [String] {
        let places = try places().filter { $0.partition.topic == topic }
        let taken = try connection.transaction {
            let ends = places.map { (partition: $0.partition.partition, offset: $0.high) }
            let taken = try OffsetReset.accept(topic, before: ends, on: connection)
            try note([("accepted", topic)])
            return taken
        }
        return places.map {
            taken.contains($0.partition.partition)
                ? "\($0.partition): records before offset \($0.high) are read as they are stamped"
                : "\($0.partition): no worker has read it yet. Start one, and accept again what it then leaves alone"
        }
    }

    /// Reading again is harmless, because results are absolute values of the set of readings. Returns what was done, a
    /// line each.
    func resetLost(isDryRun: Bool = false) throws -> [String] {
        let lost = try checked().filter { $0.state != .ok && $0.state != .recounted }
        let lines = lost.map {
            "\($0.partition): \($0.state.rawValue); from offset \($0.stored ?? 0) to \($0.low), the log's next is \($0.high)"
        }
        guard !lost.isEmpty, !isDryRun else { return lines }
        try connection.transaction {
            try OffsetReset.apply(
                lost.map {
                    OffsetReset.Lost(topic: $0.partition.topic, partition: $0.partition.partition, low: $0.low)
                }, ids: found.mapValues { $0.id ?? "" }, on: connection)
            try note([("partitions", String(lost.count))])
        }
        return lines
    }

    /// In the transaction of what it tells.
    private func note(_ detail: AuditLog.Detail) throws {
        try AuditLog.record(.offsetsReset, by: Terminal.login, detail, on: connection)
    }
}
