public import Postgres

/// How long raw rows are kept (docs/decisions/0018-retention.md). What they add up to stays.
public enum Retention {
    /// A table whose rows grow with time.
    public struct Kept: Sendable {
        public let table: String
        /// Of the setting that says for how many days.
        public var setting: String { "retention.\(table)_days" }
        let owner, time: String
        /// Whose clock must have passed: nobody's late records may come below the rows that stay.
        let topic: String?
        /// Rows `r` that may go, of one owner `$1` before `$2`.
        let condition: String

        /// For pages and tests: those of an owner that have no index by time alone are deleted owner by owner.
        fileprivate func rows(_ condition: String) -> String {
            "drover.\(table) r WHERE r.\(owner) = $1 AND r.\(time) < $2 AND \(condition)"
        }
    }

    public static let all: [Kept] = [
        // Whole trips: late readings add a trip up again from all of its minutes, and a day from all of its own.
        Kept(
            table: "vehicle_minute", owner: "vehicle", time: "minute_at", topic: "drover.cars",
            condition: """
                NOT EXISTS (SELECT FROM drover.trip t WHERE t.vehicle = r.vehicle AND t.start_at = r.trip_start_at
                    AND (t.is_open OR t.end_at >= $2))
                """),
        // The newest of the old ones stays: late readings begin with the state after it.
        Kept(
            table: "machine_reading", owner: "vehicle", time: "read_at", topic: "drover.machines",
            condition: """
                r.read_at < (SELECT max(k.read_at) FROM drover.machine_reading k WHERE k.vehicle = $1 AND k.read_at < $2)
                """),
        Kept(table: "dispatch_decision", owner: "campus", time: "made_at", topic: nil, condition: "true"),
        Kept(table: "debug_log", owner: "vehicle", time: "fetched_at", topic: nil, condition: "true"),
    ]

    public struct Outcome: Sendable {
        public let table: String
        /// Rows before it go; nil: nothing does, as `why` says.
        public var beforeMs: Int64?
        public var why = ""
        public var rows = 0
        public var bytes: Int64 = 0
        public var oldestKeptMs: Int64?
    }

    /// Readings may come this much later than they are judged by: a worker that is behind, a trip over midnight.
    static let marginMs: Int64 = 2 * 86_400_000
    private static let batchRows: Int64 = 5_000

    /// - Parameters:
    ///   - days: nil: for ever.
    ///   - shouldStop: asked between batches.
    public static func run(
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
        outcome.beforeMs = beforeMs
        let owners = try connection.query("SELECT DISTINCT \(kept.owner) FROM drover.\(kept.table) ORDER BY 1")
            .map { try $0.text(0)! }
        if !isDryRun {
            // First of all: whoever compares from now on leaves out what may be gone.
            try connection.query(
                """
                INSERT INTO drover.retained AS known (relation, from_at) VALUES ($1, $2)
                ON CONFLICT (relation) DO UPDATE SET from_at = greatest(known.from_at, EXCLUDED.from_at), ran_at = now()
                """, [.text(kept.table), .timestampMs(beforeMs)])
        }
        for owner in owners where !shouldStop() {
            let values: [Parameter] = [.text(owner), .timestampMs(beforeMs)]
            let sizes = try connection.query(
                "SELECT count(*), coalesce(sum(pg_column_size(r.*)), 0)::bigint FROM \(kept.rows(kept.condition))",
                values)
            guard try sizes[0].int(0)! > 0 else { continue }
            outcome.bytes += Int64(try sizes[0].int(1)!)
            outcome.rows +=
                isDryRun ? try sizes[0].int(0)! : try delete(kept, values, on: connection, shouldStop: shouldStop)
        }
        outcome.oldestKeptMs = try oldest(kept, beforeMs, isDryRun: isDryRun, on: connection)
        return outcome
    }

    private static func delete(
        _ kept: Kept, _ values: [Parameter], on connection: Connection, shouldStop: () -> Bool
    ) throws -> Int {
        var deleted = 0
        while !shouldStop() {
            let count = try connection.query(
                """
                DELETE FROM drover.\(kept.table) WHERE ctid = ANY (ARRAY(
                    SELECT r.ctid FROM \(kept.rows(kept.condition)) LIMIT \(batchRows)))
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
