internal import Fleet
internal import Postgres

/// The tables of schedules and runs: Queries/migrations/0043_report_schedules.sql. Rows that are under way are held by the
/// transaction that reads them: of several processes each takes another one.
enum ReportLedger {
    /// A run that is waiting, to be looked at again, or to be mailed.
    struct Run {
        let schedule: Result<ReportSchedule, any Error>
        let scheduleID: Int64
        let dueMs: Int64
        let tries, revision: Int
        let isAsked: Bool
        let digest, facts: [UInt8]?

        fileprivate init(_ row: Row) throws {
            scheduleID = Int64(try row.int("schedule_id")!)
            dueMs = try row.timestampMs("due_at")!
            (tries, revision) = (try row.int("tries")!, try row.int("revision")!)
            isAsked = try row.bool("is_asked")!
            (digest, facts) = (try row.bytes("digest"), try row.bytes("facts"))
            schedule = Result { try ReportSchedule(row) }
        }
    }

    /// A schedule that something may have fallen due of.
    struct Plan {
        let id: Int64
        let cron, zone: String
        let schedule: Result<ReportSchedule, any Error>
        let plannedMs, nowMs: Int64
    }

    private static let schedule =
        "s.schedule_id, s.account, s.report, s.span, s.narrowed_to, s.fleet, s.format, s.units, s.zone, s.mail_to, s.is_filed"

    // MARK: Planning

    static func nextPlan(on connection: Connection) throws -> Plan? {
        try connection.query(
            """
            SELECT \(schedule), s.cron, s.planned_until, now() AS now FROM drover.report_schedule s
            WHERE s.is_enabled AND s.trouble IS NULL AND (s.next_due_at IS NULL OR s.next_due_at <= now())
            ORDER BY s.next_due_at NULLS FIRST, s.schedule_id LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            Plan(
                id: Int64(try row.int("schedule_id")!), cron: try row.text("cron")!, zone: try row.text("zone")!,
                schedule: Result { try ReportSchedule(row) }, plannedMs: try row.timestampMs("planned_until")!,
                nowMs: try row.timestampMs("now")!)
        }
    }

    /// - Parameter dues: with the time before which each is not to be tried.
    static func planned(
        _ plan: Plan, dues: [(dueMs: Int64, tryMs: Int64)], nextMs: Int64, leftOutMs: Int64?, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO drover.report_run (schedule_id, due_at, try_at)
            SELECT $1, due_at, try_at FROM unnest($2::timestamptz[], $3::timestamptz[]) AS due (due_at, try_at)
            ON CONFLICT DO NOTHING
            """,
            [.int8(plan.id), .timestampArray(dues.map(\.dueMs)), .timestampArray(dues.map(\.tryMs))])
        try connection.query(
            """
            UPDATE drover.report_schedule SET planned_until = $2, next_due_at = $3, left_out_at = coalesce($4, left_out_at)
            WHERE schedule_id = $1
            """,
            [
                .int8(plan.id), .timestampMs(plan.nowMs), .timestampMs(nextMs),
                leftOutMs.map { .timestampMs($0) } ?? .null,
            ])
    }

