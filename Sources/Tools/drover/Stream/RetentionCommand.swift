import App
import Fleet
import Postgres
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let retention = Command(
        name: "retention", operands: "[options]",
        summary: "Deletes raw rows that are older than the settings say; what they add up to stays. Run it once a day.",
        options: [
            .init("--dry-run", nil, "only say what would go"),
            .init("--format", "F", "table (default) or json"),
        ] + SettingsSource.options,
        example: "drover retention --dry-run --set retention.vehicle_minute_days=400",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let isDryRun = arguments.has("--dry-run")
            let render = try arguments.one(
                "--format",
                of: ["table": { $0.table.text() }, "json": { $0.json }]
                    as [String: @Sendable (QueryOutput) -> String], standard: "table")
            Signals.install()
            let connection = try Connection(conninfo: settings.ownerConninfo)
            var rows: [[FieldValue]] = []
            func add(_ outcome: Retention.Outcome, _ days: Int64) {
                rows.append([
                    .text(outcome.table), days == 0 ? .null : .integer(Int(days)),
                    outcome.beforeMs.map { .timestampMs($0) } ?? .null, .integer(outcome.rows),
                    .integer(Int(outcome.bytes)), outcome.oldestKeptMs.map { .timestampMs($0) } ?? .null,
                    .text(outcome.why),
                ])
            }
            for kept in Retention.all {
                let days = settings.integer(kept.setting)
                let outcome = try Retention.run(
                    kept, days: days == 0 ? nil : days, isDryRun: isDryRun, nowMs: Clock.nowMs(), on: connection,
                    shouldStop: { StopFlag.isSet })
                add(outcome, days)
            }
            let auditDays = settings.integer(AuditRetention.setting)
            try AuditLog.sign(Terminal.login, on: connection)
            add(
                try AuditRetention.run(
                    days: auditDays == 0 ? nil : auditDays, isDryRun: isDryRun, nowMs: Clock.nowMs(), on: connection),
                auditDays)
            let gone = isDryRun ? "would_go" : "gone"
            let columns = ["table", "kept_days", "before", "rows_\(gone)", "bytes_\(gone)", "oldest_kept", "note"]
            Out.result(render(QueryOutput(columns: columns, rows: rows)))
            return .done
        })
}
