internal import Codecs
internal import Fleet
package import Postgres
package import Trips

/// Trip rules in PostgreSQL, by partition of the cars' topic. Decides nothing.
package enum TripRuleStore {
    private static let columns = TripLimits.keys.joined(separator: ", ")

    // MARK: Taking over

    /// The rules that a partition knows. `isNoted`: a record of its log says by what it is folded.
    package static func load(
        _ partition: Int32, on connection: Connection
    ) throws -> (timeline: TripRuleTimeline?, isNoted: Bool) {
        let rows = try connection.query(
            "SELECT in_force_at, record_offset, \(columns) FROM trip_rules WHERE topic_partition = $1",
            [.int4(partition)])
        return (try timeline(rows), try rows.contains { try $0.int("record_offset") != nil })
    }

    /// Writes what a partition begins with where nothing is known of it. Of two workers that both do, the first counts.
    ///
    /// Precondition: within the transaction that reads where the partition stands, and live.
    package static func begin(_ partition: Int32, with base: TripRules, on connection: Connection) throws {
        try insert(partition, .init(fromMs: TripRulesBase.fromMs, rules: base), nil, "DO NOTHING", on: connection)
    }

    /// A replay begins with what the live partition began with, and with the sets of records that its log may not have any more.
    ///
    /// - Parameter offset: of the first record that the replay reads.
    package static func copyLive(_ partition: Int32, before offset: Int64, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO trip_rules (topic_partition, in_force_at, record_offset, \(columns))
            SELECT topic_partition, in_force_at, CASE WHEN record_offset < $3 THEN record_offset END, \(columns)
            FROM drover.trip_rules WHERE topic_partition = $1 AND (in_force_at = $2 OR record_offset < $3)
            ON CONFLICT DO NOTHING
            """, [.int4(partition), .timestampMs(TripRulesBase.fromMs), .int8(offset)])
    }

    // MARK: Writing

    /// A set that the partition took.
    package static func write(
        _ entry: TripRuleTimeline.Entry, offset: Int64, partition: Int32, on connection: Connection
    ) throws {
        let values = TripLimits.keys.map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", ")
        try insert(
            partition, entry, offset, "(topic_partition, in_force_at) DO UPDATE SET \(values), record_offset = $3",
            on: connection)
    }

    /// A record that tells what the partition began with.
    package static func note(offset: Int64, partition: Int32, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE trip_rules SET record_offset = $3
            WHERE topic_partition = $1 AND in_force_at = $2 AND record_offset IS NULL
            """, [.int4(partition), .timestampMs(TripRulesBase.fromMs), .int8(offset)])
    }

    private static func insert(
        _ partition: Int32, _ entry: TripRuleTimeline.Entry, _ offset: Int64?, _ onConflict: String,
        on connection: Connection
    ) throws {
        let limits = entry.rules.limits.values
        // Integers of our own.
        let values = limits.map(String.init).joined(separator: ", ")
        try connection.query(
            """
            INSERT INTO trip_rules (topic_partition, in_force_at, record_offset, \(columns))
            VALUES ($1, $2, $3::bigint, \(values)) ON CONFLICT \(onConflict)
            """, [.int4(partition), .timestampMs(entry.fromMs), offset.map { .int8($0) } ?? .null])
    }

    // MARK: For people

    /// The rules that each partition knows, in the order of their numbers; empty before any worker of this version was there.
    package static func all(on connection: Connection) throws -> [(partition: Int32, timeline: TripRuleTimeline)] {
        guard try connection.query("SELECT to_regclass('drover.trip_rules')::text")[0].text(0) != nil else { return [] }
        let rows = try connection.query(
            "SELECT topic_partition, in_force_at, \(columns) FROM drover.trip_rules ORDER BY topic_partition")
        let partitions = try Dictionary(grouping: rows) { Int32(try $0.int("topic_partition")!) }
        return try partitions.sorted { $0.key < $1.key }.compactMap { partition, rows in
            try timeline(rows).map { (partition, $0) }
        }
    }

    /// The first record of each partition that is not written yet.
    package static func offsets(on connection: Connection) throws -> [Int32: Int64] {
        let rows = try connection.query(
            "SELECT partition, next_offset FROM drover.partition_progress WHERE topic = $1", [.text(Topic.cars)])
        return Dictionary(
            uniqueKeysWithValues: try rows.map {
                (Int32(try $0.int("partition")!), Int64(try $0.int("next_offset")!))
            })
    }

    /// By which a car's trip that begins then is folded; nil: nothing is on record.
    package static func rules(
        of vehicle: String, atMs: Int64, on connection: Connection
    ) throws -> TripRules? {
        let rows = try connection.query(
            """
            SELECT \(columns) FROM drover.trip_rules
            WHERE topic_partition = (SELECT topic_partition FROM drover.vehicle WHERE kind = 'car' AND vehicle = $1)
                AND in_force_at <= $2
            ORDER BY in_force_at DESC LIMIT 1
            """, [.text(vehicle), .timestampMs(atMs)])
        return try rows.first.map(rules)
    }

    // MARK: Rows

    /// Nil: there is no row of what the partition began with.
    private static func timeline(_ rows: some Sequence<Row>) throws -> TripRuleTimeline? {
        let entries = try rows.map {
            TripRuleTimeline.Entry(fromMs: try $0.timestampMs("in_force_at")!, rules: try rules($0))
        }
        guard let base = entries.first(where: { $0.fromMs == TripRulesBase.fromMs }) else { return nil }
        return TripRuleTimeline(base: base.rules, entries.filter { $0.fromMs != base.fromMs })
    }

    /// A row that is none is a fault of the database: it is said, not skipped.
    private static func rules(_ row: Row) throws -> TripRules {
        try TripRules(TripLimits(values: try TripLimits.keys.map { Int64(try row.int($0)!) }))
    }
}
