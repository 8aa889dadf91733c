internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

extension FleetSite {
    func addAlertPages(to router: inout Router) {
        router.add("GET", "/alerts") { [self] request in
            door.page(request, for: FleetSite.viewers) { caller, connection in
                let alerts = try OpenAlert.read(
                    role: caller.audience, limit: AlertsPage.rowsMax, queries, on: connection)
                let page = AlertsPage(
                    alerts: alerts, unmonitored: try UnmonitoredVehicle.read(queries, on: connection), caller: caller,
                    nowMs: Clock.nowMs())
                return shell(caller).page(
                    "open alerts", at: "/alerts", scripts: ["live.js", "alerts.js"], main: page.html)
            }
        }
        router.add("GET", "/alerts/{alert}") { [self] request in
            door.page(request, for: FleetSite.viewers) { caller, connection in
                guard let story = try story(request, caller, connection) else { return FleetSite.noAlert }
                return try page(story, request.query["said"].flatMap(AlertPage.Waiting.init), caller, connection)
            }
        }
        router.add("POST", "/alerts/{alert}/acknowledge") { [self] request in
            form(request, .acknowledgement, AlertAction.acknowledgement)
        }
        router.add("POST", "/alerts/{alert}/silence") { [self] request in
            form(request, .silence, AlertAction.silence)
        }
    }

    private typealias Say = @Sendable (AlertStory, Fields, String, Int64) throws(AlertAction.Fault) -> Action

    private static let noAlert = Response.problem(
        404, type: "not-found", detail: "There is no such alert that you may see.")

    private func story(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> AlertStory? {
        try AlertStory.read(
            request.parameters["alert"]!, audiences: caller.audience.seen, queries, on: connection)
    }

    private func page(
        _ story: AlertStory, _ waiting: AlertPage.Waiting?, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let nowMs = Clock.nowMs()
        let mayAct = story.alert.kind == .machine && !caller.roles.isDisjoint(with: FleetSite.keepers)
        let page = AlertPage(
            story: story, caller: caller, mayAct: mayAct, ruleAddress: try ruleAddress(story, caller, connection),
            waiting: waiting, nowMs: nowMs)
        let span = AlertPage.span(story, nowMs: nowMs)
        var series: [MachineView.Series] = []
        if story.alert.kind == .machine, let id = VehicleID(story.vehicle),
            let view = try MachineView(id, role: caller.audience, queries, on: connection)
        {
            series = try view.series(span, pieceS: AlertPage.pieceS(span), queries, on: connection)
        }
        return shell(caller).page(
            "\(story.parameter) of \(story.vehicle)", at: "/alerts", scripts: ["live.js", "alerts.js"],
            main: page.html(series: series, span: span))
    }

    /// The reader's page for changing its rule: the model's, or the machine's own for its keeper. Nil: none.
    private func ruleAddress(
        _ story: AlertStory, _ caller: PageCaller, _ connection: Connection
    ) throws -> String? {
        guard story.alert.kind == .machine, !caller.roles.isDisjoint(with: ThresholdSite.editors),
            let vehicle = VehicleID(story.vehicle), let field = ThresholdField(name: story.parameter)
        else { return nil }
        let isOfModel = !story.isOwnRule && !caller.roles.isDisjoint(with: ThresholdSite.modelEditors)
        let of: RuleDesk.Of = isOfModel ? .model(story.model) : .machine(vehicle)
        return try of.isEdited(on: connection) ? of.address + "/" + Address.escaped(field.shownName) : nil
    }

    /// Pushes a person's action, and shows it when it is committed.
    private func form(_ request: Request, _ said: AlertPage.Waiting, _ say: @escaping Say) -> Response {
        door.saying(request, for: FleetSite.keepers, to: uploads) { caller, fields, connection in
            guard let story = try story(request, caller, connection), let vehicle = VehicleID(story.vehicle) else {
                return .answer(FleetSite.noAlert)
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
            let waiting = said == .silence && fields["hours"] == "0" ? AlertPage.Waiting.end : said
            return .say(
                upload, told: FleetSite.deed(said, action, story, fields, from: request),
                then: .seeOther("/alerts/\(Address.escaped(story.id))?said=\(waiting.rawValue)"))
        }
    }

    /// The record's id says which entries are of one deed: a form that is sent again has another of each.
    private static func deed(
        _ said: AlertPage.Waiting, _ action: Action, _ story: AlertStory, _ fields: Fields, from request: Request
    ) -> AuditedDeed {
        let about = [("alert", story.id), ("vehicle", story.vehicle), ("record", action.id)]
        return said == .silence
            ? AuditedDeed(
                .alertSilenced, by: action.by, from: request.remote, about + [("hours", fields["hours"] ?? "")])
            : AuditedDeed(.alertAcknowledged, by: action.by, from: request.remote, about)
    }
}
