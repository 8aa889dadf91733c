package import Alerts
package import Postgres

/// A schedule as its row has it: what its words mean is decided elsewhere.
package struct StoredSchedule: Sendable {
    package let id: Int64
    /// With whose rights; nil: it belongs to nobody.
    package let account: String?
    package let report, span, of, fleet, format: String
    package let units: DriverSettings.Units
    package let zone: String
    /// Accounts.
    package let mailTo: [String]
    package let isFiled: Bool

    fileprivate init(_ row: Row) throws {
        id = Int64(try row.int("schedule_id")!)
        account = try row.text("account")
        report = try row.text("report")!
        span = try row.text("span")!
        of = try row.text("narrowed_to")!
        fleet = try row.text("fleet")!
        format = try row.text("format")!
        units = try row.word("units")!
        zone = try row.text("zone")!
        mailTo = try (row.textArray("mail_to") ?? []).compactMap(\.self)
        isFiled = try row.bool("is_filed")!
    }
}

/// The tables of schedules and runs: `drover.report_schedule`, `drover.report_run`. Rows that are under way are held by the
/// transaction that reads them: of several processes each takes another one.
package enum ReportRunStore {
    /// A run that is waiting, to be looked at again, or to be mailed.
    package struct Run: Sendable {
        package let schedule: StoredSchedule
        package let dueMs: Int64
        package let tries, revision: Int
        let isAsked: Bool
        package let digest, facts: [UInt8]?

        package var scheduleID: Int64 { schedule.id }

        fileprivate init(_ row: Row) throws {
            schedule = try StoredSchedule(row)
            dueMs = try row.timestampMs("due_at")!
            tries = try row.int("tries")!
            revision = try row.int("revision")!
            isAsked = try row.bool("is_asked")!
            digest = try row.bytes("digest")
            facts = try row.bytes("facts")
        }
    }

    /// A schedule that something may have fallen due of.
    package struct Plan: Sendable {
        package let schedule: StoredSchedule
        package let cron: String
        package let plannedMs, nowMs: Int64
    }

    private static let schedule =
        "s.schedule_id, s.account, s.report, s.span, s.narrowed_to, s.fleet, s.format, s.units, s.zone, s.mail_to, s.is_filed"

    // MARK: Planning

    package static func nextPlan(on connection: Connection) throws -> Plan? {
        try connection.query(
            """
            SELECT \(schedule), s.cron, s.planned_until, now() AS now FROM drover.report_schedule s
            WHERE s.is_enabled AND s.trouble IS NULL AND (s.next_due_at IS NULL OR s.next_due_at <= now())
            ORDER BY s.next_due_at NULLS FIRST, s.schedule_id LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map { row in
            Plan(
                schedule: try StoredSchedule(row), cron: try row.text("cron")!,
                plannedMs: try row.timestampMs("planned_until")!, nowMs: try row.timestampMs("now")!)
        }
    }

    /// - Parameter dues: with the time before which each is not to be tried.
    package static func planned(
        _ plan: Plan, dues: [(dueMs: Int64, tryMs: Int64)], nextMs: Int64, leftOutMs: Int64?, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO drover.report_run (schedule_id, due_at, try_at)
            SELECT $1, due_at, try_at FROM unnest($2::timestamptz[], $3::timestamptz[]) AS due (due_at, try_at)
            ON CONFLICT DO NOTHING
            """,
            [.int8(plan.schedule.id), .timestampArray(dues.map(\.dueMs)), .timestampArray(dues.map(\.tryMs))])
        try connection.query(
            """
            UPDATE drover.report_schedule SET planned_until = $2, next_due_at = $3, left_out_at = coalesce($4, left_out_at)
            WHERE schedule_id = $1
            """,
            [
                .int8(plan.schedule.id), .timestampMs(plan.nowMs), .timestampMs(nextMs),
                leftOutMs.map { .timestampMs($0) } ?? .null,
            ])
    }

    package static func troubled(_ id: Int64, _ trouble: String, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_schedule SET trouble = left($2, 500), next_due_at = NULL WHERE schedule_id = $1",
            [.int8(id), .text(trouble)])
    }

    // MARK: Runs

    package static func nextWaiting(on connection: Connection) throws -> Run? {
        try next(
            "r.state = 'waiting' AND r.try_at <= now() AND (s.is_enabled OR r.is_asked)", by: "r.try_at", connection)
    }

    package static func nextToLookAt(on connection: Connection) throws -> Run? {
        try next("r.state = 'done' AND r.look_at <= now()", by: "r.look_at", connection)
    }

    package static func nextToMail(on connection: Connection) throws -> Run? {
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
    package static func roles(of account: String, on connection: Connection) throws -> [String]? {
        try connection.query(
            "SELECT roles FROM drover.account WHERE account = $1 AND disabled_at IS NULL", [.text(account)]
        ).first.map { try ($0.textArray("roles") ?? []).compactMap(\.self) }
    }

    /// The record that is kept of a report that was made.
    package struct Made: Sendable {
        /// The report's first and last day, as 2026-11-22.
        package let first, last: String
        let rows: Int
        package let name, mediaType: String
        package let bytes, facts: [UInt8]
        let tookMs: Int64

        package init(
            first: String, last: String, rows: Int, name: String, mediaType: String, bytes: [UInt8], facts: [UInt8],
            tookMs: Int64
        ) {
            self.first = first
            self.last = last
            self.rows = rows
            self.name = name
            self.mediaType = mediaType
            self.bytes = bytes
            self.facts = facts
            self.tookMs = tookMs
        }
    }

    /// - Parameters:
    ///   - change: what late data has changed; nil: it was made for the first time.
    ///   - lookS: when to look again; nil: not again.
    package static func done(
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
                .int8(run.scheduleID), .timestampMs(run.dueMs), .text(made.first), .text(made.last),
                .int4(Int32(clamping: made.tookMs)), .int4(Int32(clamping: made.rows)), .text(made.name),
                .text(made.mediaType),
                .int4(Int32(clamping: made.bytes.count)), .bytes(made.bytes), kept ? .bytes(made.bytes) : .null,
                kept ? .bytes(made.facts) : .null, .int4(Int32(clamping: mails)), .text(change), .text(reason),
                lookS.map { .int8($0) } ?? .null,
            ])
    }

    /// - Parameter waitS: nil: it is given up.
    package static func failed(_ run: Run, _ reason: String, waitS: Int64?, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.report_run SET tries = tries + 1, reason = left($3, 500), state = CASE WHEN $4::bigint IS NULL THEN 'failed' ELSE state END,
                try_at = now() + coalesce($4, 0) * interval '1 s'
            WHERE schedule_id = $1 AND due_at = $2
            """,
            [.int8(run.scheduleID), .timestampMs(run.dueMs), .text(reason), waitS.map { .int8($0) } ?? .null])
    }

    package static func looked(_ run: Run, lookS: Int64?, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_run SET look_at = now() + $3::bigint * interval '1 s' WHERE schedule_id = $1 AND due_at = $2",
            [.int8(run.scheduleID), .timestampMs(run.dueMs), lookS.map { .int8($0) } ?? .null])
    }

    package static func sameDigest(_ bytes: [UInt8], _ digest: [UInt8]?, on connection: Connection) throws -> Bool {
        guard let digest else { return false }
        return try connection.query("SELECT sha256($1) = $2", [.bytes(bytes), .bytes(digest)])[0].bool(0)!
    }

    // MARK: Mail

    package struct Recipient: Sendable {
        package let account, mail: String
        /// The id of the mail that brings this revision, and of those before.
        package let mailID: String
        package let before: [String]
    }

    /// Accounts that can be reached by mail; a mail's id is the run's, the account's and the revision's.
    package static func recipients(_ run: Run, on connection: Connection) throws -> [Recipient] {
        try connection.query(
            """
            SELECT account, mail, format('report-%s-%s-%s', $2::bigint, $3::bigint, left(encode(sha256(convert_to(account, 'UTF8')), 'hex'), 16)) AS id
            FROM drover.account
            WHERE account = ANY ($1::text[]) AND disabled_at IS NULL AND confirmed_at IS NOT NULL AND mail IS NOT NULL
            ORDER BY account
            """, [.textArray(run.schedule.mailTo), .int8(run.scheduleID), .int8(run.dueMs / 1_000)]
        ).map { row in
            let id = try row.text("id")!
            func named(_ revision: Int) -> String { revision == 0 ? id : "\(id)-r\(revision)" }
            return Recipient(
                account: try row.text("account")!, mail: try row.text("mail")!, mailID: named(run.revision),
                before: run.revision == 0 ? [] : [id])
        }
    }

    package struct Kept: Sendable {
        package let name, mediaType, change: String
        package let content: [UInt8]
        let madeMs: Int64
    }

    package static func kept(_ run: Run, on connection: Connection) throws -> Kept? {
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

    package static func mailed(_ run: Run, _ mails: Int, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.report_run SET wants_mail = false, mails = mails + $3 WHERE schedule_id = $1 AND due_at = $2",
            [.int8(run.scheduleID), .timestampMs(run.dueMs), .int4(Int32(clamping: mails))])
    }

    // MARK: Bounds

    /// Deletes runs that are old, and those beyond the number that anybody asks for of one schedule. Returns how many.
    package static func prune(keepDays: Int64, on connection: Connection) throws -> Int {
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
