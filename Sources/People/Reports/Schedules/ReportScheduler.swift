internal import Basics
internal import Fleet
internal import Postgres
internal import Storage
package import Telemetry
internal import Threads
package import Trips

package struct ReportSchedulerSettings {
    /// Connections for the run table, and for rows as accounts see them.
    package var conninfo, pageConninfo: String
    package var rules: TripRules
    package var price: FuelPrice?
    package var queries: ReportQueries
    /// The address of the page, for mails; empty: none is shown.
    package var address: String
    /// The folder of schedules that write files; empty: there is none.
    package var folder: String
    /// Late data has so long after the end of a span.
    package var graceS: Int64
    /// The interval, and the number of days, of looking for late changes to a report.
    package var lookS, lookDays: Int64
    package var keepDays: Int64

    package init(
        conninfo: String, pageConninfo: String, rules: TripRules, price: FuelPrice?, queries: ReportQueries,
        address: String, folder: String, graceS: Int64, lookS: Int64, lookDays: Int64, keepDays: Int64
    ) {
        self.conninfo = conninfo
        self.pageConninfo = pageConninfo
        self.rules = rules
        self.price = price
        self.queries = queries
        self.address = address
        self.folder = folder
        self.graceS = graceS
        self.lookS = lookS
        self.lookDays = lookDays
        self.keepDays = keepDays
    }
}

