internal import Basics
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

extension FleetRoutes {
    /// The roles that read debug logs.
    static let developers: Set<Role> = [.developer, .operator, .administrator]

    func addVehiclePages(to router: inout Router) {
        router.add("GET", "/vehicles/{vehicle}") { [self] in vehicle($0) }
        router.add("GET", "/vehicles/{vehicle}/readings") { [self] in readings($0) }
        addFieldPage(to: &router)
        addDebugLogs(to: &router)
        router.add("POST", "/vehicles/{vehicle}/download") { [self] request in
            deed(request, .ask, said: "asked") { vehicle, fields, caller, _ throws(MachineActionsView.Fault) in
                try MachineActionsView.download(vehicle, fields, by: caller.account, nowMs: Clock.nowMs())
            }
        }
        router.add("POST", "/vehicles/{vehicle}/service") { [self] request in
            deed(request, .service, said: "service") {
                vehicle, fields, caller, hours throws(MachineActionsView.Fault) in
                try MachineActionsView.service(vehicle, fields, by: caller, newest: hours, nowMs: Clock.nowMs())
            }
        }
    }

    static let noVehicle = Response.problem(
        404, type: "not-found", detail: "There is no such vehicle that you may see.")

    private static let said = [
        "asked": "Asked. What comes of it shows under Downloads asked for, within half a minute.",
        "service": "Recorded. It shows under Services when it is committed: look again in a moment.",
        "assigned":
            "Saved. Who drives it counts from now on, and shows here when it is committed: look again in a moment.",
        "changed": "Saved. It shows here when it is committed: look again in a moment.",
        "added": "Added.", "disabled": "Disabled. It is kept, and neither polled nor listed first.",
        "enabled": "Enabled.",
    ]

    private func about(_ request: Request, _ connection: Connection) throws -> VehicleView.About? {
        let id = request.parameters["vehicle"]!
        guard VehicleID(id) != nil else { return nil }
        let found = try connection.query(queries["vehicle_kinds"], [.text(id)]).map(VehicleView.About.init)
        let kind = request.query["kind"].flatMap { VehicleKind(rawValue: $0) }
        return found.first { $0.kind == kind } ?? found.first
    }

