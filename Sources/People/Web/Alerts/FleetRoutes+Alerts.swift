internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

extension FleetRoutes {
    func addAlertPages(to router: inout Router) {
        router.add("GET", "/alerts") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                let alerts = try OpenAlert.read(
                    role: caller.audience, limit: AlertListView.rowsMax, queries, on: connection)
                let page = AlertListView(
                    alerts: alerts, unmonitored: try UnmonitoredVehicle.read(queries, on: connection), caller: caller,
                    nowMs: Clock.nowMs())
                return shell(caller).page(
                    "open alerts", at: "/alerts", scripts: ["live.js", "alerts.js"], main: page.html)
            }
        }
        router.add("GET", "/alerts/{alert}") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                guard let story = try story(request, caller, connection) else { return FleetRoutes.noAlert }
                return try page(story, request.query["said"].flatMap(AlertView.Waiting.init), caller, connection)
            }
        }
        router.add("POST", "/alerts/{alert}/acknowledge") { [self] request in
            form(request, .acknowledgement, AlertAction.acknowledgement)
        }
        router.add("POST", "/alerts/{alert}/silence") { [self] request in
            form(request, .silence, AlertAction.silence)
        }
    }

    private typealias Say = @Sendable (AlertDetail, FormFields, String, Int64) throws(AlertAction.Fault) -> Action

    private static let noAlert = Response.problem(
        404, type: "not-found", detail: "There is no such alert that you may see.")

    private func story(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> AlertDetail? {
        try AlertDetail.read(
            request.parameters["alert"]!, audiences: caller.audience.seen, queries, on: connection)
    }

    private func page(
        _ story: AlertDetail, _ waiting: AlertView.Waiting?, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let nowMs = Clock.nowMs()
        let mayAct = story.alert.kind == .machine && !caller.roles.isDisjoint(with: FleetRoutes.keepers)
        let page = AlertView(
            story: story, caller: caller, mayAct: mayAct, ruleAddress: try ruleAddress(story, caller, connection),
            waiting: waiting, nowMs: nowMs)
        let span = AlertView.span(story, nowMs: nowMs)
        var series: [MachineDetail.Series] = []
        if story.alert.kind == .machine, let id = VehicleID(story.vehicle),
            let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
        {
            series = try view.series(span, pieceS: AlertView.pieceS(span), queries, on: connection)
        }
        return shell(caller).page(
            "\(story.parameter) of \(story.vehicle)", at: "/alerts", scripts: ["live.js", "alerts.js"],
            main: page.html(series: series, span: span))
    }

    /// The reader's page for changing its rule: the model's, or the machine's own for its keeper. Nil: none.
    private func ruleAddress(
        _ story: AlertDetail, _ caller: PageCaller, _ connection: Connection
    ) throws -> String? {
        guard story.alert.kind == .machine, !caller.roles.isDisjoint(with: ThresholdRoutes.editors),
            let vehicle = VehicleID(story.vehicle), let field = ThresholdField(name: story.parameter)
        else { return nil }
        let isOfModel = !story.isOwnRule && !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors)
        let of: ThresholdFiles.Subject = isOfModel ? .model(story.model) : .machine(vehicle)
        return try of.isEdited(on: connection) ? of.address + "/" + URLText.escaped(field.shownName) : nil
    }

    /// Pushes a person's action, and shows it when it is committed.
    private func form(_ request: Request, _ said: AlertView.Waiting, _ say: @escaping Say) -> Response {
        access.saying(request, for: FleetRoutes.keepers, to: uploads) { caller, fields, connection in
            guard let story = try story(request, caller, connection), let vehicle = VehicleID(story.vehicle) else {
                return .answer(FleetRoutes.noAlert)
            }
            let nowMs = Clock.nowMs()
            if story.alert.kind == .machine,
                let refusal = try WriteRefusal.ofPage(
                    .alert, isCar: false, vehicle, at: nowMs...nowMs, on: connection)
            {
                return .answer(refusal)
            }
            let (action, upload): (Action, Upload)
            do {
                action = try say(story, fields, caller.account, nowMs)
                upload = try Upload(ofMachine: action)
            } catch let fault as AlertAction.Fault {
                return .answer(.problem(422, type: "form", detail: fault.text))
            } catch {
                return .answer(.problem(422, type: "form", detail: "\(error)"))
            }
            let waiting = said == .silence && fields["hours"] == "0" ? AlertView.Waiting.end : said
            return .say(
                upload, told: FleetRoutes.deed(said, action, story, fields, from: request),
                then: .seeOther("/alerts/\(URLText.escaped(story.id))?said=\(waiting.rawValue)"))
        }
    }

    /// The record's id says which entries are of one deed: a form that is sent again has another of each.
    private static func deed(
        _ said: AlertView.Waiting, _ action: Action, _ story: AlertDetail, _ fields: FormFields, from request: Request
    ) -> AuditedOperation {
        let about = [("alert", story.id), ("vehicle", story.vehicle), ("record", action.id)]
        return said == .silence
            ? AuditedOperation(
                .alertSilenced, by: action.by, from: request.remote, about + [("hours", fields["hours"] ?? "")])
            : AuditedOperation(.alertAcknowledged, by: action.by, from: request.remote, about)
    }
}
