package import Postgres

/// Schedules and their runs as an account sees them: `drover.report_schedules`, `drover.report_runs`.
/// Precondition of all: the connection has the account's sight.
package enum AccountScheduleStore {
    package struct Schedule: Sendable {
        package let id: Int
        package let shipped, account, trouble: String?
        package let report, span, of, fleet, format, cron, zone: String
        package let mailTo: [String]
        package let isFiled, isEnabled: Bool
        package let nextMs, leftOutMs: Int64?
    }

    package struct Run: Sendable {
        package enum State: String, Sendable { case waiting, done, failed }

        package let schedule: Int
        package let dueMs: Int64
        package let state: State
        package let first, last, reason, change: String?
        package let tries, mails, revision: Int
        package let tryMs: Int64
        package let madeMs: Int64?
        package let rows, bytes: Int?
        package let isKept: Bool
    }

    package struct File: Sendable {
        package let name, mediaType: String
        package let content: [UInt8]
    }

    package static func schedules(on connection: Connection) throws -> [Schedule] {
        try connection.query("SELECT * FROM drover.report_schedules()").map { row in
            Schedule(
                id: try row.int("schedule_id")!, shipped: try row.text("shipped"), account: try row.text("account"),
                trouble: try row.text("trouble"), report: try row.text("report")!, span: try row.text("span")!,
                of: try row.text("narrowed_to")!, fleet: try row.text("fleet")!, format: try row.text("format")!,
                cron: try row.text("cron")!, zone: try row.text("zone")!,
                mailTo: try (row.textArray("mail_to") ?? []).compactMap(\.self), isFiled: try row.bool("is_filed")!,
                isEnabled: try row.bool("is_enabled")!, nextMs: try row.timestampMs("next_due_at"),
                leftOutMs: try row.timestampMs("left_out_at"))
        }
    }

    /// The last of each schedule, the newest first.
    package static func runs(most: Int, on connection: Connection) throws -> [Run] {
        try connection.query("SELECT * FROM drover.report_runs($1)", [.int4(Int32(clamping: most))]).map { row in
            Run(
                schedule: try row.int("schedule_id")!, dueMs: try row.timestampMs("due_at")!,
                state: try row.word("state")!,
                first: try row.text("first_date"), last: try row.text("last_date"), reason: try row.text("reason"),
                change: try row.text("change"), tries: try row.int("tries")!, mails: try row.int("mails")!,
                revision: try row.int("revision")!, tryMs: try row.timestampMs("try_at")!,
                madeMs: try row.timestampMs("made_at"), rows: try row.int("rows"), bytes: try row.int("bytes"),
                isKept: try row.bool("is_kept")!)
        }
    }

    package static func file(_ schedule: Int64, dueMs: Int64, on connection: Connection) throws -> File? {
        try connection.query(
            "SELECT * FROM drover.report_file($1, $2)", [.int8(schedule), .timestampMs(dueMs)]
        ).first.map { row in
            File(
                name: try row.text("name")!, mediaType: try row.text("media_type")!, content: try row.bytes("content")!)
        }
    }

    /// False: the account has as many as it may.
    package static func add(_ new: ScheduleFields, isMailed: Bool, on connection: Connection) throws -> Bool {
        try connection.query(
            "SELECT drover.add_report_schedule($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            new.parameters + [.bool(isMailed)])[0].int(0) != nil
    }

    // Each false: there is none that the account holds, or it cannot be done now.

    package static func switched(_ schedule: Int64, on isOn: Bool, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.switch_report_schedule($1, $2)", [.int8(schedule), .bool(isOn)])[0].bool(0)
            ?? false
    }

    /// When it comes, from now on.
    package static func changed(_ schedule: Int64, cron: String, zone: String, on connection: Connection) throws -> Bool
    {
        try connection.query(
            "SELECT drover.change_report_schedule($1, $2, $3)", [.int8(schedule), .text(cron), .text(zone)])[0].bool(0)
            ?? false
    }

    package static func end(_ schedule: Int64, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.end_report_schedule($1)", [.int8(schedule)])[0].bool(0) ?? false
    }

    package static func ask(_ schedule: Int64, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.ask_report_run($1)", [.int8(schedule)])[0].bool(0) ?? false
    }

    package static func mailRevised(_ schedule: Int64, dueMs: Int64, on connection: Connection) throws -> Bool {
        try connection.query(
            "SELECT drover.mail_revised_report($1, $2)", [.int8(schedule), .timestampMs(dueMs)])[0].bool(0) ?? false
    }
}