    private func vehicle(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.viewers) { caller, connection in
            guard let about = try about(request, connection) else { return try waiting(request, caller, connection) }
            let days = request.query["days"].flatMap { Int($0) }.flatMap { VehicleView.spans.contains($0) ? $0 : nil }
            let nowMs = Clock.nowMs()
            let (vehicle, isCar) = (about.vehicle, about.kind == .car)
            let story: VehicleView.Story =
                isCar
                ? .car(try VehicleView.car(vehicle, rules: rules, price: price, queries, on: connection))
                : .machine(
                    try VehicleView.machine(
                        vehicle, days: days ?? 7, nowMs: nowMs, caller, queries, on: connection))
            var page = VehicleView(
                about: about, caller: caller, days: days ?? 7,
                alerts: try VehicleView.alerts(about, caller, queries, on: connection), story: story)
            if isCar {
                // Without the files the codes stand alone.
                page.meanings = try? codes.meanings(make: about.make)
            }
            if caller.seesAsDealer, about.kind == .machine {
                page.seenSinceMs = try DealerStore.list(on: connection).first {
                    $0.vehicle == about.vehicle && $0.dealer == caller.account && $0.endedMs == nil && !$0.sharesPast
                }?.confirmedMs
            }
            let below: HTML =
                about.kind == .machine
                ? MachineActionsView(
                    vehicle: about.vehicle, caller: caller, nowMs: nowMs,
                    engineHours: try engineHours(about, caller, connection),
                    asked: try MachineActionsView.Asked.read(about.vehicle, queries, on: connection)
                ).html
                : try VehicleID(about.vehicle).map { id in
                    VehicleRoutes.assignment(id, try VehicleRoutes.assignable(id, caller, connection), caller)
                } ?? ""
            let top = notice(request) + links(about, mayChange: try mayChange(about, caller, connection), caller)
            return shell(caller).page(
                about.name ?? about.vehicle, at: "/vehicles", scripts: ["live.js", "alerts.js"],
                main: page.html(top: top, below: below))
        }
    }

    /// A former driver, or an analyst, would be led to a page that refuses them.
    private func mayChange(_ about: VehicleView.About, _ caller: PageCaller, _ connection: Connection) throws -> Bool {
        try !caller.roles.isDisjoint(with: VehicleRoutes.changers)
            && VehicleRegistrationStore.mayTag(about.vehicle, kind: about.kind, on: connection)
    }

    private func engineHours(
        _ about: VehicleView.About, _ caller: PageCaller, _ connection: Connection
    ) throws -> String? {
        guard let id = VehicleID(about.vehicle),
            let view = try MachineDetail(id, role: caller.audience, queries, on: connection),
            let value = try view.latest(queries, on: connection).first(where: { $0.name == "Engine Hours" }),
            case .number(let hours) = value.value
        else { return nil }
        return Decimal.scaled(hours, decimals: 1).map { Decimal.text($0, decimals: 1) }
    }

    /// Just added, and not yet read by a worker.
    private func waiting(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        guard let vehicle = VehicleID(request.parameters["vehicle"]!), request.query["said"] == "added",
            !caller.roles.isDisjoint(with: VehicleRoutes.adders),
            try VehicleRegistrationStore.registered(
                vehicle, isCar: VehicleKind(named: request.query["kind"]) == .car, on: connection) != nil
        else { return FleetRoutes.noVehicle }
        return shell(caller).page(
            vehicle.text, at: "/vehicles", scripts: ["live.js", "waiting.js"],
            main: FormView.main(
                vehicle.text, nil,
                "<p id=\"waiting\" role=\"status\" class=\"soon\">It was added and is on its way: no worker has read it yet. <a href=\"\">Look again</a>.</p>"
            ))
    }

    private func notice(_ request: Request) -> HTML {
        guard let text = request.query["said"].flatMap({ FleetRoutes.said[$0] }) else { return "" }
        return "<p role=\"status\" class=\"soon\">\(text)</p>\n"
    }

    private func links(_ about: VehicleView.About, mayChange: Bool, _ caller: PageCaller) -> HTML {
        let address = "/vehicles/\(URLText.escaped(about.vehicle))"
        var links: [HTML] = []
        if mayChange {
            links.append("<a href=\"\(address)/edit?kind=\(about.kind.rawValue)\">Change it</a>")
        }
        if about.kind == .machine {
            links.append("<a href=\"\(address)/readings\">All readings</a>")
            links.append("<a href=\"/field/\(encoded: about.vehicle)\">Field view</a>")
            if !caller.roles.isDisjoint(with: ThresholdRoutes.editors) {
                links.append("<a href=\"/thresholds/machines/\(encoded: about.vehicle)\">Thresholds</a>")
            }
            if !caller.roles.isDisjoint(with: FleetRoutes.developers) {
                links.append("<a href=\"\(address)/logs\">Debug logs</a>")
            }
        }
        let picture = about.model.flatMap { model in models.listed().first { $0.name == model }?.picture }
        let shown: HTML? = picture.map {
            "<img class=\"model\" src=\"\($0)\" alt=\"Picture of the model \(about.model ?? "")\">"
        }
        return "\(shown)<p>\(links.joined(separator: ", "))</p>"
    }

    private typealias Say =
        @Sendable (VehicleID, FormFields, PageCaller, ServiceHours?) throws(MachineActionsView.Fault) -> Action

    /// Puts an action on a visible machine on the log.
    private func deed(
        _ request: Request, _ deed: WriteAccess.Operation, said: String, _ say: @escaping Say
    ) -> Response {
        access.saying(request, for: FleetRoutes.keepers, to: uploads) { caller, fields, connection in
            let id = request.parameters["vehicle"]!
            let found = try connection.query(queries["vehicle_kinds"], [.text(id)]).map(VehicleView.About.init)
            guard let vehicle = VehicleID(id), found.contains(where: { $0.kind == .machine }) else {
                return .answer(FleetRoutes.noVehicle)
            }
            let (action, upload): (Action, Upload)
            do {
                let hours = try MachineDetail.engineHours(vehicle, queries, on: connection)
                action = try say(vehicle, fields, caller, hours)
                upload = try Upload(ofMachine: action)
            } catch let fault as MachineActionsView.Fault {
                return .answer(.problem(422, type: "form", detail: fault.text))
            } catch {
                return .answer(.problem(422, type: "form", detail: "\(error)"))
            }
            // A service may have been done long ago.
            if let refusal = try WriteRefusal.ofPage(
                deed, isCar: false, vehicle, at: action.aboutMs, on: connection)
            {
                return .answer(refusal)
            }
            return .say(upload, then: VehicleRoutes.seen(vehicle, isCar: false, said: said))
        }
    }

    // MARK: All readings

    private static let readingsMax: Int64 = 50

    private func readings(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.viewers) { caller, connection in
            guard let id = VehicleID(request.parameters["vehicle"]!),
                let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
            else { return FleetRoutes.noVehicle }
            let beforeMs = request.query["before"].flatMap { Int64($0) }.flatMap {
                UTC.plausible.contains($0) ? $0 : nil
            }
            let page = ReadingsView(
                vehicle: id,
                history: try view.table(
                    before: beforeMs ?? UTC.plausible.upperBound, limit: FleetRoutes.readingsMax, queries,
                    on: connection),
                isFirst: beforeMs == nil, caller: caller)
            return shell(caller).page("readings of \(id)", at: "/vehicles", main: page.html)
        }
    }
}
