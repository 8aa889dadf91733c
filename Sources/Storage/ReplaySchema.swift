package import Kafka
public import Postgres

/// The schema that a replay builds: tables like the live ones, and their comparison.
public enum ReplaySchema {
    public struct Fault: Error, CustomStringConvertible { public let description: String }

    struct Table {
        let name, key: String
        let without: [String]
        /// The rows that are compared, and how they are called.
        let condition, label: String
        init(
            _ name: String, _ key: String, _ without: [String], where condition: String = "true", label: String? = nil
        ) {
            (self.name, self.key, self.without, self.condition) = (name, key, without, condition)
            self.label = label ?? name
        }
    }

    /// What drivers are told follows from commits: what was said and corrected meanwhile may differ, and so may what is
    /// known of the last hour, which one side may have judged a minute before the other.
    private static let driversAlerts = Table(
        "alert", "vehicle",
        ["alert_id", "first_opened_at", "revision", "revised_at", "told_at", "resolved_told_at"],
        where: """
            kind = 'car' AND state = 'resolved' AND coalesce(resolved_at < (
                SELECT min(clock_at) FROM drover.partition_progress WHERE topic = 'drover.cars') - interval '1 hour', false)
            """, label: "alert of cars")

    /// What `drover retention` has left whole.
    private static func kept(_ table: String, _ time: String) -> String {
        "\(time) >= coalesce((SELECT from_at FROM drover.retained WHERE relation = '\(table)'), '-infinity')"
    }

    /// Tables that hold results, with what is not compared: what tells about processing, or what people did since.
    static let tables: [Table] = [
        Table("vehicle", "vehicle", []),
        Table("vehicle_minute", "vehicle", ["revision", "revised_at"], where: kept("vehicle_minute", "minute_at")),
        Table("trip", "vehicle", ["revision", "revised_at", "state"]),
        Table("trip_start", "vehicle", [], where: kept("trip_start", "start_at")),
        Table("trip_weather", "vehicle", [], where: kept("trip_weather", "hour_at")),
        Table("vehicle_day", "vehicle", ["revision", "revised_at"]),
        Table("machine_reading", "vehicle", ["record_offset"], where: kept("machine_reading", "read_at")),
        Table("alert", "vehicle", [], where: "kind = 'machine'"),
        driversAlerts,
        Table("rejected", "topic", ["retried_at"]),
        Table("rule_set", "version", []),
        Table("registration", "vehicle", []),
        Table("service", "vehicle", []),
        Table("acknowledgement", "vehicle", []),
        Table("silence", "record_id", []),
        Table("poll_request", "vehicle", []),
        Table("trip_mark", "vehicle", []),
        Table("trip_note", "vehicle", []),
        Table("driving", "vehicle", []),
        Table("assignment", "vehicle", []),
        Table("account_settings", "account", []),
        Table("health_scan", "vehicle", []),
        Table("car_support", "vehicle", []),
        Table("car_owner", "vehicle", []),
        Table("trip_summary", "vehicle", []),
        Table("campus", "campus", []),
        Table("rider", "rider", []),
        Table("ride", "request", []),
        Table("ride_vehicle", "vehicle", []),
        Table("dispatch_decision", "campus", [], where: kept("dispatch_decision", "made_at")),
        Table("survey", "site", []),
        Table("survey_version", "site", []),
        Table("survey_waiting", "site", []),
        Table("survey_weather", "site", []),
        Table("surveyor", "site", []),
        Table("sighting", "site", []),
        Table("sighting_week", "site", []),
        Table("species_season", "site", []),
        Table("tour_event", "tour", []),
        Table("tour_day", "tour", []),
    ]

    /// A plain name that is nobody else's.
    public static func check(_ name: String) throws {
        let isPlain = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        guard (1...40).contains(name.utf8.count), isPlain, !(0x30...0x39).contains(name.utf8.first!) else {
            throw Fault(description: "`\(name)`: a schema's name is 1 to 40 letters a-z, digits and _, no digit first")
        }
        guard name != Store.liveSchema, name != "public", !name.hasPrefix("pg_"), name != "information_schema" else {
            throw Fault(description: "`\(name)` is not a replay's schema: choose another name")
        }
    }

    /// Makes the schema when it is not there; `owner` may create schemas. Returns whether it was made now.
    public static func prepare(_ name: String, owner: Connection) throws -> Bool {
        try check(name)
        if try isThere(name, on: owner) { return false }
        guard try owner.query("SELECT FROM pg_namespace WHERE nspname = $1", [.text(name)]).isEmpty else {
            throw Fault(description: "schema `\(name)` is there and holds no replay: choose another name")
        }
        // The name was checked: it needs no quotes.
        try owner.transaction {
            try owner.execute("CREATE SCHEMA \(name)")
            for table in ["partition_progress"] + Set(tables.map(\.name)).sorted() {
                try owner.execute("CREATE TABLE \(name).\(table) (LIKE drover.\(table) INCLUDING ALL)")
            }
            try owner.execute(
                """
                GRANT USAGE ON SCHEMA \(name) TO drover_writer, drover_reader;
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(name) TO drover_writer;
                GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO drover_reader
                """)
        }
        return true
    }

