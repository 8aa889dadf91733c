package import Kafka

/// A record as it stands on its topic.
package struct PushedRecord: Sendable {
    package let offset: Int64
    package let key: [UInt8]
    /// Nil: a tombstone.
    package let value: [UInt8]?
    /// Epoch milliseconds; -1: the log has no stamps.
    package let pushedMs: Int64
}

/// Reads single records back from their topics, outside of any group.
package final class RecordReader {
    /// A broker that sends nothing for so long is given up.
    private static let patienceMs: Int32 = 10_000

    private let consumer: Consumer

    package init(_ settings: KafkaSettings) throws {
        var settings = settings
        settings.extra["queued.min.messages"] = "5000"
        consumer = try Consumer(settings, group: settings.clientID, instanceID: nil, batchMax: 5_000)
    }

    /// Nil when the topic is not there.
    package func partitions(of topic: String) throws -> Int32? {
        try consumer.partitions(of: topic, timeoutMs: RecordReader.patienceMs)
    }

    /// The offset after the last record.
    package func end(of partition: TopicPartition) throws -> Int64 {
        try consumer.watermarks(of: partition, timeoutMs: RecordReader.patienceMs).high
    }

    /// The records of these offsets that are still there, in order. What was cut off at the log's start, compacted, or
    /// never there is left out.
    package func read(
        _ partition: TopicPartition, _ offsets: ClosedRange<Int64>, _ take: (PushedRecord) throws -> Void
    ) throws {
        let ends = try consumer.watermarks(of: partition, timeoutMs: RecordReader.patienceMs)
        let first = max(offsets.lowerBound, ends.low)
        let last = min(offsets.upperBound, ends.high - 1)
        guard first <= last else { return }
        try consumer.add([partition: first])
        // Leaving it behind costs at most a fetch; the next read begins anew.
        defer { try? consumer.remove([partition]) }
        var (next, waitedMs): (Int64, Int32) = (first, 0)
        while next <= last, waitedMs < RecordReader.patienceMs {
            let batch = try consumer.poll(timeoutMs: 200)
            waitedMs = batch.count > 0 ? 0 : waitedMs + 200
            let ours = batch.runs.filter { $0.partition == partition }.flatMap { Array($0.messages) }
            for index in ours where batch.offset(index) <= last {
                try unsafe batch.withBytes(index) { key, value in
                    try take(
                        unsafe PushedRecord(
                            offset: batch.offset(index), key: Array(key), value: value.map { unsafe Array($0) },
                            pushedMs: batch.timestampMs(index)))
                }
            }
            if let index = ours.last { next = batch.offset(index) + 1 }
        }
    }
}
