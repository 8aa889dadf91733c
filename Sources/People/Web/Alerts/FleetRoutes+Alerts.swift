internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry
internal import Trips

/// The pages of alerts.
extension FleetRoutes {
    func addAlertPages(to router: inout Router) {
        router.add("GET", "/alerts") { [self] request in
            access.page(request, for: AlertAccess.readers) { caller, connection in
                let list = try AlertListView(request, caller, queries, on: connection)
                return shell(caller).page(
                    "alerts", at: "/alerts", heading: list.heading,
                    scripts: ["live.js", "alerts/alerts.js", AlertForms.script, "alerts/triage.js"], main: list.html)
            }
        }
        router.add("GET", "/alerts/{alert}") { [self] request in
            access.page(request, for: AlertAccess.readers) { caller, connection in
                guard
                    let story = try AlertDetail.read(
                        request.parameters["alert"]!, audiences: caller.audience.seen, queries, on: connection)
                else { return AlertSaying.noAlert }
                return try page(story, request.query["said"].flatMap(AlertForms.Said.init), caller, connection)
            }
        }
        router.add("GET", "/alerts/{alert}/series") { [self] request in
            access.call(request, for: AlertAccess.readers) { caller, connection in
                try AlertChart.series(request, caller, gapMs: rules.gapMs, queries, on: connection)
            }
        }
        addTriage(to: &router)
    }

    private func page(
        _ story: AlertDetail, _ said: AlertForms.Said?, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let nowMs = Clock.nowMs()
        let isOpen = story.alert.resolvedMs == nil && story.state != .withdrawn
        let mayAct = try isOpen && AlertAccess.mayAct(story, caller, at: nowMs, on: connection)
        let span = AlertChart.span(story, nowMs: nowMs)
        var (series, latest): ([MachineDetail.Series], [MachineDetail.Value]) = ([], [])
        if story.alert.kind == .machine, let id = VehicleID(story.vehicle),
            let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
        {
            series = try view.series(span, pieceS: AlertChart.pieceS(span), queries, on: connection)
            latest = try view.latest(queries, on: connection)
        }
        let tale = try AlertTale(of: story.id, queries, on: connection)
        let caller = try caller.knowing(
            [story.assignedTo, story.acknowledgement?.by] + tale.words.flatMap { [$0.by, $0.account] }, queries,
            on: connection)
        let page = AlertView(
            story: story, tale: tale, caller: caller,
            people: mayAct ? try AlertTale.Person.of(story.id, queries, on: connection) : [], mayAct: mayAct,
            ruleAddress: try ruleAddress(story, caller, connection), said: said, latest: latest,
            chart: AlertChart(story: story, series: series, span: span, caller: caller), base: base, nowMs: nowMs)
        let (hasChart, hasMap) = (page.chart.isDrawn, page.place != nil)
        return shell(caller).page(
            "\(story.alert.title), \(story.vehicleName ?? story.vehicle)", at: "/alerts", heading: page.heading,
            styles: (hasChart ? ChartView.styles : []) + (hasMap ? BaseMap.styles : []),
            scripts: (hasChart ? ChartView.scripts : []) + (hasMap ? BaseMap.scripts : []) + [
                "live.js", "alerts/alerts.js",
            ],
            main: page.html)
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
}