/// Makes reports when they fall due: each due time once in the run table and in the mail, whoever is killed when. Any number of schedulers
/// may run. Runs missed while none was active are caught up, at most `backMax` per schedule.
package final class ReportScheduler {
    package static let backMax = 100
    private static let backOffMs: ClosedRange<Int64> = 1_000...60_000
    private static let pollMs: Int64 = 1_000
    private static let pruneMs: Int64 = 3_600_000
    /// A report that fails is tried again after 10 s, 20 s, 40 s … up to an hour; given up after about ten hours.
    private static let (waitS, waitMaxS, triesMax): (Int64, Int64, Int) = (10, 3_600, 20)

    private let settings: ReportSchedulerSettings
    private let log: Log
    private let metrics: ReportMetrics
    private let retry: RetryLoop
    private var nextPruneMs: Int64 = 0

    package init(_ settings: ReportSchedulerSettings, metrics: Metrics, log: Log) {
        self.settings = settings
        self.log = log
        self.metrics = ReportMetrics(metrics)
        retry = RetryLoop(
            ReportScheduler.backOffMs, cannot: "schedules of reports cannot be followed; what falls due is caught up",
            again: "schedules of reports are followed again", log: log)
    }

    /// Returns when `shouldStop` says so; a report that is under way then is finished first.
    package func run(shouldStop: () -> Bool) {
        retry.run(shouldStop: shouldStop, kind: { _ in "database" }) {
            let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-reports")
            while !shouldStop() {
                if try !step(connection) { BackOff.pause(ReportScheduler.pollMs, shouldStop) }
                retry.isWell()
            }
        }
    }

    /// False: there is nothing to do.
    private func step(_ connection: Connection) throws -> Bool {
        if Clock.steadyMs() >= nextPruneMs {
            _ = try ReportRunStore.prune(keepDays: settings.keepDays, on: connection)
            nextPruneMs = Clock.steadyMs() + ReportScheduler.pruneMs
        }
        return try connection.transaction {
            // New plans first; old reports are checked when there is time.
            if try plan(connection) { return true }
            if try mailAgain(connection) { return true }
            if try makeNext(connection) { return true }
            return try lookAgain(connection)
        }
    }

    // MARK: What falls due

    private func plan(_ connection: Connection) throws -> Bool {
        guard let plan = try ReportRunStore.nextPlan(on: connection) else { return false }
        do {
            let schedule = try ReportSchedule(plan.schedule)
            let times = try CronTimes(plan.cron)
            guard let nextMs = times.next(afterMs: plan.nowMs, zone: schedule.zone) else {
                throw ReportSchedule.Fault(description: "`\(plan.cron)` in \(schedule.zone) never falls due")
            }
            let due = times.last(ReportScheduler.backMax, after: plan.plannedMs, until: plan.nowMs, zone: schedule.zone)
            if let before = due.before {
                metrics.leftOut.add()
                log.warning(
                    "a schedule of reports was behind by more than is caught up; what fell due before is left out",
                    [
                        "schedule": "\(plan.schedule.id)", "left_out_until": "\(UTC.text(before))",
                        "caught_up": "\(due.times.count)",
                    ])
            }
            let dues = due.times.map { dueMs in
                let closedMs = schedule.ask(dueMs: dueMs)?.span.toMs ?? dueMs
                return (dueMs: dueMs, tryMs: max(dueMs, closedMs + settings.graceS * 1_000))
            }
            try ReportRunStore.planned(plan, dues: dues, nextMs: nextMs, leftOutMs: due.before, on: connection)
        } catch let error as PostgresError {
            throw error
        } catch {
            log.error(
                "a schedule of reports cannot be followed", ["schedule": "\(plan.schedule.id)", "error": "\(error)"])
            try ReportRunStore.troubled(plan.schedule.id, "\(error)", on: connection)
        }
        return true
    }

    // MARK: Making

    private func makeNext(_ connection: Connection) throws -> Bool {
        guard let run = try ReportRunStore.nextWaiting(on: connection) else { return false }
        let schedule: ReportSchedule
        let (made, output): (ReportRunStore.Made, any ReportOutput)
        do {
            schedule = try ReportSchedule(run.schedule)
            guard let roles = try ReportRunStore.roles(of: schedule.account, on: connection) else {
                throw Hopeless(description: "its account is disabled")
            }
            (made, output) = try maker.make(schedule, dueMs: run.dueMs, roles: roles)
        } catch {
            try failed(run, error, connection)
            return true
        }
        // Before it is in a file: the transaction takes mail back, and no file.
        try ReportAudit.ran(schedule, made, isRevised: false, on: connection)
        do { if schedule.isFiled { try file(schedule, made) } } catch {
            try failed(run, error, connection)
            return true
        }
        let reportMail = ReportMail(
            title: output.title, text: output.text(), name: made.name, mediaType: made.mediaType, bytes: made.bytes,
            isHTML: schedule.format == .html, address: settings.address)
        let recipients = try ReportRunStore.recipients(run, on: connection)
        for recipient in recipients {
            try MailStore.add(reportMail.mail(to: recipient, nowMs: Clock.nowMs()), on: connection)
        }
        try ReportAudit.mailed(schedule, to: recipients, isRevised: false, on: connection)
        let missing = schedule.mailTo.count - recipients.count
        try ReportRunStore.done(
            run, made, mails: recipients.count, change: nil,
            reason: missing > 0 ? "\(missing) of its recipients have no confirmed mail address" : nil,
            lookS: nextLook(run), on: connection)
        metrics.made.add()
        return true
    }

    /// There is no use in trying again.
    struct Hopeless: Error, CustomStringConvertible { let description: String }

    private func failed(_ run: ReportRunStore.Run, _ error: any Error, _ connection: Connection) throws {
        let isForGood = error is Hopeless || error is Report.Fault || error is ReportSchedule.Fault
        let isOver = isForGood || run.tries + 1 >= ReportScheduler.triesMax
        let waitS = min(ReportScheduler.waitS << Int64(min(run.tries, 20)), ReportScheduler.waitMaxS)
        try ReportRunStore.failed(run, "\(error)", waitS: isOver ? nil : waitS, on: connection)
        metrics.failed.add()
        log.warning(
            isOver ? "a report was given up" : "a report could not be made; it is tried again",
            [
                "schedule": "\(run.scheduleID)", "due": "\(UTC.text(run.dueMs))", "error": "\(error)",
                "tries": "\(run.tries + 1)",
            ])
    }

    private func file(_ schedule: ReportSchedule, _ made: ReportRunStore.Made) throws {
        guard !settings.folder.isEmpty else {
            throw Hopeless(description: "reports.folder is not set: it cannot be written there")
        }
        // Two similar schedules each have their own file: they may see different rows.
        try ReportFile.write(made.bytes, named: "\(schedule.id)-\(made.name)", to: settings.folder + "/")
    }

    // MARK: Late data

    private func nextLook(_ run: ReportRunStore.Run) -> Int64? {
        Clock.nowMs() - run.dueMs > settings.lookDays * UTC.msPerDay ? nil : settings.lookS
    }

    private func lookAgain(_ connection: Connection) throws -> Bool {
        guard let run = try ReportRunStore.nextToLookAt(on: connection) else { return false }
        do {
            let schedule = try ReportSchedule(run.schedule)
            guard let roles = try ReportRunStore.roles(of: schedule.account, on: connection) else {
                throw Hopeless(description: "its account is disabled")
            }
            let (made, _) = try maker.make(schedule, dueMs: run.dueMs, roles: roles)
            guard try !ReportRunStore.sameDigest(made.bytes, run.digest, on: connection) else {
                try ReportRunStore.looked(run, lookS: nextLook(run), on: connection)
                return true
            }
            let change = run.facts.flatMap { ReportSnapshot($0) }.flatMap { old in
                ReportSnapshot(made.facts).flatMap { old.change(to: $0) }
            }
            try ReportAudit.ran(schedule, made, isRevised: true, on: connection)
            if schedule.isFiled { try file(schedule, made) }
            try ReportRunStore.done(
                run, made, mails: 0, change: change ?? "its rows are the same; what is told beside them has changed",
                reason: nil, lookS: nextLook(run), on: connection)
            metrics.revised.add()
        } catch let error as PostgresError where error.isConnectionLost {
            throw error
        } catch {
            log.warning(
                "a report could not be looked at again", ["schedule": "\(run.scheduleID)", "error": "\(error)"])
            try ReportRunStore.looked(run, lookS: nextLook(run), on: connection)
        }
        return true
    }

    /// A revised one, because somebody asks for it.
    private func mailAgain(_ connection: Connection) throws -> Bool {
        guard let run = try ReportRunStore.nextToMail(on: connection) else { return false }
        var mails = 0
        if let schedule = try? ReportSchedule(run.schedule), let ask = schedule.ask(dueMs: run.dueMs),
            let kept = try ReportRunStore.kept(run, on: connection)
        {
            let title = "Revised: \(schedule.report.title) \(ask.span.text)"
            let reportMail = ReportMail(
                title: title, text: "\(title)\n\nLate data has changed it: \(kept.change)", name: kept.name,
                mediaType: kept.mediaType, bytes: kept.content, isHTML: schedule.format == .html,
                address: settings.address)
            for recipient in try ReportRunStore.recipients(run, on: connection) {
                try MailStore.add(reportMail.mail(to: recipient, nowMs: Clock.nowMs()), on: connection)
                mails += 1
            }
        }
        try ReportRunStore.mailed(run, mails, on: connection)
        return true
    }

    private lazy var maker = ReportMaker(settings)
}

/// The scheduler's figures, by the names that Prometheus reads.
private struct ReportMetrics {
    let made, failed, revised, leftOut: Counter

    init(_ metrics: Metrics) {
        made = metrics.counter(
            "drover_reports_made_total", "Reports that were made because they fell due or were asked for.")
        failed = metrics.counter("drover_reports_failed_total", "Times a report could not be made.")
        revised = metrics.counter("drover_reports_revised_total", "Reports that late data has changed.")
        leftOut = metrics.counter(
            "drover_reports_left_out_total", "Times a schedule was behind by more than is caught up.")
    }
}
