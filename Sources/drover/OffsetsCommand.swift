import Fleet
import Gateways
import Kafka
import Observe
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let offsets = Command(
        name: "offsets", operands: "show|reset [options]",
        summary: "Where the workers stand on each partition; `reset` reads anew what the broker has lost.",
        options: [.init("--dry-run", nil, "reset: only say what would be done")] + SettingsSource.options,
        example: "drover offsets reset --dry-run",
        run: { arguments in
            let offsets = try Offsets(SettingsSource.load(arguments))
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
            default: throw UsageError("say `show` or `reset`")
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

    /// - Parameter connection: that is read on; nil: the worker's, which may also reset.
    init(_ settings: Settings, _ connection: Connection? = nil) throws {
        self.connection = try connection ?? Connection(conninfo: settings.text("postgres.url"))
        consumer = try Consumer(
            try settings.kafka(clientID: "drover-offsets"), group: "drover-offsets", instanceID: nil, batchMax: 1_000)
    }

    private func places() throws -> [Place] {
        var stored: [TopicPartition: (next: Int64, replay: Int64, hash: Int64?)] = [:]
        for row in try connection.query(
            """
            SELECT topic, partition, next_offset, replay_offset, nullif(last_record_hash, 0) AS hash
            FROM drover.partition_progress
            """)
        {
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            stored[partition] = (
                Int64(try row.int("next_offset")!), Int64(try row.int("replay_offset")!),
                try row.int("hash").map { Int64($0) }
            )
        }
        var places: [Place] = []
        for topic in Topics.readings {
            // A topic that is gone has no record: whatever was stored for it lies beyond its end.
            let known = stored.keys.filter { $0.topic == topic }.map { $0.partition + 1 }.max() ?? 0
            let count = try consumer.partitions(of: topic, timeoutMs: 10_000)
            for index in 0..<max(known, count ?? 0) {
                let partition = TopicPartition(topic: topic, partition: index)
                let ends = index < count ?? 0 ? try consumer.watermarks(of: partition, timeoutMs: 10_000) : (0, 0)
                let place = stored[partition]
                places.append(
                    Place(
                        partition: partition, stored: place?.next, replayFrom: place?.replay, fingerprint: place?.hash,
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
            for case .outOfRange(let partition) in consumer.takeChanges() { waiting.remove(partition) }
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
                place.state == .ok ? "ok" : "\(place.state.rawValue): drover offsets reset",
            ])
        }
        return table
    }

    /// Reading again is harmless, because results are absolute values of the set of readings. Returns what was done, a
    /// line each.
    func resetLost(isDryRun: Bool = false) throws -> [String] {
        let lost = try checked().filter { $0.state != .ok }
        let lines = lost.map {
            "\($0.partition): \($0.state.rawValue); from offset \($0.stored ?? 0) to \($0.low), the log's next is \($0.high)"
        }
        guard !lost.isEmpty, !isDryRun else { return lines }
        let partitions: [Parameter] = [
            .textArray(lost.map(\.partition.topic)), .int4Array(lost.map(\.partition.partition)),
            .int8Array(lost.map(\.low)),
        ]
        try connection.transaction {
            try connection.query(
                """
                UPDATE drover.partition_progress p
                SET next_offset = lost.low, replay_offset = lost.low, last_record_hash = NULL,
                    clock_at = NULL, replay_clock_at = NULL
                FROM unnest($1::text[], $2::int[], $3::bigint[]) AS lost(topic, partition, low)
                WHERE p.topic = lost.topic AND p.partition = lost.partition
                """, partitions)
            // The states say up to which offset of the old log they go: they are made again from the stored minutes.
            try connection.query(
                """
                UPDATE drover.trip SET state = NULL
                FROM drover.vehicle v, unnest($1::text[], $2::int[], $3::bigint[]) AS lost(topic, partition, low)
                WHERE lost.topic = '\(Topic.cars)' AND v.kind = 'car' AND v.topic_partition = lost.partition
                    AND trip.vehicle = v.vehicle AND trip.state IS NOT NULL
                """, partitions)
        }
        return lines
    }
}
