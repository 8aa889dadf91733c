internal import Alerts
internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Telemetry
package import Trips

/// The page of reports, and the reports as files: those of `drover report`, of the same bytes.
package final class ReportRoutes: Sendable {
    static let readers = Report.all.reduce(into: Set<Role>()) { $0.formUnion($1.roles) }

    private let access: AccessControl
    private let assets: AssetFiles
    private let queries: ReportQueries
    private let rules: TripRules
    private let price: FuelPrice?

    package init(access: AccessControl, assets: AssetFiles, queries: ReportQueries, rules: TripRules, price: FuelPrice?)
    {
        self.access = access
        self.assets = assets
        self.queries = queries
        self.rules = rules
        self.price = price
    }

    package func add(to router: inout Router) {
        router.add("GET", "/reports") { [self] in page($0) }
        router.add("GET", "/reports/{report}") { [self] in file($0) }
    }

    // MARK: The page

    private func page(_ request: Request) -> Response {
        access.page(request, for: ReportRoutes.readers) { caller, connection in
            let fleets = try ReportChoices.fleets(queries, on: connection)
            let asked = request.query["report"].map { ReportRequest.read(request, report: $0, caller) }
            var found: ReportView.Found?
            switch asked {
            case nil: break
            case .failure(let fault): found = .fault(t(fault.text))
            case .success(let wanted):
                do {
                    found = .output(try run(wanted, connection))
                } catch let fault as Report.Fault {
                    found = .fault(fault.description)
                }
            }
            let page = ReportView(
                reports: Report.all.filter { !$0.roles.isDisjoint(with: caller.roles) }, fleets: fleets, caller: caller,
                request: request, asked: asked, found: found, nowMs: Clock.nowMs())
            var response = PageShell(caller: caller, assets: assets).page(
                t("Reports"), at: "/reports", heading: page.heading, scripts: ["names.js"], main: page.html)
            if case .fault = found { response.status = 400 }
            return response
        }
    }

    // MARK: Files

    private func file(_ request: Request) -> Response {
        access.page(request, for: ReportRoutes.readers) { caller, connection in
            let wanted: ReportRequest
            switch ReportRequest.read(request, report: request.parameters["report"]!, caller) {
            case .failure(let fault): return .problem(fault.status, type: fault.type, detail: fault.text.inEnglish)
            case .success(let asked): wanted = asked
            }
            guard let format = ReportFormat(rawValue: request.query["format"] ?? "html") else {
                let names = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
                return .problem(400, type: "format", detail: "format must be one of \(names)")
            }
            let output: any ReportOutput
            do {
                output = try run(wanted, connection)
            } catch let fault as Report.Fault {
                return .problem(
                    fault.isMissing ? 404 : 422, type: fault.isMissing ? "not-found" : "too-many-rows",
                    detail: "\(fault).")
            }
            guard format != .html else { return .page(output.html()) }
            let body = try output.file(format)
            let name = ReportFile.name(wanted.report, wanted.ask, format)
            return Response(
                200,
                headers: [
                    ("Content-Type", format.mediaType), ("Content-Disposition", "attachment; filename=\"\(name)\""),
                ], body: body)
        }
    }

    /// The door's connection has the caller's sight; there is no other one here.
    private func run(_ wanted: ReportRequest, _ connection: Connection) throws -> any ReportOutput {
        let source = Report.Source(rules: rules, price: price, queries: queries, connection: connection)
        try wanted.report.requireThere(wanted.ask, source)
        return try wanted.report.run(wanted.ask, source)
    }
}

/// The report and its parameters in an address.
struct ReportRequest {
    let report: Report
    let ask: ReportParameters

    struct Fault: Error {
        var status = 400
        let type: String
        /// On the page in the reader's language, in a problem in English.
        let text: Phrase
    }

    /// Days and units are the account's where the address says nothing else.
    static func read(_ request: Request, report name: String, _ caller: PageCaller) -> Result<ReportRequest, Fault> {
        guard let report = Report.named(name) else {
            return .failure(
                Fault(status: 404, type: "not-found", text: "There is no such report. /reports lists them."))
        }
        guard !report.roles.isDisjoint(with: caller.roles) else {
            return .failure(
                Fault(status: 403, type: "role-missing", text: "This report is for: \(Role.titles(report.roles))."))
        }
        func given(_ name: String) -> String? { request.query[name].flatMap { $0.isEmpty ? nil : $0 } }
        let zone = given("zone") ?? caller.clock.zone
        let date = given("date") ?? ZonedDay.date(ofMs: Clock.nowMs(), zone: zone)
        let span: ReportSpan?
        switch given("span") ?? "day" {
        case "range": span = ReportSpan(from: date, until: given("until") ?? date, zone: zone)
        case let length: span = ReportSpan.Length(rawValue: length).flatMap { ReportSpan($0, of: date, zone: zone) }
        }
        guard let span else {
            return .failure(
                Fault(
                    type: "day",
                    text:
                        "The days must be like 2026-11-21, the last not before the first, at most \(ReportSpan.daysMax) of them; a zone is a name such as Europe/Berlin."
                ))
        }
        var ask = ReportParameters(span: span)
        guard let units = given("units").map({ DriverSettings.Units(rawValue: $0) }) ?? caller.units else {
            return .failure(Fault(type: "units", text: "units must be metric or us"))
        }
        ask.units = units
        if let of = given("of") {
            guard Report.isID(of, report.of) else {
                return .failure(Fault(type: report.of.rawValue, text: "This is no \(report.of.rawValue)'s id."))
            }
            ask.of = of
        }
        if let fleet = given("fleet"), report.hasFleets {
            guard VehicleID(fleet) != nil else { return .failure(Fault(type: "fleet", text: "This is no fleet's id.")) }
            ask.fleet = fleet
        }
        return .success(ReportRequest(report: report, ask: ask))
    }

    /// The address of the file, in one of the formats.
    func address(_ format: ReportFormat) -> String {
        var items = [("span", "range"), ("date", ask.span.first), ("until", ask.span.last), ("zone", ask.span.zone)]
        items += [("units", ask.units.rawValue), ("of", ask.of), ("fleet", ask.fleet), ("format", format.rawValue)]
        return "/reports/\(report.name)?"
            + items.filter { !$0.1.isEmpty }.map { "\($0.0)=\(URLText.escaped($0.1))" }.joined(separator: "&")
    }
}