    /// Whether the schema holds a replay. Precondition: the name was checked.
    public static func isThere(_ name: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT to_regclass($1)::text", [.text("\(name).partition_progress")])[0].text(0) != nil
    }

    /// Where the partitions of a schema stand, by topic and partition.
    package static func offsets(_ schema: String, on connection: Connection) throws -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        for row in try connection.query("SELECT topic, partition, next_offset FROM \(schema).partition_progress") {
            let partition = TopicPartition(topic: try row.text(0)!, partition: Int32(try row.int(1)!))
            offsets[partition] = Int64(try row.int(2)!)
        }
        return offsets
    }

    // MARK: Comparing

    private static let buckets = 256

    /// Rows and their digest, bucket by bucket. The digest is a sum of hashes: the order of the rows is no part of it.
    struct Digest: Equatable {
        var rows: Int
        var sum: String
    }

    public struct TableResult: Sendable {
        public let table: String
        public let rows: Int
        /// Nil: equal.
        public let firstDifference: String?
    }

    /// Compares each table of `schema`, seen by `replayed`, with the live one, seen by `live` (which may be a session
    /// that keeps to one moment).
    public static func compare(_ schema: String, live: Connection, replayed: Connection) throws -> [TableResult] {
        try tables.map { table in
            let columns = try columns(table.name, without: table.without, on: live)
            let ours = try digests(Store.liveSchema, table, columns, on: live)
            let theirs = try digests(schema, table, columns, on: replayed)
            let rows = ours.values.reduce(0) { $0 + $1.rows }
            guard let bucket = Set(ours.keys).union(theirs.keys).sorted().first(where: { ours[$0] != theirs[$0] })
            else { return TableResult(table: table.label, rows: rows, firstDifference: nil) }
            let (a, b) = (
                try texts(Store.liveSchema, table, columns, bucket, on: live),
                try texts(schema, table, columns, bucket, on: replayed)
            )
            return TableResult(table: table.label, rows: rows, firstDifference: difference(a, b))
        }
    }

    private static func columns(_ table: String, without: [String], on connection: Connection) throws -> String {
        let names = try connection.query(
            """
            SELECT column_name::text FROM information_schema.columns
            WHERE table_schema = $1 AND table_name = $2 AND column_name <> ALL ($3::text[]) ORDER BY ordinal_position
            """, [.text(Store.liveSchema), .text(table), .textArray(without)])
        return try names.map { try $0.text(0)! }.joined(separator: ", ")
    }

    private static func rows(_ schema: String, _ table: Table, _ columns: String) -> String {
        "(SELECT abs(hashtext(\(table.key)) % \(buckets)) AS bucket, ROW(\(columns))::text AS row "
            + "FROM \(schema).\(table.name) WHERE \(table.condition)) AS rows"
    }

    private static func digests(
        _ schema: String, _ table: Table, _ columns: String, on connection: Connection
    ) throws -> [Int: Digest] {
        var digests: [Int: Digest] = [:]
        for row in try connection.query(
            """
            SELECT bucket, count(*), sum(hashtextextended(row, 0))::text
            FROM \(rows(schema, table, columns)) GROUP BY bucket
            """)
        {
            digests[try row.int(0)!] = Digest(rows: try row.int(1)!, sum: try row.text(2)!)
        }
        return digests
    }

    private static func texts(
        _ schema: String, _ table: Table, _ columns: String, _ bucket: Int, on connection: Connection
    ) throws -> [String] {
        try connection.query(
            "SELECT row FROM \(rows(schema, table, columns)) WHERE bucket = $1 ORDER BY row COLLATE \"C\"",
            [.int4(Int32(bucket))]
        ).map { try $0.text(0)! }
    }

    private static func difference(_ live: [String], _ replayed: [String]) -> String {
        func short(_ row: String) -> String { row.utf8.count > 400 ? "\(row.prefix(400))…" : row }
        if let missing = live.first(where: { !Set(replayed).contains($0) }) {
            let other = replayed.first { !Set(live).contains($0) }
            return "live \(short(missing))\n  replayed \(other.map(short) ?? "has no such row")"
        }
        let extra = replayed.first { !Set(live).contains($0) }
        return "live has no row\n  replayed \(extra.map(short) ?? "the same row more than once")"
    }
}
