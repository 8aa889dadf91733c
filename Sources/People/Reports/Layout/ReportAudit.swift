internal import Postgres
internal import Storage

/// The audit entries of scheduled runs: which report was made with whose rights, and who received it.
enum ReportAudit {
    /// Before anything of it leaves the transaction.
    /// - Parameter isRevised: late data has changed it.
    static func ran(
        _ schedule: ReportSchedule, _ made: ReportRunStore.Made, isRevised: Bool, on connection: Connection
    ) throws {
        let detail: AuditLog.Detail =
            about(schedule) + [("from", made.first), ("until", made.last)]
            + (schedule.fleet.isEmpty ? [] : [("fleet", schedule.fleet)])
            + (schedule.isFiled ? [("filed", "1")] : []) + (isRevised ? [("revised", "1")] : [])
        try AuditLog.record(
            .reportRun, by: schedule.account, about: schedule.of.isEmpty ? nil : schedule.of, detail, on: connection)
    }

    /// One for each, so that it is theirs and goes with their name.
    static func mailed(
        _ schedule: ReportSchedule, to recipients: [ReportRunStore.Recipient], isRevised: Bool,
        on connection: Connection
    ) throws {
        for recipient in recipients {
            try AuditLog.record(
                .reportMailed, by: schedule.account, about: recipient.account,
                about(schedule) + (isRevised ? [("revised", "1")] : []), on: connection)
        }
    }

    private static func about(_ schedule: ReportSchedule) -> AuditLog.Detail {
        [("schedule", String(schedule.id)), ("report", schedule.report.name)]
    }
}
