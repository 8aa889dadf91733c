package import Alerts
package import Postgres

/// A schedule as it is wanted, in the words of the table.
package struct ScheduleFields: Sendable {
    let report, span, of, fleet, format: String
    let units: DriverSettings.Units
    let cron, zone: String

    /// - Parameters:
    ///   - of: an id that the report is narrowed to; empty: none. The same of `fleet`.
    package init(
        report: String, span: String, of: String, fleet: String, format: String, units: DriverSettings.Units,
        cron: String,
        zone: String
    ) {
        self.report = report
        self.span = span
        self.of = of
        self.fleet = fleet
        self.format = format
        self.units = units
        self.cron = cron
        self.zone = zone
    }

    var parameters: [Parameter] {
        [
            .text(report), .text(span), .text(of), .text(fleet), .text(format), .text(units.rawValue), .text(cron),
            .text(zone),
        ]
    }
}

/// Schedules as the operator keeps them, of whichever account.
package enum OperatorScheduleStore {
    /// - Parameter sinceMs: what fell due from then on is caught up; nil: from now on.
    package static func add(
        _ new: ScheduleFields, account: String, mailTo: [String], isFiled: Bool, sinceMs: Int64?,
        on connection: Connection
    ) throws -> Int {
        try connection.query(
            """
            INSERT INTO drover.report_schedule
                (account, report, span, narrowed_to, fleet, format, units, cron, zone, mail_to, is_filed, planned_until)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now())) RETURNING schedule_id
            """,
            [.text(account)] + new.parameters + [
                .textArray(mailTo), .bool(isFiled), sinceMs.map { .timestampMs($0) } ?? .null,
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

    /// For people to read: the columns speak for themselves.
    package static func list(on connection: Connection) throws -> Rows {
        try connection.query(
            """
            SELECT s.schedule_id, s.account, s.report, s.span, nullif(s.narrowed_to, '') AS narrowed_to, nullif(s.fleet, '') AS fleet,
                s.format, s.cron, s.zone, s.mail_to, s.is_filed, s.is_enabled, s.next_due_at, s.left_out_at, s.trouble
            FROM drover.report_schedule s ORDER BY s.schedule_id LIMIT 1000
            """)
    }

    package static func runs(of schedule: Int64, on connection: Connection) throws -> Rows {
        try connection.query(
            """
            SELECT due_at, is_asked, state, first_date, last_date, tries, made_at, rows, name, bytes, encode(digest, 'hex') AS sha256,
                mails, revision, change, reason
            FROM drover.report_run WHERE schedule_id = $1 ORDER BY due_at DESC LIMIT 400
            """, [.int8(schedule)])
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

    /// Switches a schedule on or off. Runs that fell due while it was off are not caught up.
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
