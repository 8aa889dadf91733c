internal import Alerts
internal import Fleet
package import Postgres

/// A schedule as somebody wants it.
package struct NewSchedule: Sendable {
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    package let report: Report
    package let length: ReportSpan.Length
    package let of, fleet: String
    package let format: ReportFormat
    /// `metric` or `us`.
    package let units: String
    package let cron, zone: String

    /// Nothing that it takes can fail later on for what was asked.
    package init(
        report: Report, length: ReportSpan.Length, of: String, fleet: String, format: ReportFormat, units: String,
        cron: String, zone: String, leastMinutes: Int = 1, nowMs: Int64
    ) throws(Fault) {
        guard of.isEmpty || Report.isID(of, report.of) else {
            throw Fault("This is no \(report.of.rawValue)'s id.")
        }
        guard fleet.isEmpty || (report.hasFleets && VehicleID(fleet) != nil) else {
            throw Fault("This is no fleet's id, or the report has no fleets.")
        }
        try NewSchedule.check(cron, zone: zone, leastMinutes: leastMinutes, nowMs: nowMs)
        (self.report, self.length, self.of, self.fleet) = (report, length, of, fleet)
        (self.format, self.units, self.cron, self.zone) = (format, units, cron, zone)
    }

    /// That something falls due by these times.
    /// - Parameter leastMinutes: from one to the next, up to an hour: a report may take all that a server has.
    package static func check(_ cron: String, zone: String, leastMinutes: Int = 1, nowMs: Int64) throws(Fault) {
        guard ZonedDay(date: "2026-01-01", zone: zone) != nil else {
            throw Fault("A zone is a name such as Europe/Berlin.")
        }
        let times: CronTimes
        do { times = try CronTimes(cron) } catch { throw Fault("\(error).") }
        guard times.next(afterMs: nowMs, zone: zone) != nil else {
            throw Fault("`\(cron)` never falls due.")
        }
        guard times.leastMinutes >= leastMinutes else {
            throw Fault(
                "`\(cron)` comes every \(times.leastMinutes) minutes; here \(leastMinutes) lie between two times at least. "
                    + "Name one minute, like 0 6-18 * * *, or ask who runs Drover (web.schedule_min).")
        }
    }
}

/// Schedules as the operator keeps them, of whichever account.
package enum ScheduleBook {
    /// - Parameter sinceMs: what fell due from then on is caught up; nil: from now on.
    package static func add(
        _ new: NewSchedule, account: String, mailTo: [String], isFiled: Bool, sinceMs: Int64?, on connection: Connection
    ) throws -> Int {
        try connection.query(
            """
            INSERT INTO drover.report_schedule
                (account, report, span, narrowed_to, fleet, format, units, cron, zone, mail_to, is_filed, planned_until)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now())) RETURNING schedule_id
            """,
            [
                .text(account), .text(new.report.name), .text(new.length.rawValue), .text(new.of), .text(new.fleet),
                .text(new.format.rawValue), .text(new.units), .text(new.cron), .text(new.zone), .textArray(mailTo),
                .bool(isFiled), sinceMs.map { .timestampMs($0) } ?? .null,
            ])[0].int(0)!
    }

    /// Those of them that nobody can log in with.
    package static func unknown(_ accounts: [String], on connection: Connection) throws -> [String] {
        try connection.query(
            """
            SELECT asked.account FROM unnest($1::text[]) AS asked(account)
            WHERE NOT EXISTS (SELECT FROM drover.account a WHERE a.account = asked.account AND a.disabled_at IS NULL)
            """, [.textArray(accounts)]
        ).map { try $0.text(0)! }
    }

    package static func list(on connection: Connection) throws -> QueryOutput {
        try QueryOutput(
            connection.query(
                """
                SELECT s.schedule_id, s.account, s.report, s.span, nullif(s.narrowed_to, '') AS narrowed_to, nullif(s.fleet, '') AS fleet,
                    s.format, s.cron, s.zone, s.mail_to, s.is_filed, s.is_enabled, s.next_due_at, s.left_out_at, s.trouble
                FROM drover.report_schedule s ORDER BY s.schedule_id LIMIT 1000
                """))
    }

    package static func runs(of schedule: Int64, on connection: Connection) throws -> QueryOutput {
        try QueryOutput(
            connection.query(
                """
                SELECT due_at, is_asked, state, first_date, last_date, tries, made_at, rows, name, bytes, encode(digest, 'hex') AS sha256,
                    mails, revision, change, reason
                FROM drover.report_run WHERE schedule_id = $1 ORDER BY due_at DESC LIMIT 400
                """, [.int8(schedule)]))
    }

    /// False: there is no such schedule, or it belongs to nobody.
    package static func ask(_ schedule: Int64, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            INSERT INTO drover.report_run (schedule_id, due_at, is_asked)
            SELECT schedule_id, date_trunc('minute', now()), true FROM drover.report_schedule
            WHERE schedule_id = $1 AND account IS NOT NULL ON CONFLICT DO NOTHING
            """, [.int8(schedule)]
        ).rowsChanged == 1
    }

    /// What fell due while it was off is not caught up.
    package static func switched(_ schedule: Int64, on isOn: Bool, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            UPDATE drover.report_schedule SET is_enabled = $2, next_due_at = NULL, trouble = NULL,
                planned_until = CASE WHEN $2 AND NOT is_enabled THEN now() ELSE planned_until END
            WHERE schedule_id = $1 AND account IS NOT NULL
            """, [.int8(schedule), .bool(isOn)]
        ).rowsChanged == 1
    }

    /// From now on; what fell due before and stands in no ledger yet falls due by the new times.
    /// - Parameter zone: nil: as it was.
    package static func changed(
        _ schedule: Int64, cron: String, zone: String?, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            """
            UPDATE drover.report_schedule SET cron = $2, zone = coalesce($3, zone), next_due_at = NULL, trouble = NULL,
                planned_until = CASE WHEN next_due_at > now() THEN now() ELSE planned_until END
            WHERE schedule_id = $1 AND account IS NOT NULL
            """, [.int8(schedule), .text(cron), zone.map { .text($0) } ?? .null]
        ).rowsChanged == 1
    }

    package static func remove(_ schedule: Int64, on connection: Connection) throws -> Bool {
        try connection.query(
            "DELETE FROM drover.report_schedule WHERE schedule_id = $1 AND shipped IS NULL", [.int8(schedule)]
        ).rowsChanged == 1
    }
}
