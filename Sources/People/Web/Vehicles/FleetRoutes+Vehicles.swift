internal import Alerts
internal import Basics
internal import Fleet
internal import Formats
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

    /// The roles that have fleets to move a vehicle between.
    private static let movers = VehicleForm.keepersOfMachines

    func addVehiclePages(to router: inout Router) {
        router.add("GET", "/vehicles/{vehicle}") { [self] in vehicle($0) }
        router.add("GET", "/vehicles/{vehicle}/readings") { [self] in readings($0) }
        addFieldPage(to: &router)
        addSeries(to: &router)
        addDebugLogs(to: &router)
        router.add("POST", "/vehicles/{vehicle}/download") { [self] request in
            deed(request, .ask, said: "asked") { vehicle, fields, caller, _ throws(MachineActionsView.Fault) in
                try MachineActionsView.download(
                    .readings, vehicle, fields, by: caller.account, nowMs: Clock.nowMs())
            }
        }
        router.add("GET", "/vehicles/{vehicle}/asked") { [self] in asked($0) }
        router.add("POST", "/vehicles/{vehicle}/service") { [self] request in
            deed(request, .service, said: "service") {
                vehicle, fields, caller, hours throws(MachineActionsView.Fault) in
                try MachineActionsView.service(vehicle, fields, by: caller, newest: hours, nowMs: Clock.nowMs())
            }
        }
    }

    static let noVehicle = Response.problem(
        404, type: "not-found", detail: "There is no such vehicle that you may see.")

    private static var said: [String: String] {
        [
            "asked": t("Download asked for. What comes of it shows here within half a minute."),
            "service":
                t("Service recorded. It shows here in a moment. To correct it, record it again: the latest counts."),
            "assigned": t("Driver saved: it counts from now on."), "changed": t("Saved. It shows here in a moment."),
            VehicleRoutes.added: t("Added."), "enabled": t("Enabled."),
            "disabled": t("Disabled: it is kept, but neither polled nor listed first."),
            "acknowledged": t("Acknowledged. It shows here in a moment."), "marked": t("Saved. Only you see it."),
        ]
    }

    func about(_ request: Request, _ connection: Connection) throws -> VehicleView.About? {
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
            let tab = VehicleView.Tab(rawValue: request.query["tab"] ?? "") ?? .live
            let nowMs = Clock.nowMs()
            let when = ShownTime(request, caller, nowMs: nowMs, standard: .last(.week))
            let isAsked = when.fault == nil && request.queryItems.contains { TimeRange.names.contains($0.name) }
            let back: VehicleView.Back = isAsked ? .span(when.spanMs) : .days(days ?? 7)
            let isThere = VehicleView.tabs(of: about.kind).contains { $0.0 == tab }
            let shown = isThere ? tab : .live
            let story: VehicleView.Story =
                about.kind == .car
                ? try VehicleView.car(
                    about, shown, back, nowMs: nowMs, rules: rules, price: price, caller, queries, on: connection)
                : try VehicleView.machine(about, shown, back, nowMs: nowMs, caller, queries, on: connection)
            let alerts = try VehicleView.alerts(about, caller, queries, on: connection)
            let caller = try caller.knowing(
                [about.owner] + alerts.map(\.acknowledgedBy) + story.services.map(\.by) + story.trips.map(\.driver),
                queries, on: connection)
            var page = VehicleView(
                about: about, caller: caller, nowMs: nowMs, tab: shown, back: back, alerts: alerts, story: story,
                mayAcknowledge: try mayAcknowledge(alerts.first, caller, nowMs: nowMs, connection))
            if about.kind == .car {
                // Without the files the codes stand alone.
                page.meanings = try? codes.meanings(make: about.make)
            } else if caller.seesAsDealer {
                page.seenSinceMs = try DealerStore.list(on: connection).first {
                    $0.vehicle == about.vehicle && $0.dealer == caller.account && $0.endedMs == nil && !$0.sharesPast
                }?.confirmedMs
            }
            page.parts = try parts(request, page, connection)
            page.parts.picker = when.picker
            if let fault = when.fault { page.parts.notice += HTML.fault(fault) }
            let (hasCharts, hasMap) = (story.series != nil, shown == .live && story.series?.places.isEmpty == false)
            return shell(caller).page(
                about.name ?? about.vehicle, at: "/vehicles", heading: page.heading,
                styles: (hasCharts ? ChartView.styles : []) + (hasMap ? BaseMap.styles : []),
                scripts: ["live.js", AlertForms.script]
                    + (about.kind == .machine ? ["vehicles/connect.js", "vehicles/photo.js"] : [])
                    + (hasMap ? BaseMap.scripts : []) + ["vehicles/vehicle.js"]
                    + (hasCharts ? ChartView.scripts : []), main: page.html)
        }
    }

    /// Asked only where there is something to take on.
    private func mayAcknowledge(
        _ worst: OpenAlert?, _ caller: PageCaller, nowMs: Int64, _ connection: Connection
    ) throws -> Bool {
        guard let worst, worst.acknowledgedBy == nil, AlertAccess.mayAct(caller, on: worst.alert.kind),
            let story = try AlertDetail.read(worst.id, audiences: caller.audience.seen, queries, on: connection)
        else { return false }
        return try AlertAccess.mayAct(story, caller, at: nowMs, on: connection)
    }

    /// What the vehicle's keepers do with it.
    private func parts(
        _ request: Request, _ page: VehicleView, _ connection: Connection
    ) throws -> VehicleView.Parts {
        let (about, caller) = (page.about, page.caller)
        var parts = VehicleView.Parts()
        parts.notice = notice(request)
        parts.base = base.attributes
        let mayChange = try mayChange(about, caller, connection)
        var actions: MachineActionsView?
        if about.kind == .machine {
            let hours = page.story.engineHours.flatMap { Decimal.scaled($0, decimals: 1) }
            let asked = try MachineActionsView.Asked.read(about.vehicle, queries, on: connection)
            let made = MachineActionsView(
                vehicle: about.vehicle, caller: try caller.knowing(asked.map(\.by), queries, on: connection),
                nowMs: page.nowMs, engineHours: hours.map { Decimal.text($0, decimals: 1) }, asked: asked)
            if page.tab == .live { parts.notice += made.newest }
            if !about.isDisabled { parts.connect = made.connect }
            parts.services = page.services(made)
            actions = made
        }
        parts.menu = menu(page, actions?.debugLogs() ?? "", mayChange: mayChange)
        parts.unmonitored = wayOut(page, mayChange: mayChange)
        if page.tab == .details {
            let assignment: HTML =
                about.kind == .machine
                ? ""
                : try VehicleID(about.vehicle).map { id in
                    VehicleRoutes.assignment(id, try VehicleRoutes.assignable(id, caller, connection), caller)
                } ?? ""
            let picture = about.model.flatMap { model in models.listed().first { $0.name == model }?.picture }
            parts.details = page.details(
                picture: picture, downloads: actions?.downloads ?? "", assignment: assignment,
                fleets: mayChange ? try moving(page, connection) : "", own: try own(page, connection),
                photo: about.kind == .car
                    ? nil
                    : MachinePhotoView(
                        about: about, caller: caller,
                        known: try MachinePhotoStore.known(about.vehicle, on: connection)))
        }
        return parts
    }

    /// The fleets it is in, changed in place; where there is no other to move it to, who can make one.
    private func moving(_ page: VehicleView, _ connection: Connection) throws -> HTML {
        let (isCar, isAdministrator) = (page.about.kind == .car, page.caller.roles.contains(.administrator))
        guard let vehicle = VehicleID(page.about.vehicle), !page.caller.roles.isDisjoint(with: FleetRoutes.movers),
            let known = try VehicleRegistrationStore.registered(vehicle, isCar: isCar, on: connection)
        else { return "" }
        let fleets = try VehicleRegistrationStore.fleets(holding: vehicle.text, isCar: isCar, on: connection)
        let form = VehicleForm(
            isCar: isCar, vehicle: vehicle.text, basedOn: known.recordID, known: known.registration, fleets: fleets,
            models: [], caller: page.caller)
        let choice: HTML =
            fleets.count > 1
            ? """
            <p class="soft small">Who is in a fleet sees its vehicles. To move this one, choose another fleet.</p>
            \(form.moving(id: AlertAction.newID(), action: "\(page.address)/edit"))
            """
            : isAdministrator
                ? "<p class=\"soft\">There is no other fleet to move it to yet: make one under All fleets.</p>"
                : "<p class=\"soft\">You have no other fleet to move it to. An administrator can make one, or move it to somebody else’s.</p>"
        let all: HTML? = isAdministrator ? "<a class=\"more\" href=\"/administration#fleets\">All fleets</a>" : nil
        return """
            <section class="card" id="fleets"><header><h2>Fleets</h2>\(all)</header><div class="body">\(choice)</div></section>
            """
    }

    /// A dealer's class and tags, changed in place.
    private func own(_ page: VehicleView, _ connection: Connection) throws -> HTML {
        guard page.about.kind == .machine, page.caller.roles.contains(.dealer),
            try DealerMarkStore.mayMark(page.about.vehicle, on: connection)
        else { return "" }
        var form = DealerMarkForm(
            caller: page.caller, words: try DealerWords(queries, on: connection), vehicles: [page.about.vehicle],
            next: "\(page.address)?kind=machine&tab=details")
        form.typed = DealerMarkForm.known(page.about)
        return form.card
    }

    /// A former driver, or an analyst, would be led to a page that refuses them.
    private func mayChange(_ about: VehicleView.About, _ caller: PageCaller, _ connection: Connection) throws -> Bool {
        try !caller.roles.isDisjoint(with: VehicleRoutes.adders)
            && VehicleRegistrationStore.mayChange(about.vehicle, kind: about.kind, on: connection)
    }

    /// Just added, and not yet read by a worker.
    private func waiting(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        guard let vehicle = VehicleID(request.parameters["vehicle"]!), request.query["said"] == VehicleRoutes.added,
            !caller.roles.isDisjoint(with: VehicleRoutes.adders),
            try VehicleRegistrationStore.registered(
                vehicle, isCar: VehicleKind(named: request.query["kind"]) == .car, on: connection) != nil
        else { return FleetRoutes.noVehicle }
        return shell(caller).page(
            vehicle.text, at: "/vehicles", heading: PageHeading(vehicle.text, crumb: (t("Vehicles"), "/vehicles")),
            scripts: ["live.js", "waiting.js"],
            main:
                "<p id=\"waiting\" role=\"status\" class=\"strip info\">It was added and will be here in a moment. <a href=\"\">Look again</a>.</p>"
        )
    }

    private func notice(_ request: Request) -> HTML {
        guard let text = request.query["said"].flatMap({ FleetRoutes.said[$0] }) else { return "" }
        return HTML.notice(.done(text))
    }

    /// All that can be done or looked at beside the tabs.
    private func menu(_ page: VehicleView, _ debugLogs: HTML, mayChange: Bool) -> HTML {
        let (address, vehicle, roles) = (page.address, page.about.vehicle, page.caller.roles)
        func entry(_ path: HTML, _ icon: IconName, _ words: String) -> HTML {
            "<a href=\"\(path)\">\(HTML.icon(icon))\(words)</a>"
        }
        var entries: [HTML] = []
        if page.about.kind == .machine {
            if !roles.isDisjoint(with: FleetRoutes.keepers) {
                entries.append(entry("\(page.link(.services))#record", .wrench, t("Record a service")))
            }
            entries.append(entry("\(address)/readings", .table, t("All readings")))
            entries.append(entry("/field/\(encoded: vehicle)", .phone, t("Field view")))
            if !roles.isDisjoint(with: ThresholdRoutes.editors) {
                entries.append(entry("/thresholds/machines/\(encoded: vehicle)", .rule, t("Rules of this machine")))
            }
            if !roles.isDisjoint(with: FleetRoutes.developers) {
                entries.append(entry("\(address)/logs", .code, t("Debug logs")))
                entries.append(debugLogs)
            }
        } else {
            entries.append(entry("/cars/\(encoded: vehicle)/scan", .engine, t("Health scan")))
            entries.append(entry("/trips/compare?vehicle=\(encoded: vehicle)", .compare, t("Compare its drives")))
        }
        if mayChange {
            entries.append("<hr>" + entry("\(address)/edit?kind=\(page.about.kind.rawValue)", .edit, t("Edit details")))
            if !roles.isDisjoint(with: FleetRoutes.movers) {
                entries.append(entry("\(page.link(.details))#fleets", .truck, t("Move to another fleet")))
            }
        }
        return entries.joined()
    }

    /// For a vehicle that nothing judges: what the reader can do about it.
    private func wayOut(_ page: VehicleView, mayChange: Bool) -> HTML {
        let vehicle = page.about.vehicle
        let mayRule = !page.caller.roles.isDisjoint(with: ThresholdRoutes.editors)
        let way: (HTML, String)? =
            switch page.about.notMonitored {
            case .nobody? where !page.caller.roles.isDisjoint(with: VehicleRoutes.assigners):
                ("\(page.link(.details))#driver", t("Assign a driver"))
            case .noModel? where mayChange:
                ("\(page.address)/edit?kind=\(page.about.kind.rawValue)", t("Set the model"))
            case .noRules? where mayRule: ("/thresholds/machines/\(encoded: vehicle)", t("Add a rule"))
            case .nobody?, .noModel?, .noRules?, .alertsOff?, nil: nil
            }
        return way.map { "<a class=\"btn primary\" href=\"\($0.0)\">\($0.1)</a>" } ?? ""
    }

    /// What came of a download that somebody asked for, for the page that waits: a worker may not have taken it yet.
    private func asked(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.viewers) { caller, connection in
            guard let vehicle = VehicleID(request.parameters["vehicle"]!), let id = request.query["request"],
                VehicleID.isValid(id.utf8)
            else { return FleetRoutes.noVehicle }
            let known = try MachineActionsView.Asked.read(vehicle.text, queries, on: connection).first { $0.id == id }
            let (state, words) = known?.outcome(nowMs: Clock.nowMs()) ?? (.waiting, t("Connecting…"))
            return .json(
                JSONValue.object([("state", .text(state.rawValue)), ("words", .text(words))]).rendered()
            ).with("Cache-Control", "no-store")
        }
    }

    typealias Say =
        @Sendable (VehicleID, FormFields, PageCaller, ServiceHours?) throws(MachineActionsView.Fault) -> Action

    /// Puts an action on a visible machine on the log.
    func deed(
        _ request: Request, _ deed: WriteAccess.Operation, for roles: Set<Role> = FleetRoutes.keepers, said: String,
        _ say: @escaping Say
    ) -> Response {
        access.saying(request, for: roles, to: uploads) { caller, fields, connection in
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
            // Back to the page of ours that the form stood on.
            let next = AccountRoutes.next(fields["next"])
            let tab: VehicleView.Tab = deed == .service ? .services : .live
            return .say(
                upload,
                then: next.isEmpty ? VehicleRoutes.seen(vehicle, isCar: false, said: said, tab) : .seeOther(next))
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
            let history = try view.table(
                before: beforeMs ?? UTC.plausible.upperBound, limit: FleetRoutes.readingsMax, queries, on: connection)
            let page = ReadingsView(request, id, history, beforeMs: beforeMs, caller)
            guard !page.choice.isLoose else { return .seeOther(page.path) }
            guard request.query["format"] != "csv" else {
                return Response.text(page.csvText, type: "text/csv; charset=utf-8")
                    .with("Content-Disposition", "attachment; filename=\"\(id)-readings.csv\"")
            }
            return shell(caller).page(
                t("readings of \(id.text)"), at: "/vehicles", heading: page.heading, main: page.html)
        }
    }
}
