package import Kafka
package import Pipeline
package import Postgres

/// How far partitions are committed, for who looks from outside.
package enum ProgressQueries {
    package struct Place: Sendable {
        /// The next record to be read.
        package let next: Int64
        /// The first record that is still needed.
        package let replayFrom: Int64
        /// The fingerprint of the record before `next`; nil: not known.
        package let fingerprint: Int64?
    }

    package struct Clock: Sendable {
        package let partition: TopicPartition
        package let clockMs: Int64?
        /// A tick far beyond it that waits for another to agree.
        package let waiting: PartitionClock.Waiting?
    }

    package static func places(on connection: Connection) throws -> [TopicPartition: Place] {
        let rows = try connection.query(
            """
            SELECT topic, partition, next_offset, replay_offset, nullif(last_record_hash, 0) AS hash
            FROM drover.partition_progress
            """)
        return Dictionary(
            uniqueKeysWithValues: try rows.map { row in
                let place = Place(
                    next: Int64(try row.int("next_offset")!), replayFrom: Int64(try row.int("replay_offset")!),
                    fingerprint: try row.int("hash").map { Int64($0) })
                return (try partition(row), place)
            })
    }

    package static func clocks(on connection: Connection) throws -> [Clock] {
        try connection.query(
            "SELECT topic, partition, clock_at, clock_waits FROM drover.partition_progress ORDER BY topic, partition"
        ).map { row in
            Clock(
                partition: try partition(row), clockMs: try row.timestampMs("clock_at"),
                waiting: try row.text("clock_waits").flatMap { PartitionClock.Waiting(text: $0) })
        }
    }

    private static func partition(_ row: Row) throws -> TopicPartition {
        TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
    }

    /// Whether all partitions of a topic are committed up to these offsets.
    package static func isTaken(
        _ topic: String, until ends: [(partition: Int32, offset: Int64)], on connection: Connection
    ) throws -> Bool {
        try connection.query(
            """
            SELECT FROM unnest($1::int[], $2::bigint[]) AS wanted(partition, end_offset)
            LEFT JOIN drover.partition_progress p ON p.topic = $3 AND p.partition = wanted.partition
            WHERE coalesce(p.next_offset, 0) < wanted.end_offset
            """, [.int4Array(ends.map(\.partition)), .int8Array(ends.map(\.offset)), .text(topic)]
        ).isEmpty
    }
}
