package import Kafka
package import Postgres

/// Where a partition stands.
package struct PartitionProgress: Equatable {
    package var nextOffset: Int64
    /// The greatest tick seen, epoch milliseconds.
    package var clockMs: Int64?

    package init(nextOffset: Int64, clockMs: Int64?) { (self.nextOffset, self.clockMs) = (nextOffset, clockMs) }
}

/// One step of a partition: from the offset this worker last wrote to the next one.
package struct ProgressStep {
    package let partition: TopicPartition
    package let from: Int64
    package let to: Int64
    package let clockMs: Int64?

    package init(partition: TopicPartition, from: Int64, to: Int64, clockMs: Int64?) {
        (self.partition, self.from, self.to, self.clockMs) = (partition, from, to, clockMs)
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
            INSERT INTO drover.partition_progress (topic, partition, next_offset)
            SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[]) ON CONFLICT DO NOTHING
            """, [.textArray(keys.map(\.topic)), .int4Array(keys.map(\.partition)), .int8Array(keys.map(\.first))])
        var progress: [TopicPartition: PartitionProgress] = [:]
        for row in try connection.query(
            """
            SELECT topic, partition, next_offset, clock_at FROM drover.partition_progress
            WHERE (topic, partition) IN (SELECT * FROM unnest($1::text[], $2::int[]))
            """, [.textArray(keys.map(\.topic)), .int4Array(keys.map(\.partition))])
        {
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            progress[partition] = PartitionProgress(
                nextOffset: Int64(try row.int("next_offset")!), clockMs: try row.timestampMs("clock_at"))
        }
        return progress
    }

    /// The compare-and-set, one statement for all partitions and the first of the transaction. Partitions that it does
    /// not return are owned by another worker by now: their rows must be left out.
    package static func advance(_ steps: [ProgressStep], on connection: Connection) throws -> Set<TopicPartition> {
        let rows = try connection.query(
            """
            UPDATE drover.partition_progress p
            SET next_offset = step.to_offset, clock_at = greatest(p.clock_at, nullif(step.clock_at, 'epoch'::timestamptz))
            FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::timestamptz[])
                AS step(topic, partition, from_offset, to_offset, clock_at)
            WHERE p.topic = step.topic AND p.partition = step.partition AND p.next_offset = step.from_offset
            RETURNING p.topic, p.partition
            """,
            [
                .textArray(steps.map(\.partition.topic)), .int4Array(steps.map(\.partition.partition)),
                .int8Array(steps.map(\.from)), .int8Array(steps.map(\.to)),
                // An array parameter has no nil here: the epoch stands for no tick and becomes NULL above.
                .timestampArray(steps.map { $0.clockMs ?? 0 }),
            ])
        return Set(
            try rows.map {
                TopicPartition(topic: try $0.text("topic")!, partition: Int32(try $0.int("partition")!))
            })
    }
}
