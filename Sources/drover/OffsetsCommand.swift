import Fleet
import Kafka
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let offsets = Command(
        name: "offsets", operands: "show|reset [options]",
        summary: "Where the workers stand on each partition; `reset` reads anew what the broker has lost.",
        options: SettingsSource.options,
        example: "drover offsets show",
        run: { arguments in
            let offsets = try Offsets(SettingsSource.load(arguments))
            switch arguments.operands {
            case ["show"]: Out.result(try offsets.table().text())
            case ["reset"]:
                Out.note("\(try offsets.resetLost()) partitions are read anew from the first record that is there")
            default: throw UsageError("say `show` or `reset`")
            }
            return .done
        })
}

/// The stored offsets beside the ends of the log.
struct Offsets {
    private struct Place {
        let partition: TopicPartition
        let stored: Int64?
        let low: Int64
        let high: Int64
        /// The log was lost or cut: what we stored points beyond its end, or before its start.
        var isLost: Bool { stored.map { $0 > high || $0 < low } ?? false }
    }

    private let connection: Connection
    private let consumer: Consumer

    init(_ settings: Settings) throws {
        connection = try Connection(conninfo: settings.text("postgres.url"))
        consumer = try Consumer(
            settings.kafka(clientID: "drover-offsets"), group: "drover-offsets", instanceID: nil, batchMax: 1)
    }

    private func places() throws -> [Place] {
        var stored: [TopicPartition: Int64] = [:]
        for row in try connection.query("SELECT topic, partition, next_offset FROM drover.partition_progress") {
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            stored[partition] = Int64(try row.int("next_offset")!)
        }
        var places: [Place] = []
        for topic in [Topic.cars, Topic.machines] {
            // A topic that is gone has no record: whatever was stored for it lies beyond its end.
            let known = stored.keys.filter { $0.topic == topic }.map { $0.partition + 1 }.max() ?? 0
            let count = try consumer.partitions(of: topic, timeoutMs: 10_000)
            for index in 0..<max(known, count ?? 0) {
                let partition = TopicPartition(topic: topic, partition: index)
                let ends = index < count ?? 0 ? try consumer.watermarks(of: partition, timeoutMs: 10_000) : (0, 0)
                places.append(Place(partition: partition, stored: stored[partition], low: ends.0, high: ends.1))
            }
        }
        return places
    }

    /// Records that are on the topics and not written yet.
    func lag() throws -> Int64 { try places().reduce(0) { $0 + max(0, $1.high - max($1.stored ?? 0, $1.low)) } }

    func table() throws -> Table {
        var table = Table(["topic", "partition", "stored", "first", "next", "lag", "state"])
        for place in try places() {
            let lag = max(0, place.high - max(place.stored ?? 0, place.low))
            table.rows.append([
                place.partition.topic, String(place.partition.partition), place.stored.map { String($0) },
                String(place.low),
                String(place.high), String(lag), place.isLost ? "lost: drover offsets reset" : "ok",
            ])
        }
        return table
    }

    /// Reading again is harmless, because results are absolute values of the set of readings. Returns how many.
    func resetLost() throws -> Int {
        let lost = try places().filter(\.isLost)
        guard !lost.isEmpty else { return 0 }
        try connection.query(
            """
            UPDATE drover.partition_progress p SET next_offset = lost.low
            FROM unnest($1::text[], $2::int[], $3::bigint[]) AS lost(topic, partition, low)
            WHERE p.topic = lost.topic AND p.partition = lost.partition
            """,
            [
                .textArray(lost.map(\.partition.topic)), .int4Array(lost.map(\.partition.partition)),
                .int8Array(lost.map(\.low)),
            ])
        return lost.count
    }
}
