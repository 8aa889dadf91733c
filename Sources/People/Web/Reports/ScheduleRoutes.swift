internal import Basics
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
internal import Telemetry

/// Reports at times of their own: one's schedules, their runs and files.
package struct ScheduleRoutes: Sendable {
    private static let runsShown = 10
    private let access: AccessControl
    private let assets: AssetFiles
    private let queries: ReportQueries
    private let leastMinutes: Int

    /// - Parameter leastMinutes: between two times of a schedule; whoever runs Drover may make others by `drover schedule`.
    package init(access: AccessControl, assets: AssetFiles, queries: ReportQueries, leastMinutes: Int) {
        self.access = access
        self.assets = assets
        self.queries = queries
        self.leastMinutes = leastMinutes
    }

    package func add(to router: inout Router) {
        router.add("GET", "/reports/schedules") { request in
            access.page(request, for: ReportRoutes.readers) { caller, connection in
                let said = request.query["said"].flatMap(ScheduleRoutes.said)
                return try page(caller, said.map { .done($0) }, connection)
            }
        }
        router.add("GET", "/reports/schedules/{schedule}/{due}") { request in
            access.page(request, for: ReportRoutes.readers) { _, connection in try file(request, connection) }
        }
        router.add("POST", "/reports/schedules/add") { request in access.form(request, for: ReportRoutes.readers, add) }
        router.add("POST", "/reports/schedules/on") { request in
            deed(request, "on") { id, _, connection in
                try AccountScheduleStore.switched(id, on: true, on: connection)
            }
        }
        router.add("POST", "/reports/schedules/off") { request in
            deed(request, "off") { id, _, connection in
                try AccountScheduleStore.switched(id, on: false, on: connection)
            }
        }
        router.add("POST", "/reports/schedules/end") { request in
            deed(request, "end") { id, _, connection in
                try AccountScheduleStore.end(id, on: connection)
            }
        }
        router.add("POST", "/reports/schedules/change") { request in
            access.form(request, for: ReportRoutes.readers, change)
        }
        router.add("POST", "/reports/schedules/run") { request in
            deed(request, "run") { id, _, connection in
                try AccountScheduleStore.ask(id, on: connection)
            }
        }
        router.add("POST", "/reports/schedules/mail") { request in
            deed(request, "mail") { id, fields, connection in
                guard let dueS = fields["due"].flatMap({ Int64($0) }), let dueMs = ScheduleRoutes.ms(dueS) else {
                    return false
                }
                return try AccountScheduleStore.mailRevised(id, dueMs: dueMs, on: connection)
            }
        }
    }

    /// What a schedule's buttons did.
    private enum Deed: String {
        case on, off, end, change, run, mail
    }

    /// A page that is loaded again asks for nothing twice.
    private static func said(_ done: String) -> String? {
        switch Deed(rawValue: done) {
        case .on: t("Switched on. What fell due meanwhile is not caught up.")
        case .off: t("Switched off.")
        case .end: t("Schedule and its runs deleted.")
        case .change: t("New times saved.")
        case .run: t("Running now. Reload this page in a moment.")
        case .mail: t("Revised report mailed.")
        case nil: nil
        }
    }

    private static func ms(_ seconds: Int64) -> Int64? {
        let (ms, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000)
        return !isTooMuch && UTC.plausible.contains(ms) ? ms : nil
    }

    /// The action of a schedule's button.
    private func deed(
        _ request: Request, _ done: String, _ body: (Int64, FormFields, Connection) throws -> Bool
    ) -> Response {
        access.form(request, for: ReportRoutes.readers) { caller, fields, connection in
            guard let id = fields["schedule"].flatMap({ Int64($0) }), try body(id, fields, connection) else {
                return try notDone(caller, connection)
            }
            return .seeOther("/reports/schedules?said=" + done)
        }
    }

    private func notDone(_ caller: PageCaller, _ connection: Connection) throws -> Response {
        try page(
            caller, .fault(t("Not done: the schedule is not yours, or somebody was faster.")), connection, status: 409)
    }

    private func add(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let new: NewSchedule
        do {
            new = try wanted(caller, fields)
        } catch let fault as NewSchedule.Fault {
            return try page(caller, .fault(fault.description), connection, status: 422, given: fields)
        }
        guard try AccountScheduleStore.add(new.fields, isMailed: fields["mail"] == "1", on: connection) else {
            return try page(caller, .fault(t("You have 50 schedules. Delete one first.")), connection, status: 429)
        }
        return try page(caller, .done(t("Scheduled.")), connection)
    }

    private func change(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let (times, zone): (String, String)
        do {
            times = try cron(fields)
            zone = caller.clock.zone
            try NewSchedule.check(times, zone: zone, leastMinutes: leastMinutes, nowMs: Clock.nowMs())
        } catch let fault as NewSchedule.Fault {
            return try page(caller, .fault(fault.description), connection, status: 422)
        }
        guard let id = fields["schedule"].flatMap({ Int64($0) }),
            try AccountScheduleStore.changed(id, cron: times, zone: zone, on: connection)
        else { return try notDone(caller, connection) }
        return .seeOther("/reports/schedules?said=change")
    }

    private func wanted(_ caller: PageCaller, _ fields: FormFields) throws -> NewSchedule {
        guard let report = Report.named(fields["report"] ?? ""), !report.roles.isDisjoint(with: caller.roles),
            let length = ReportSpan.Length(rawValue: fields["span"] ?? ""),
            let format = ReportFormat(rawValue: fields["format"] ?? "")
        else { throw NewSchedule.Fault(t("There is no such report, span or format.")) }
        return try NewSchedule(
            report: report, length: length, of: fields.name("of") ?? "", fleet: fields.name("fleet") ?? "",
            format: format,
            units: caller.units, cron: try cron(fields), zone: caller.clock.zone, leastMinutes: leastMinutes,
            nowMs: Clock.nowMs())
    }

    private func cron(_ fields: FormFields) throws -> String {
        let own = (fields["cron"] ?? "").trimmed
        guard own.isEmpty else { return own }
        let clock = (fields["at"] ?? "").split(separator: ":").map { Int($0) }
        guard clock.count >= 2, let hour = clock[0], let minute = clock[1], (0...23).contains(hour),
            (0...59).contains(minute),
            let days = ScheduleView.days.first(where: { $0.value == fields["days"] })?.cron
        else { throw NewSchedule.Fault(t("Choose the days and a time like 06:00.")) }
        return "\(minute) \(hour) \(days)"
    }

    private func file(_ request: Request, _ connection: Connection) throws -> Response {
        guard let schedule = Int64(request.parameters["schedule"]!),
            let dueMs = Int64(request.parameters["due"]!).flatMap(ScheduleRoutes.ms),
            let file = try AccountScheduleStore.file(schedule, dueMs: dueMs, on: connection)
        else { return .problem(404, type: "not-found", detail: "There is no such report, or it is not yours.") }
        if file.mediaType == ReportFormat.html.mediaType { return .page(ofKeptReport: file.content) }
        return Response(
            200,
            headers: [
                ("Content-Type", file.mediaType), ("Content-Disposition", "attachment; filename=\"\(file.name)\""),
            ], body: file.content)
    }

    private func page(
        _ caller: PageCaller, _ notice: FormView.Notice?, _ connection: Connection, status: Int = 200,
        given: FormFields? = nil
    ) throws -> Response {
        let fleets = try ReportChoices.fleets(queries, on: connection)
        let schedules = try AccountScheduleStore.schedules(on: connection)
        let narrowed = Set(schedules.map(\.of)).subtracting([""])
        var vehicles: [String: String] = [:]
        if !narrowed.isEmpty {
            for row in try connection.query(queries["vehicle_names"], [.textArray(narrowed.sorted())]) {
                vehicles[try row.text("vehicle")!] = try row.text("name")!
            }
        }
        let page = ScheduleView(
            caller: try caller.knowing(schedules.flatMap { $0.mailTo + [$0.account] }, queries, on: connection),
            reports: Report.all.filter { !$0.roles.isDisjoint(with: caller.roles) }, fleets: fleets,
            schedules: schedules, runs: try AccountScheduleStore.runs(most: ScheduleRoutes.runsShown, on: connection),
            vehicles: vehicles, given: given)
        var response = PageShell(caller: caller, assets: assets).page(
            t("Scheduled reports"), at: "/reports", heading: ScheduleView.heading, scripts: ["names.js"],
            main: FormView.said(notice, page.html))
        response.status = status
        return response
    }
}

extension String {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
