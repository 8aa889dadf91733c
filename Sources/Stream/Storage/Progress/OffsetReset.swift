internal import Fleet
package import Postgres

/// Logs that were lost, replaced or made anew: what stands beside their offsets is put back, so that they are read from their
/// beginning. Reading again is harmless, because results are absolute values of the set of readings.
/// Precondition of all: in a transaction, which also tells the audit log of it.
package enum OffsetReset {
    package struct Lost: Sendable {
        let topic: String
        let partition: Int32
        /// The log's first record.
        let low: Int64

        package init(topic: String, partition: Int32, low: Int64) {
            self.topic = topic
            self.partition = partition
            self.low = low
        }
    }

    /// - Parameter ids: of the topics as they are now; empty: the broker gives none.
    package static func apply(_ lost: [Lost], ids: [String: String], on connection: Connection) throws {
        let partitions: [Parameter] = [
            .textArray(lost.map(\.topic)), .int4Array(lost.map(\.partition)), .int8Array(lost.map(\.low)),
        ]
        for statement in [progress, quarantine] { try connection.query(statement, partitions) }
        let topics = Set(lost.map(\.topic)).sorted()
        try connection.query(
            """
            UPDATE drover.partition_progress p SET topic_id = nullif(found.id, '')
            FROM unnest($1::text[], $2::text[]) AS found(topic, id) WHERE p.topic = found.topic
            """, [.textArray(topics), .textArray(topics.map { ids[$0] ?? "" })])
        let statements = [
            accountSettings, replacedLimits, ruleSets, rejudging, spreading("machine_spreading", of: Topic.machines),
            spreading("car_spreading", of: Topic.cars), carWatches, trips,
        ]
        for statement in statements {
            try connection.query(statement, partitions)
        }
    }

    /// Reads records that are on a topic's log now, whoever stamped them.
    /// - Returns: the partitions that a worker has read before.
    package static func accept(
        _ topic: String, before ends: [(partition: Int32, offset: Int64)], on connection: Connection
    ) throws -> [Int32] {
        try connection.query(
            """
            UPDATE drover.partition_progress p SET create_time_before = greatest(p.create_time_before, seen.high)
            FROM unnest($1::int[], $2::bigint[]) AS seen(partition, high) WHERE p.topic = $3 AND p.partition = seen.partition
            RETURNING p.partition
            """, [.int4Array(ends.map(\.partition)), .int8Array(ends.map(\.offset)), .text(topic)]
        ).map { Int32(try $0.int("partition")!) }
    }

    // MARK: Statements

    private static let lost = "unnest($1::text[], $2::int[], $3::bigint[]) AS lost(topic, partition, low)"

    private static let progress = """
        UPDATE drover.partition_progress p
        SET next_offset = lost.low, replay_offset = lost.low, last_record_hash = NULL,
            clock_at = NULL, replay_clock_at = NULL, clock_waits = NULL, replay_clock_waits = NULL,
            create_time_before = NULL
        FROM \(lost)
        WHERE p.topic = lost.topic AND p.partition = lost.partition
        """

    /// Vehicles that are set apart stood in the old log, too.
    private static let quarantine = """
        UPDATE drover.quarantine q
        SET next_offset = lost.low, replay_offset = lost.low, last_record_hash = NULL,
            clock_at = NULL, replay_clock_at = NULL, clock_waits = NULL, replay_clock_waits = NULL
        FROM \(lost)
        WHERE q.topic = lost.topic AND q.partition = lost.partition
        """

    /// Settings of accounts, and rules that were in force, hold wherever the new log is. Records of the old one have an order by their times
    /// only: what had not come to all cars comes to each again.
    private static let accountSettings = """
        UPDATE drover.account_settings s SET record_offset = NULL, reached_vehicle = NULL,
            reached_all_offset = 0 * s.reached_all_offset - 1
        FROM \(lost)
        WHERE lost.topic = '\(Topic.cars)' AND s.topic_partition = lost.partition
        """

    private static let replacedLimits = """
        UPDATE drover.replaced_limits r SET record_offset = -1, reached_vehicle = NULL,
            reached_all_offset = 0 * r.reached_all_offset - 1
        FROM \(lost)
        WHERE lost.topic = '\(Topic.cars)' AND r.topic_partition = lost.partition
        """

    private static let ruleSets = """
        UPDATE drover.rule_set r SET record_offset = -1
        FROM \(lost)
        WHERE lost.topic = '\(Topic.machines)' AND r.topic_partition = lost.partition
        """

    /// Their places in the queue are offsets of the old log.
    private static let rejudging = """
        UPDATE drover.machine_rejudging r SET asked_offset = 0
        FROM \(lost)
        WHERE lost.topic = '\(Topic.machines)' AND r.topic_partition = lost.partition
        """

    /// Before all of the new log, one after the other as they were; also before what stands there since a log was lost before: no row may take
    /// the place of one that is not moved yet.
    private static func spreading(_ table: String, of topic: String) -> String {
        """
        UPDATE drover.\(table) s SET asked_offset = s.asked_offset - known.last - 1 + least(known.first, 0)
        FROM \(lost)
        JOIN (
            SELECT topic_partition, min(asked_offset) AS first, max(asked_offset) AS last FROM drover.\(table) GROUP BY 1
        ) AS known ON known.topic_partition = lost.partition
        WHERE lost.topic = '\(topic)' AND s.topic_partition = lost.partition
        """
    }

    /// Their states go up to an offset of the old log: they are made again from the stored minutes.
    private static let carWatches = """
        UPDATE drover.car_watch w SET state = NULL, next_offset = NULL, asked_offset = 0, codes_offset = w.codes_offset * 0,
            from_at = coalesce(least(w.from_at, last.end_at), last.end_at), until_at = '2099-12-31', is_late = true,
            is_latest = true
        FROM (
            SELECT known.vehicle, coalesce(max(t.end_at), '1990-01-01') AS end_at
            FROM drover.car_watch known JOIN \(lost)
                ON lost.topic = '\(Topic.cars)' AND known.topic_partition = lost.partition
            LEFT JOIN drover.trip t ON t.vehicle = known.vehicle GROUP BY known.vehicle
        ) AS last
        WHERE w.vehicle = last.vehicle
        """

    /// The same of trips.
    private static let trips = """
        UPDATE drover.trip SET state = NULL
        FROM drover.vehicle v, \(lost)
        WHERE lost.topic = '\(Topic.cars)' AND v.kind = 'car' AND v.topic_partition = lost.partition
            AND trip.vehicle = v.vehicle AND trip.state IS NOT NULL
        """
}
