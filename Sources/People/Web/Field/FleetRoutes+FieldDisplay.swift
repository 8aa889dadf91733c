internal import Alerts
internal import Basics
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// One machine in the field: a small document for apps that lay it over a camera's picture, which machine a code is of, and pages for
/// phones.
extension WebRoutes {
    /// Kept for half a minute, and shown for an hour while it is asked for again: in the field there is often no net.
    private static let caching = "private, max-age=30, stale-while-revalidate=3600"

    /// Answers in sight of an account or a token: its audience, its units.
    private typealias Seen = (Audience, DriverSettings.Units, Connection) throws -> Response

    func addFieldView(to router: inout Router) {
        router.add("GET", "/v1/field-view/{vehicle}") { [self] request in
            let response = seen(request) { audience, standard, connection in
                try document(request, audience, units(request, standard), connection)
            }
            guard response.status == 200 else { return response }
            return response.conditional(request, caching: WebRoutes.caching).with("Vary", "Authorization, Cookie")
        }
        router.add("GET", "/v1/field-view") { [self] request in
            seen(request) { _, _, connection in
                guard let code = FieldCode.plain(request.query["code"]) else {
                    return .problem(
                        400, type: "code",
                        detail: "code must be what stands on a machine, at most \(MachineCode.bytesMax) bytes.")
                }
                let found = try MachineCode.find(code, queries, on: connection)
                return .json(JSONValue.object([("machines", .list(found.map(\.json)))]).rendered())
            }
        }
    }

    private func seen(_ request: Request, _ answer: Seen) -> Response {
        request.headers["authorization"] == nil
            ? access.call(request, for: WebRoutes.fleetReaders) { caller, connection in
                try answer(caller.audience, caller.units, connection)
            } : ofProgram(request, answer)
    }

    /// A token that reads machines, or one of an account.
    private func ofProgram(_ request: Request, _ answer: Seen) -> Response {
        authorized(request, anyOf: [.read, .account]) { use in
            do {
                return try reading(use) { connection in
                    try connection.snapshot { try answer(use.role, .metric, connection) }
                }
            } catch {
                return databaseAway(request.path, error)
            }
        }
    }

    /// As the address asks, or those of the reader; nil: there are no such ones.
    private func units(_ request: Request, _ standard: DriverSettings.Units) -> DriverSettings.Units? {
        request.query["units"].map { DriverSettings.Units(rawValue: $0) } ?? standard
    }

    private func document(
        _ request: Request, _ role: Audience, _ units: DriverSettings.Units?, _ connection: Connection
    ) throws -> Response {
        guard let units else {
            return .problem(400, type: "units", detail: "units must be metric or us.")
        }
        guard let id = VehicleID(request.parameters["vehicle"]!),
            let view = try MachineDetail(id, role: role, queries, on: connection)
        else { return .problem(404, type: "not-found", detail: "There is no such machine.") }
        return .json(
            try view.field(queries, on: connection) {
                ShownField.text($0.value, unit: $0.unit, of: $0.parameter, units, UTC.text)
            }.json)
    }
}

extension FleetRoutes {
    private static let fieldScripts = ["live.js", "field/kept.js", "field/camera.js", "field/field.js"]
    /// Machines to choose from where there is no camera, and to keep for where there is no network.
    private static let fieldMachinesMax: Int64 = 50
    private static let fieldServicesMax: Int64 = 3

    func addFieldPage(to router: inout Router) {
        router.add("GET", "/field") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                try fieldEntry(request, caller, connection)
            }
        }
        router.add("GET", "/field/{vehicle}") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                guard let id = VehicleID(request.parameters["vehicle"]!),
                    let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
                else { return .problem(404, type: "not-found", detail: "There is no such machine that you may see.") }
                let field = try view.field(queries, on: connection) { ShownField.text($0, caller) }
                let services = try connection.query(
                    queries["services"], [.text(id.text), .int8(FleetRoutes.fieldServicesMax)]
                ).map(FieldPageView.Service.init)
                let due = view.serviceDue(hours: field.engineHours, servicedAt: services.first?.engineHours)
                let page = FieldPageView(
                    field: field, services: services, due: due, caller: caller, nowMs: Clock.nowMs())
                return shell(caller).page(
                    t("\(field.name ?? field.vehicle) in the field"), at: "/vehicles", heading: page.heading,
                    scripts: FleetRoutes.fieldScripts, main: page.html)
            }
        }
        router.add("GET", "/field-offline") { [self] _ in
            PublicShell(assets: assets).page(
                t("field view"), scripts: FleetRoutes.fieldScripts, link: ("/field", t("Try again")),
                main: FieldEntryView.offline(assets, site: FieldCode.host(of: site)))
        }
        router.add("GET", "/field-worker.js") { [worker = assets.content("field/worker.js")] request in
            // From the root: it answers for /field and what lies beneath.
            Response(
                200,
                headers: [
                    ("Content-Type", "text/javascript; charset=utf-8"),
                    ("Content-Security-Policy", PagePolicy.worker),
                ], body: worker
            ).conditional(request)
        }
    }

    /// Also the way without a camera and without script: what somebody typed leads to its machine.
    private func fieldEntry(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let typed = request.query["code"]
        var found: [MachineCode] = []
        var isForeign = false
        let hosts = [request.headers["host"], FieldCode.host(of: site)].compactMap { $0 }
        switch typed.map({ FieldCode($0, hosts: hosts) }) {
        case nil, .nothing?: break
        case .foreign?: isForeign = true
        case .plain(let code)?: found = try MachineCode.find(code, queries, on: connection)
        }
        if found.count == 1 { return .seeOther("/field/\(URLText.escaped(found[0].vehicle))") }
        let machines = try connection.query(
            queries["vehicles"],
            [
                .text(""), .text(""), .text(VehicleKind.machine.rawValue),
                .textArray(caller.audience.seen.map(\.rawValue)), .bool(false), .text(""),
                .int8(FleetRoutes.fieldMachinesMax),
            ]
        ).map(FieldEntryView.Machine.init)
        let view = FieldEntryView(
            typed: typed, isForeign: isForeign, found: found, machines: machines,
            isMore: Int64(machines.count) == FleetRoutes.fieldMachinesMax, caller: caller, nowMs: Clock.nowMs(),
            assets: assets, site: FieldCode.host(of: site))
        return shell(caller).page(
            t("field view"), at: "/vehicles",
            heading: PageHeading(t("Field view"), crumb: (t("Vehicles"), "/vehicles")),
            scripts: FleetRoutes.fieldScripts, main: view.html)
    }
}
