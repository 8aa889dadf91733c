package import Kafka
package import Postgres

/// Where a partition stands.
package struct PartitionProgress: Equatable, Sendable {
    package var nextOffset: Int64
    /// The greatest tick seen, epoch milliseconds; 0 before the first.
    package var clockMs: Int64 = 0
    /// Records from here to `nextOffset` are not in every row yet, and the clock at that place.
    package var replayFrom: Int64
    package var replayClockMs: Int64 = 0
    /// Of the record before `nextOffset`; nil when it is not known.
    package var lastRecordHash: Int64?

    package init(nextOffset: Int64) { (self.nextOffset, replayFrom) = (nextOffset, nextOffset) }
}

/// One step of a partition: from the place this worker last wrote to where it stands then.
package struct ProgressStep: Sendable {
    package let partition: TopicPartition
    package let from: PartitionProgress
    package let to: PartitionProgress

    package init(partition: TopicPartition, from: PartitionProgress, to: PartitionProgress) {
        (self.partition, self.from, self.to) = (partition, from, to)
    }
}

package enum ProgressStore {
    /// Reads where the partitions stand; one never seen starts at `first`.
    package static func load(
        _ partitions: [TopicPartition: Int64], on connection: Connection
    ) throws -> [TopicPartition: PartitionProgress] {
        let keys = partitions.map { (topic: $0.key.topic, partition: $0.key.partition, first: $0.value) }
        try connection.query(
            """
            INSERT INTO partition_progress (topic, partition, next_offset, replay_offset)
            SELECT topic, partition, first, first FROM unnest($1::text[], $2::int[], $3::bigint[]) AS seen(topic, partition, first)
            ON CONFLICT DO NOTHING
            """, [.textArray(keys.map(\.topic)), .int4Array(keys.map(\.partition)), .int8Array(keys.map(\.first))])
        var progress: [TopicPartition: PartitionProgress] = [:]
        for row in try connection.query(
            """
            SELECT topic, partition, next_offset, clock_at, replay_offset, replay_clock_at, last_record_hash
            FROM partition_progress WHERE (topic, partition) IN (SELECT * FROM unnest($1::text[], $2::int[]))
            """, [.textArray(keys.map(\.topic)), .int4Array(keys.map(\.partition))])
        {
            var place = PartitionProgress(nextOffset: Int64(try row.int("next_offset")!))
            place.clockMs = try row.timestampMs("clock_at") ?? 0
            place.replayFrom = Int64(try row.int("replay_offset")!)
            place.replayClockMs = try row.timestampMs("replay_clock_at") ?? 0
            place.lastRecordHash = try row.int("last_record_hash").map { Int64($0) }
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            progress[partition] = place
        }
        return progress
    }

    /// The compare-and-set, one statement for all partitions and the first of the transaction. Partitions that it does
    /// not return are owned by another worker by now: their rows must be left out. Both offsets are compared: what waited
    /// for its decisions moves the second alone.
    package static func advance(_ steps: [ProgressStep], on connection: Connection) throws -> Set<TopicPartition> {
        let rows = try connection.query(
            """
            UPDATE partition_progress p
            SET next_offset = step.to_offset, clock_at = nullif(step.clock_at, 'epoch'), replay_offset = step.replay_offset,
                replay_clock_at = nullif(step.replay_clock_at, 'epoch'), last_record_hash = step.hash
            FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::bigint[], $8::timestamptz[],
                    $9::bigint[])
                AS step(topic, partition, from_offset, from_replay, to_offset, clock_at, replay_offset, replay_clock_at, hash)
            WHERE p.topic = step.topic AND p.partition = step.partition AND p.next_offset = step.from_offset
                AND p.replay_offset = step.from_replay
            RETURNING p.topic, p.partition
            """,
            [
                .textArray(steps.map(\.partition.topic)), .int4Array(steps.map(\.partition.partition)),
                .int8Array(steps.map(\.from.nextOffset)), .int8Array(steps.map(\.from.replayFrom)),
                .int8Array(steps.map(\.to.nextOffset)),
                .timestampArray(steps.map(\.to.clockMs)), .int8Array(steps.map(\.to.replayFrom)),
                .timestampArray(steps.map(\.to.replayClockMs)),
                .int8Array(steps.map { $0.to.lastRecordHash ?? 0 }),
            ])
        return Set(
            try rows.map {
                TopicPartition(topic: try $0.text("topic")!, partition: Int32(try $0.int("partition")!))
            })
    }
}
