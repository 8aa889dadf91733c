package import Kafka
internal import Pipeline
package import Postgres

/// Where a partition stands.
package struct PartitionProgress: Equatable, Sendable {
    package var nextOffset: Int64
    /// The greatest tick seen, epoch milliseconds; 0 before the first.
    package var clockMs: Int64 = 0
    /// Records from here to `nextOffset` are not in every row yet, and the clock at that place.
    package var replayFrom: Int64
    package var replayClockMs: Int64 = 0
    /// A tick that waits for another to agree, at `nextOffset` and at `replayFrom`, as `PartitionClock.Waiting` writes it.
    package var clockWaits: String?
    package var replayClockWaits: String?
    /// The hash of the record before `nextOffset`; nil when it is not known.
    package var lastRecordHash: Int64?
    /// Records before this offset may be stamped by their senders. Written by `drover offsets accept`.
    package var createTimeBefore: Int64?

    /// How often vehicles of the partition were set apart or came back (`QuarantineStore`).
    package var generation: Int64 = 0

    package init(nextOffset: Int64) { (self.nextOffset, replayFrom) = (nextOffset, nextOffset) }
}

/// One step of a partition: from the place this worker last wrote to where it stands then.
package struct ProgressStep: Sendable {
    package let partition: TopicPartition
    package let from: PartitionProgress
    package let to: PartitionProgress

    package init(partition: TopicPartition, from: PartitionProgress, to: PartitionProgress) {
        self.partition = partition
        self.from = from
        self.to = to
    }
}

/// A topic that is not as it was when it was first read.
package enum TopicMismatch: Equatable, Sendable {
    case recounted(stored: Int32, found: Int32)
    case madeAnew(stored: String, found: String)

    package init?(stored: TopicIdentity, found: TopicIdentity) {
        if stored.partitions != 0, stored.partitions != found.partitions {
            self = .recounted(stored: stored.partitions, found: found.partitions)
        } else if let old = stored.id, let new = found.id, old != new {
            self = .madeAnew(stored: old, found: new)
        } else {
            return nil
        }
    }

    package var what: String {
        switch self {
        case .recounted(let stored, let found):
            "the topic has \(found) partitions, and had \(stored) when it was first read"
        case .madeAnew: "the topic is another one than was read: it was deleted and made anew"
        }
    }

    package var detail: String {
        switch self {
        case .recounted: "which partition a vehicle belongs to follows from their number"
        case .madeAnew(let stored, let found): "its id is \(found), and was \(stored)"
        }
    }

    package var remedy: String {
        switch self {
        case .recounted(let stored, _):
            "make the topic again with \(stored) partitions: docs/operator.md, \"Partitions that were added\""
        case .madeAnew: "drover offsets reset reads the new one from its beginning"
        }
    }
}

