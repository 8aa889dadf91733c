internal import Fleet
internal import Postgres
internal import Storage
internal import Telemetry

/// Makes reports as their accounts see them: on a connection that has an account's sight for one transaction, as pages have it.
final class ReportMaker {
    /// A report that takes longer would keep all others waiting.
    private static let timeoutMs = 600_000

    private let settings: ReportSchedulerSettings
    private var page: Connection?

    init(_ settings: ReportSchedulerSettings) { self.settings = settings }

    func make(
        _ schedule: ReportSchedule, dueMs: Int64, roles: [String]
    ) throws -> (ReportRunStore.Made, any ReportOutput) {
        let report = schedule.report
        guard !report.roles.isDisjoint(with: Set(roles.compactMap(Role.init))) else {
            throw ReportScheduler.Hopeless(description: "its account has none of the roles that this report is for")
        }
        guard let ask = schedule.ask(dueMs: dueMs) else {
            throw ReportScheduler.Hopeless(description: "there are no such days in \(schedule.zone)")
        }
        let startMs = Clock.steadyMs()
        let output = try read(report, ask, as: schedule.account)
        let made = ReportRunStore.Made(
            first: ask.span.first, last: ask.span.last, rows: output.count,
            name: ReportFile.name(report, ask, schedule.format),
            mediaType: schedule.format.mediaType, bytes: try output.file(schedule.format),
            facts: ReportSnapshot(output).bytes,
            tookMs: Clock.steadyMs() - startMs)
        return (made, output)
    }

    private func read(_ report: Report, _ ask: ReportParameters, as account: String) throws -> any ReportOutput {
        let connection = try opened()
        return try connection.transaction(Connection.beginSnapshot) {
            try connection.execute("SET LOCAL statement_timeout = \(ReportMaker.timeoutMs)")
            try RowSecurity.apply(account, on: connection)
            return try report.run(ask, source(connection))
        }
    }

    private func opened() throws -> Connection {
        if let page, page.isOpen { return page }
        let made = try Connection.ofService(
            conninfo: settings.pageConninfo, applicationName: "drover-reports",
            statementS: ReportMaker.timeoutMs / 1_000)
        page = made
        return made
    }

    private func source(_ connection: Connection) -> Report.Source {
        Report.Source(rules: settings.rules, price: settings.price, queries: settings.queries, connection: connection)
    }
}
