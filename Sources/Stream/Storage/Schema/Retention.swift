package import Postgres

/// How long raw rows are kept (docs/decisions/0018-retention.md, 0019-periods.md). What they add up to stays.
package enum Retention {
    /// A table whose rows grow with time.
    package struct Kept: Sendable {
        package let table: String
        /// The setting that says for how many days: of the table, or of the one that it belongs to.
        package let setting: String
        let time: String
        /// The topic whose clock must have passed: nobody's late records may come below the rows that stay.
        let topic: String?
        let way: Way

        init(table: String, as whole: String? = nil, time: String, topic: String?, way: Way) {
            self.table = table
            self.time = time
            self.topic = topic
            self.way = way
            setting = "retention.\(whole ?? table)_days"
        }
    }

    enum Way: Sendable {
        /// Whole partitions. `staying` selects, as `r.*`, those rows of the partition `%@` that stay although it goes, where
        /// `$1` is from when on all stay and `$2` and `$3` are the partition's own time.
        case partitions(staying: String)
        /// Rows `r` of one owner after the other, by an index by owner and time: such tables are small. `condition` says which
        /// may go at all, where `$2` is from when on all stay.
        case rows(owner: String, condition: String = "true")
    }

    package static let all: [Kept] = [
        // Whole trips: late readings add a trip up again from all of its minutes, and a day from all of its own.
        Kept(
            table: "vehicle_minute", time: "minute_at", topic: "drover.cars",
            way: .partitions(
                staying: """
                    SELECT r.* FROM drover.trip t
                    JOIN %@ r ON r.vehicle = t.vehicle AND r.trip_start_at = t.start_at
                        AND r.minute_at > t.start_at - interval '1 minute'
                    WHERE (t.is_open OR t.end_at >= $1) AND t.start_at < $3
                        AND $2::timestamptz IS NOT NULL
                    """)),
        // The newest of the old ones stays: late readings begin with the state after it.
        Kept(
            table: "machine_reading", time: "read_at", topic: "drover.machines",
            way: .partitions(
                staying: """
                    SELECT r.* FROM drover.vehicle v
                    CROSS JOIN LATERAL (SELECT k.read_at FROM drover.machine_reading k
                        WHERE k.vehicle = v.vehicle AND k.read_at < $1 ORDER BY k.read_at DESC LIMIT 1) AS newest
                    JOIN %@ r ON r.vehicle = v.vehicle AND r.read_at = newest.read_at
                    WHERE v.kind = 'machine' AND newest.read_at >= $2 AND newest.read_at < $3
                    """)),
        Kept(table: "dispatch_decision", time: "made_at", topic: nil, way: .rows(owner: "campus")),
        Kept(table: "debug_log", time: "fetched_at", topic: nil, way: .rows(owner: "vehicle")),
        Kept(table: "trip_weather", time: "hour_at", topic: "drover.cars", way: .rows(owner: "vehicle")),
        // Where a trip began is kept for its weather alone.
        Kept(
            table: "trip_start", as: "trip_weather", time: "start_at", topic: "drover.cars",
            way: .rows(owner: "vehicle")),
        Kept(
            table: "notice", time: "decided_at", topic: nil, way: .rows(owner: "account", condition: isSettled("r"))),
        Kept(
            table: "notice_message", as: "notice", time: "made_at", topic: nil,
            way: .rows(
                owner: "account",
                condition: """
                    r.state <> 'waiting' AND NOT EXISTS (
                        SELECT FROM drover.notice_told t JOIN drover.notice n USING (notice_id)
                        WHERE t.message_id = r.message_id AND NOT (n.decided_at < $2 AND \(isSettled("n"))))
                    """)),
        // What waits for its broker stays, however old.
        Kept(
            table: "outbox", time: "made_at", topic: nil, way: .rows(owner: "topic", condition: "r.refused IS NOT NULL")
        ),
    ]

    /// A notice may go when it is settled and its alert is over: before, people would be told again.
    private static func isSettled(_ notice: String) -> String {
        """
        \(notice).state <> 'waiting' AND NOT EXISTS (
            SELECT FROM drover.alert a WHERE a.alert_id = \(notice).alert_id AND a.state IN ('open', 'due_soon'))
        """
    }

    package struct Outcome: Sendable {
        package let table: String
        /// Rows before it go; nil: nothing does, as `why` says.
        package var beforeMs: Int64?
        package var why = ""
        package var rows = 0
        package var bytes: Int64 = 0
        package var oldestKeptMs: Int64?
    }

    /// Readings may come this much later than they are judged by: a worker that is behind, a trip over midnight.
    static let marginMs: Int64 = 2 * 86_400_000
    private static let batchRows: Int64 = 5_000

    /// - Parameters:
    ///   - days: nil: for ever.
    ///   - shouldStop: asked between batches and partitions.
    package static func run(
        _ kept: Kept, days: Int64?, isDryRun: Bool, nowMs: Int64, on connection: Connection, shouldStop: () -> Bool
    ) throws -> Outcome {
        var outcome = Outcome(table: kept.table)
        guard let days else {
            outcome.why = "kept for ever"
            return outcome
        }
        guard let clockMs = try clock(kept.topic, nowMs: nowMs, on: connection) else {
            outcome.why = "no clock of \(kept.topic ?? "") yet"
            return outcome
        }
        let dayMs: Int64 = 86_400_000
        let keptFromMs = min(nowMs, clockMs) - days * dayMs - (kept.topic == nil ? 0 : marginMs)
        let beforeMs = keptFromMs / dayMs * dayMs
        switch kept.way {
        case .rows(let owner, let condition):
            outcome.beforeMs = beforeMs
            if !isDryRun { try remember(kept, beforeMs, on: connection) }
            try removeRows(kept, owner, condition, isDryRun, &outcome, on: connection, shouldStop: shouldStop)
        case .partitions(let staying):
            let periods = try Period.all(of: kept.table, endedBy: beforeMs, on: connection)
            guard let last = periods.last else {
                outcome.why = "no partition is that old as a whole"
                break
            }
            outcome.beforeMs = last.toMs
            if !isDryRun { try remember(kept, last.toMs, on: connection) }
            for period in periods where !shouldStop() {
                try remove(period, staying, kept.time, isDryRun, &outcome, on: connection)
            }
            // Nobody else looks at the table as a whole for the planner; its partitions are looked after by autovacuum.
            if !isDryRun { try connection.execute("ANALYZE drover.\(kept.table)") }
        }
        outcome.oldestKeptMs = try oldest(kept, outcome.beforeMs ?? beforeMs, isDryRun: isDryRun, on: connection)
        return outcome
    }

    /// First of all: whoever compares from now on leaves out what may be gone.
    private static func remember(_ kept: Kept, _ beforeMs: Int64, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.retained AS known (relation, from_at) VALUES ($1, $2)
            ON CONFLICT (relation) DO UPDATE SET from_at = greatest(known.from_at, EXCLUDED.from_at), ran_at = now()
            """, [.text(kept.table), .timestampMs(beforeMs)])
    }

    // MARK: Partitions

    struct Period {
        let table, partition: String
        let fromMs, toMs: Int64

        /// Those of a table that have ended by then, the oldest first.
        static func all(of table: String, endedBy ms: Int64, on connection: Connection) throws -> [Period] {
            try connection.query(
                "SELECT partition, from_at, to_at FROM drover.period WHERE relation = $1 AND to_at <= $2 ORDER BY from_at",
                [.text(table), .timestampMs(ms)]
            ).map { row in
                Period(
                    table: table, partition: "drover.\"\(try row.text(0)!)\"", fromMs: try row.timestampMs(1)!,
                    toMs: try row.timestampMs(2)!)
            }
        }
    }

    /// How often it is tried again when somebody reads the table, who would have to wait meanwhile.
    private static let tries = 5

    private static func remove(
        _ period: Period, _ staying: String, _ time: String, _ isDryRun: Bool, _ outcome: inout Outcome,
        on connection: Connection
    ) throws {
        let stays = staying.replacing("%@", with: period.partition)
        let span: [Parameter] = [
            .timestampMs(outcome.beforeMs!), .timestampMs(period.fromMs), .timestampMs(period.toMs),
        ]
        let counted = try connection.query(
            """
            SELECT (SELECT count(*) FROM \(period.partition)), (SELECT count(*) FROM (\(stays)) AS kept),
                   pg_total_relation_size('\(period.partition)')
            """, span)[0]
        let (rows, left, bytes) = (try counted.int(0)!, try counted.int(1)!, Int64(try counted.int(2)!))
        // Only what stays is left there from the run before, or of a partition that nothing was written to.
        guard rows > left || left == 0 else { return }
        if !isDryRun {
            guard try exchange(period, stays, time, span, left: left, on: connection) else {
                outcome.why = "\(period.partition) is being read all the time: the next run tries again"
                return
            }
        }
        outcome.rows += rows - left
        outcome.bytes += bytes
    }

    /// Takes the partition out and puts the rows that stay in its place. False: somebody held on to it.
    private static func exchange(
        _ period: Period, _ stays: String, _ time: String, _ span: [Parameter], left: Int, on connection: Connection
    ) throws -> Bool {
        for attempt in 1...tries {
            do {
                try connection.transaction {
                    // What stays is found before anybody has to wait: nothing is written any more to what is this old.
                    try connection.query(
                        """
                        CREATE TEMPORARY TABLE period_stays ON COMMIT DROP AS
                        SELECT r.vehicle, r.\(time) FROM (\(stays)) AS r
                        """, span)
                    // The table before its partition, as writers do. Who waits for it holds up all who come after: not for long.
                    try connection.execute(
                        """
                        SET LOCAL lock_timeout = '2s';
                        LOCK TABLE ONLY drover.\(period.table) IN ACCESS EXCLUSIVE MODE
                        """)
                    if left > 0 {
                        // Like the partition, which has all of the table's indexes and rules for rows.
                        try connection.execute(
                            """
                            CREATE TABLE drover.period_kept (LIKE \(period.partition) INCLUDING ALL);
                            INSERT INTO drover.period_kept
                            SELECT r.* FROM \(period.partition) r JOIN period_stays USING (vehicle, \(time))
                            """)
                    }
                    try connection.execute(
                        """
                        ALTER TABLE drover.\(period.table) DETACH PARTITION \(period.partition);
                        DROP TABLE \(period.partition)
                        """)
                    let name = period.partition.dropFirst("drover.".count)
                    guard left > 0 else {
                        try connection.query(
                            "DELETE FROM drover.period WHERE relation = $1 AND from_at = $2",
                            [.text(period.table), .timestampMs(period.fromMs)])
                        return
                    }
                    try connection.execute("ALTER TABLE drover.period_kept RENAME TO \(name)")
                    let bounds = try connection.query(
                        "SELECT format('FOR VALUES FROM (%L) TO (%L)', $1::timestamptz, $2::timestamptz)",
                        [.timestampMs(period.fromMs), .timestampMs(period.toMs)])[0].text(0)!
                    try connection.execute(
                        "ALTER TABLE drover.\(period.table) ATTACH PARTITION \(period.partition) \(bounds)")
                }
                return true
            } catch let error as PostgresError where ["55P03", "40P01"].contains(error.sqlState) {
                // lock_not_available, deadlock_detected
                if attempt < tries { try connection.query("SELECT pg_sleep(1)") }
            }
        }
        return false
    }

    // MARK: Rows

    private static func removeRows(
        _ kept: Kept, _ owner: String, _ condition: String, _ isDryRun: Bool, _ outcome: inout Outcome,
        on connection: Connection, shouldStop: () -> Bool
    ) throws {
        let rows = "drover.\(kept.table) r WHERE r.\(owner) = $1 AND r.\(kept.time) < $2 AND \(condition)"
        let owners = try connection.query("SELECT DISTINCT \(owner) FROM drover.\(kept.table) ORDER BY 1")
            .map { try $0.text(0)! }
        for each in owners where !shouldStop() {
            let values: [Parameter] = [.text(each), .timestampMs(outcome.beforeMs!)]
            let sizes = try connection.query(
                "SELECT count(*), coalesce(sum(pg_column_size(r.*)), 0)::bigint FROM \(rows)", values)
            guard try sizes[0].int(0)! > 0 else { continue }
            outcome.bytes += Int64(try sizes[0].int(1)!)
            outcome.rows +=
                isDryRun
                ? try sizes[0].int(0)! : try delete(kept, rows, values, on: connection, shouldStop: shouldStop)
        }
    }

    private static func delete(
        _ kept: Kept, _ rows: String, _ values: [Parameter], on connection: Connection, shouldStop: () -> Bool
    ) throws -> Int {
        var deleted = 0
        while !shouldStop() {
            let count = try connection.query(
                """
                DELETE FROM drover.\(kept.table) WHERE ctid = ANY (ARRAY(
                    SELECT r.ctid FROM \(rows) LIMIT \(batchRows)))
                """, values
            ).rowsChanged
            deleted += count
            if count < batchRows { break }
        }
        return deleted
    }

    private static func clock(_ topic: String?, nowMs: Int64, on connection: Connection) throws -> Int64? {
        guard let topic else { return nowMs }
        let row = try connection.query(
            "SELECT min(clock_at), bool_or(clock_at IS NULL) FROM drover.partition_progress WHERE topic = $1",
            [.text(topic)])[0]
        return try row.bool(1) == false ? try row.timestampMs(0) : nil
    }

    private static func oldest(
        _ kept: Kept, _ beforeMs: Int64, isDryRun: Bool, on connection: Connection
    ) throws -> Int64? {
        try connection.query(
            "SELECT min(r.\(kept.time)) FROM drover.\(kept.table) r"
                + (isDryRun ? " WHERE r.\(kept.time) >= $1" : " WHERE $1 IS NOT NULL"),
            [.timestampMs(beforeMs)])[0].timestampMs(0)
    }
}