package enum ProgressStore {
    /// How far the topics of vehicles are committed, as a text that is another one after each commit.
    package static func vehicles(on connection: Connection) throws -> String {
        try connection.query(
            """
            SELECT coalesce(string_agg(format('%s %s %s %s', topic, partition, next_offset, replay_offset), ',' ORDER BY topic, partition), '')
            FROM drover.partition_progress WHERE topic = ANY ($1)
            """, [.textArray(RecordStage.allCases.filter { $0.vehicleKind != nil }.map(\.topic))])[0].text(0)!
    }

    /// The identities of topics beside the live tables' offsets; 0 partitions: it was not looked at yet.
    package static func topics(on connection: Connection) throws -> [String: TopicIdentity] {
        // Before it is migrated (`drover check` is asked then, too) the database knows nothing of topics.
        let isKnown = try !connection.query(
            """
            SELECT 1 FROM pg_attribute
            WHERE attrelid = to_regclass('drover.partition_progress') AND attname = 'partition_count' AND NOT attisdropped
            """
        ).isEmpty
        guard isKnown else { return [:] }
        let rows = try connection.query(
            """
            SELECT topic, coalesce(min(partition_count), 0) AS partitions, min(topic_id) AS id
            FROM drover.partition_progress GROUP BY topic
            """)
        return Dictionary(
            uniqueKeysWithValues: try rows.map {
                (
                    try $0.text("topic")!,
                    TopicIdentity(partitions: Int32(try $0.int("partitions")!), id: try $0.text("id"))
                )
            })
    }

    /// The partitions whose topic is another one than stands beside their offsets. What is not known of a topic yet is taken as it
    /// is found, in a transaction of its own.
    ///
    /// - Parameter isLive: else it is a replay, which goes by what the live tables have.
    package static func claim(
        _ logs: [PartitionLog], isLive: Bool, on connection: Connection
    ) throws -> [TopicPartition: TopicMismatch] {
        try connection.transaction {
            // Two workers that meet a topic first must not find two things.
            if isLive { try NamedLocks.acquire(.progress, on: connection) }
            // A job of its own tables has no live ones beside it.
            let isAlone =
                try !isLive
                && connection.query("SELECT to_regclass('drover.partition_progress')::text")[0].text(0) == nil
            let stored = try isAlone ? [:] : topics(on: connection)
            var mismatches: [TopicPartition: TopicMismatch] = [:]
            for log in logs {
                mismatches[log.partition] = stored[log.partition.topic].flatMap {
                    TopicMismatch(stored: $0, found: log.identity)
                }
            }
            guard isLive else { return mismatches }
            let taken = logs.filter { mismatches[$0.partition] == nil }
            try connection.query(
                """
                INSERT INTO drover.partition_progress (topic, partition, next_offset, replay_offset, partition_count, topic_id)
                SELECT topic, partition, first, first, count, nullif(id, '')
                FROM unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::text[]) AS seen(topic, partition, first, count, id)
                ON CONFLICT DO NOTHING
                """,
                [
                    .textArray(taken.map(\.partition.topic)), .int4Array(taken.map(\.partition.partition)),
                    .int8Array(taken.map(\.firstOffset)), .int4Array(taken.map(\.identity.partitions)),
                    .textArray(taken.map { $0.identity.id ?? "" }),
                ])
            let topics = Dictionary(taken.map { ($0.partition.topic, $0.identity) }) { first, _ in first }
            let found = topics.sorted { $0.key < $1.key }
            try connection.query(
                """
                UPDATE drover.partition_progress p
                SET partition_count = coalesce(p.partition_count, found.count), topic_id = coalesce(p.topic_id, nullif(found.id, ''))
                FROM unnest($1::text[], $2::int[], $3::text[]) AS found(topic, count, id)
                WHERE p.topic = found.topic AND (p.partition_count IS NULL OR (p.topic_id IS NULL AND found.id <> ''))
                """,
                [
                    .textArray(found.map(\.key)), .int4Array(found.map(\.value.partitions)),
                    .textArray(found.map { $0.value.id ?? "" }),
                ])
            return mismatches
        }
    }

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
            SELECT topic, partition, next_offset, clock_at, replay_offset, replay_clock_at, last_record_hash,
                create_time_before, clock_waits, replay_clock_waits, generation
            FROM partition_progress WHERE (topic, partition) IN (SELECT * FROM unnest($1::text[], $2::int[]))
            """, [.textArray(keys.map(\.topic)), .int4Array(keys.map(\.partition))])
        {
            var place = PartitionProgress(nextOffset: Int64(try row.int("next_offset")!))
            place.clockMs = try row.timestampMs("clock_at") ?? 0
            place.replayFrom = Int64(try row.int("replay_offset")!)
            place.replayClockMs = try row.timestampMs("replay_clock_at") ?? 0
            place.lastRecordHash = try row.int("last_record_hash").map { Int64($0) }
            place.clockWaits = try row.text("clock_waits")
            place.replayClockWaits = try row.text("replay_clock_waits")
            place.createTimeBefore = try row.int("create_time_before").map { Int64($0) }
            place.generation = Int64(try row.int("generation")!)
            let partition = TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!))
            progress[partition] = place
        }
        return progress
    }

    /// Their logs are others than were read, whatever was written since: whoever takes them over finds it so, too.
    package static func distrust(_ partitions: [TopicPartition], on connection: Connection) throws {
        try connection.query(
            """
            UPDATE partition_progress p SET last_record_hash = 1
            FROM unnest($1::text[], $2::int[]) AS other(topic, partition)
            WHERE p.topic = other.topic AND p.partition = other.partition
            """, [.textArray(partitions.map(\.topic)), .int4Array(partitions.map(\.partition))])
    }

    /// The compare-and-set, one statement for all partitions and the first of the transaction. Partitions that it does
    /// not return are owned by another worker by now, or have other vehicles: their rows must be left out. Both offsets are
    /// compared: what waited for its decisions moves the second alone.
    package static func advance(_ steps: [ProgressStep], on connection: Connection) throws -> Set<TopicPartition> {
        let rows = try connection.query(
            """
            UPDATE partition_progress p
            SET next_offset = step.to_offset, clock_at = nullif(step.clock_at, 'epoch'), replay_offset = step.replay_offset,
                replay_clock_at = nullif(step.replay_clock_at, 'epoch'), last_record_hash = step.hash,
                clock_waits = nullif(step.waits, ''), replay_clock_waits = nullif(step.replay_waits, '')
            FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::bigint[], $8::timestamptz[],
                    $9::bigint[], $10::text[], $11::text[], $12::bigint[])
                AS step(topic, partition, from_offset, from_replay, to_offset, clock_at, replay_offset, replay_clock_at, hash, waits,
                    replay_waits, generation)
            WHERE p.topic = step.topic AND p.partition = step.partition AND p.next_offset = step.from_offset
                AND p.replay_offset = step.from_replay AND p.generation = step.generation
            RETURNING p.topic, p.partition
            """,
            [
                .textArray(steps.map(\.partition.topic)), .int4Array(steps.map(\.partition.partition)),
                .int8Array(steps.map(\.from.nextOffset)), .int8Array(steps.map(\.from.replayFrom)),
                .int8Array(steps.map(\.to.nextOffset)),
                .timestampArray(steps.map(\.to.clockMs)), .int8Array(steps.map(\.to.replayFrom)),
                .timestampArray(steps.map(\.to.replayClockMs)),
                .int8Array(steps.map { $0.to.lastRecordHash ?? 0 }),
                .textArray(steps.map { $0.to.clockWaits ?? "" }),
                .textArray(steps.map { $0.to.replayClockWaits ?? "" }),
                .int8Array(steps.map(\.from.generation)),
            ])
        return Set(
            try rows.map {
                TopicPartition(topic: try $0.text("topic")!, partition: Int32(try $0.int("partition")!))
            })
    }
}