    static func troubled(_ id: Int64, _ trouble: String, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_schedule SET trouble = left($2, 500), next_due_at = NULL WHERE schedule_id = $1",
            [.int8(id), .text(trouble)])
    }

    // MARK: Runs

    static func nextWaiting(on connection: Connection) throws -> Run? {
        try next(
            "r.state = 'waiting' AND r.try_at <= now() AND (s.is_enabled OR r.is_asked)", by: "r.try_at", connection)
    }

    static func nextToLookAt(on connection: Connection) throws -> Run? {
        try next("r.state = 'done' AND r.look_at <= now()", by: "r.look_at", connection)
    }

    static func nextToMail(on connection: Connection) throws -> Run? {
        try next("r.wants_mail", by: "r.due_at", connection)
    }

    private static func next(_ terms: String, by order: String, _ connection: Connection) throws -> Run? {
        try connection.query(
            """
            SELECT \(schedule), r.due_at, r.tries, r.revision, r.is_asked, r.digest, r.facts
            FROM drover.report_run r JOIN drover.report_schedule s USING (schedule_id)
            WHERE \(terms) ORDER BY \(order), r.schedule_id, r.due_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED
            """
        ).first.map(Run.init)
    }

    /// Roles of an account; nil: there is no such one, or it is disabled.
    static func roles(of account: String, on connection: Connection) throws -> [String]? {
        try connection.query(
            "SELECT roles FROM drover.account WHERE account = $1 AND disabled_at IS NULL", [.text(account)]
        ).first.map { try ($0.textArray("roles") ?? []).compactMap(\.self) }
    }

    /// What is kept of a report that was made.
    struct Made {
        let span: ReportSpan
        let rows: Int
        let name, mediaType: String
        let bytes, facts: [UInt8]
        let tookMs: Int64
    }

    /// - Parameters:
    ///   - change: what late data has changed; nil: it was made for the first time.
    ///   - lookS: when to look again; nil: not again.
    static func done(
        _ run: Run, _ made: Made, mails: Int, change: String?, reason: String?, lookS: Int64?, on connection: Connection
    ) throws {
        let kept = made.bytes.count <= 20_000_000 && made.facts.count <= 20_000_000
        try connection.query(
            """
            UPDATE drover.report_run SET state = 'done', first_date = $3, last_date = $4, tries = tries + 1, made_at = clock_timestamp(),
                took_ms = $5, rows = $6, name = $7, media_type = $8, bytes = $9, digest = sha256($10), content = $11, facts = $12,
                mails = mails + $13, revision = revision + ($14::text IS NOT NULL)::int, change = coalesce($14, change),
                reason = left($15, 500), look_at = now() + $16::bigint * interval '1 s'
            WHERE schedule_id = $1 AND due_at = $2
            """,
            [
                .int8(run.scheduleID), .timestampMs(run.dueMs), .text(made.span.first), .text(made.span.last),
                .int4(Int32(clamping: made.tookMs)), .int4(Int32(clamping: made.rows)), .text(made.name),
                .text(made.mediaType),
                .int4(Int32(clamping: made.bytes.count)), .bytes(made.bytes), kept ? .bytes(made.bytes) : .null,
                kept ? .bytes(made.facts) : .null, .int4(Int32(clamping: mails)), .text(change), .text(reason),
                lookS.map { .int8($0) } ?? .null,
            ])
    }

    /// - Parameter waitS: nil: it is given up.
    static func failed(_ run: Run, _ reason: String, waitS: Int64?, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.report_run SET tries = tries + 1, reason = left($3, 500), state = CASE WHEN $4::bigint IS NULL THEN 'failed' ELSE state END,
                try_at = now() + coalesce($4, 0) * interval '1 s'
            WHERE schedule_id = $1 AND due_at = $2
            """,
            [.int8(run.scheduleID), .timestampMs(run.dueMs), .text(reason), waitS.map { .int8($0) } ?? .null])
    }

    static func looked(_ run: Run, lookS: Int64?, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_run SET look_at = now() + $3::bigint * interval '1 s' WHERE schedule_id = $1 AND due_at = $2",
            [.int8(run.scheduleID), .timestampMs(run.dueMs), lookS.map { .int8($0) } ?? .null])
    }

    static func sameDigest(_ bytes: [UInt8], _ digest: [UInt8]?, on connection: Connection) throws -> Bool {
        guard let digest else { return false }
        return try connection.query("SELECT sha256($1) = $2", [.bytes(bytes), .bytes(digest)])[0].bool(0)!
    }

    // MARK: Mail

    struct Recipient {
        let mail: String
        /// Of the mail that brings this revision, and of those before.
        let mailID: String
        let before: [String]
    }

    /// Accounts that can be reached by mail; a mail's id is the run's, the account's and the revision's.
    static func recipients(_ run: Run, _ schedule: ReportSchedule, on connection: Connection) throws -> [Recipient] {
        try connection.query(
            """
            SELECT mail, format('report-%s-%s-%s', $2::bigint, $3::bigint, left(encode(sha256(convert_to(account, 'UTF8')), 'hex'), 16)) AS id
            FROM drover.account
            WHERE account = ANY ($1::text[]) AND disabled_at IS NULL AND confirmed_at IS NOT NULL AND mail IS NOT NULL
            ORDER BY account
            """, [.textArray(schedule.mailTo), .int8(run.scheduleID), .int8(run.dueMs / 1_000)]
        ).map { row in
            let id = try row.text("id")!
            func named(_ revision: Int) -> String { revision == 0 ? id : "\(id)-r\(revision)" }
            return Recipient(
                mail: try row.text("mail")!, mailID: named(run.revision),
                before: run.revision == 0 ? [] : [id])
        }
    }

    struct Kept {
        let name, mediaType, change: String
        let content: [UInt8]
        let madeMs: Int64
    }

    static func kept(_ run: Run, on connection: Connection) throws -> Kept? {
        try connection.query(
            """
            SELECT name, media_type, content, coalesce(change, '') AS change, made_at FROM drover.report_run
            WHERE schedule_id = $1 AND due_at = $2 AND content IS NOT NULL
            """, [.int8(run.scheduleID), .timestampMs(run.dueMs)]
        ).first.map { row in
            Kept(
                name: try row.text("name")!, mediaType: try row.text("media_type")!, change: try row.text("change")!,
                content: try row.bytes("content")!, madeMs: try row.timestampMs("made_at")!)
        }
    }

    static func mailed(_ run: Run, _ mails: Int, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_run SET wants_mail = false, mails = mails + $3 WHERE schedule_id = $1 AND due_at = $2",
            [.int8(run.scheduleID), .timestampMs(run.dueMs), .int4(Int32(clamping: mails))])
    }

    // MARK: Bounds

    /// What is old, and what is more of one schedule than anybody asks for. Returns how many.
    static func prune(keepDays: Int64, on connection: Connection) throws -> Int {
        try connection.query(
            """
            DELETE FROM drover.report_run r USING (
                SELECT schedule_id, due_at, row_number() OVER (PARTITION BY schedule_id ORDER BY due_at DESC) AS place,
                    greatest(made_at, try_at) AS ended_at FROM drover.report_run WHERE state <> 'waiting') x
            WHERE r.schedule_id = x.schedule_id AND r.due_at = x.due_at
                AND (x.place > 400 OR x.ended_at < now() - $1::bigint * interval '1 day')
            """, [.int8(keepDays)]
        ).rowsChanged
    }
}
