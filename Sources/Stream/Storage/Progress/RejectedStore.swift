internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
package import Kafka
package import Pipeline
package import Postgres

/// Records that could not be decoded: rows in the database, and records on `drover.rejected` through the outbox.
package enum RejectedStore {
    static let table = StagedTable(
        name: "rejected",
        columns: [
            "topic", "partition", "record_offset", "last_offset", "records", "reason", "first_bytes", "pushed_at",
        ],
        key: ["topic", "partition", "record_offset"])

    /// The logs of partitions that are read on from these offsets.
    ///
    /// - Parameter isAside: some vehicles' only; others' records after them were taken already.
    package static func load(
        _ nextOffsets: [TopicPartition: Int64], isAside: Bool = false, on connection: Connection
    ) throws -> [TopicPartition: RejectedLog] {
        let wanted = nextOffsets.map { ($0.key, RejectedLog.blockRange($0.value)) }
        var stored: [TopicPartition: [RejectedLog.Row]] = [:]
        for row in try connection.query(
            """
            SELECT r.topic, r.partition, record_offset, last_offset, records, reason, first_bytes, pushed_at
            FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[]) AS block(topic, partition, low, high)
            JOIN rejected r ON r.topic = block.topic AND r.partition = block.partition
                AND r.record_offset >= block.low AND r.record_offset < block.high
            """,
            [
                .textArray(wanted.map(\.0.topic)), .int4Array(wanted.map(\.0.partition)),
                .int8Array(wanted.map(\.1.lowerBound)), .int8Array(wanted.map(\.1.upperBound)),
            ])
        {
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            let rejected = try read(row)
            if isAside, rejected.offset >= nextOffsets[partition]! { continue }
            stored[partition, default: []].append(rejected)
        }
        return Dictionary(
            uniqueKeysWithValues: nextOffsets.map { partition, next in
                (partition, RejectedLog(nextOffset: next, stored: stored[partition] ?? []))
            })
    }

    /// Within the transaction that moves the partitions on.
    package static func write(
        _ changes: [(partition: TopicPartition, changes: RejectedLog.Changes)], on connection: Connection
    ) throws {
        let rows = changes.flatMap { change in change.changes.rows.map { (change.partition, $0) } }
        try table.write(rows, on: connection) { (row, copy: inout BinaryCopy) in
            copy.text(row.0.topic)
            copy.int4(row.0.partition)
            copy.int8(row.1.offset)
            copy.int8(row.1.lastOffset)
            copy.int8(row.1.records)
            copy.text(row.1.reason)
            copy.bytea(row.1.firstBytes)
            copy.timestampMs(row.1.pushedMs)
        }
    }

    /// The changes that leave the database.
    package static func outbox(
        _ changes: [(partition: TopicPartition, changes: RejectedLog.Changes)]
    ) -> [OutboxRecord] {
        changes.flatMap { change in change.changes.told.map { record(change.partition, $0) } }
    }

    private static func record(_ partition: TopicPartition, _ row: RejectedLog.Row) -> OutboxRecord {
        let place = "\(partition.topic)-\(partition.partition)"
        return OutboxRecord(
            .rejected, key: place, recordID: "\(place)-\(row.offset)", kind: "rejected",
            fields: [
                ("topic", .text(partition.topic)), ("partition", .integer(Int64(partition.partition))),
                ("offset", .integer(row.offset)), ("last_offset", .integer(row.lastOffset)),
                ("records", .integer(row.records)), ("reason", .text(row.reason)),
                ("first_bytes_hex", .text(Hex.text(row.firstBytes))),
            ] + (row.pushedMs.map { [("pushed_ts", .integer($0))] } ?? []))
    }

    /// Deletes the oldest rows of partitions that have more than `rowsMax`, whole blocks of them: a block that is half
    /// there would be filled differently when it is read again. At most `most` at once; returns how many.
    package static func prune(rowsMax: Int64, most: Int, on connection: Connection) throws -> Int {
        try connection.query(
            """
            DELETE FROM drover.rejected WHERE (topic, partition, record_offset) IN (
                SELECT r.topic, r.partition, r.record_offset
                FROM drover.partition_progress p
                CROSS JOIN LATERAL (
                    SELECT record_offset - record_offset % $2 AS block_start FROM drover.rejected
                    WHERE topic = p.topic AND partition = p.partition
                    ORDER BY record_offset DESC OFFSET $1 LIMIT 1) AS oldest_kept
                JOIN drover.rejected r ON r.topic = p.topic AND r.partition = p.partition
                    AND r.record_offset < oldest_kept.block_start
                LIMIT $3)
            """, [.int8(rowsMax - 1), .int8(RejectedLog.blockOffsets), .int8(Int64(most))]
        ).rowsChanged
    }

    // MARK: For people

    /// A stored row.
    package struct Entry {
        package let partition: TopicPartition
        package let row: RejectedLog.Row
        package let retriedMs: Int64?
    }

    /// Which rows are asked for; nil: any.
    package struct Filter {
        package var topic: String?
        package var partition: Int32?
        /// The row that holds this offset.
        package var offset: Int64?
        package var sinceMs: Int64?
        package var isOpenOnly = false
        package init() {}
    }

    /// In the order of topic, partition and offset.
    package static func list(_ filter: Filter, most: Int64, on connection: Connection) throws -> [Entry] {
        try connection.query(
            """
            SELECT topic, partition, record_offset, last_offset, records, reason, first_bytes, pushed_at, retried_at
            FROM drover.rejected
            WHERE ($1::text IS NULL OR topic = $1) AND ($2::int IS NULL OR partition = $2)
                AND ($3::bigint IS NULL OR ($3 BETWEEN record_offset AND last_offset
                    AND (records = 1 OR NOT EXISTS (SELECT FROM drover.rejected own WHERE own.topic = rejected.topic
                        AND own.partition = rejected.partition AND own.record_offset = $3 AND own.records = 1))))
                AND ($4::timestamptz IS NULL OR pushed_at >= $4) AND (NOT $5 OR retried_at IS NULL)
            ORDER BY topic, partition, record_offset LIMIT $6
            """,
            [
                .text(filter.topic), filter.partition.map { .int4($0) } ?? .null,
                filter.offset.map { .int8($0) } ?? .null, filter.sinceMs.map { .timestampMs($0) } ?? .null,
                .bool(filter.isOpenOnly), .int8(most),
            ]
        ).map { row in
            Entry(
                partition: TopicPartition(
                    topic: try row.text("topic")!, partition: Int32(try row.int("partition")!)),
                row: try read(row),
                retriedMs: try row.timestampMs("retried_at"))
        }
    }

    private static func read(_ row: Row) throws -> RejectedLog.Row {
        RejectedLog.Row(
            offset: Int64(try row.int("record_offset")!), lastOffset: Int64(try row.int("last_offset")!),
            records: Int64(try row.int("records")!), reason: try row.text("reason")!,
            firstBytes: try row.bytes("first_bytes")!, pushedMs: try row.timestampMs("pushed_at"))
    }

    package static func markRetried(_ rows: [(TopicPartition, Int64)], on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.rejected r SET retried_at = now()
            FROM unnest($1::text[], $2::int[], $3::bigint[]) AS done(topic, partition, record_offset)
            WHERE r.topic = done.topic AND r.partition = done.partition AND r.record_offset = done.record_offset
            """,
            [.textArray(rows.map(\.0.topic)), .int4Array(rows.map(\.0.partition)), .int8Array(rows.map(\.1))])
    }
}
