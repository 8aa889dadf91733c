internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// One machine in the field: a small document for apps that lay it over a camera's picture, and a page for phones.
extension WebRoutes {
    /// Kept for half a minute, and shown for an hour while it is asked for again: in the field there is often no net.
    private static let caching = "private, max-age=30, stale-while-revalidate=3600"

    func addFieldView(to router: inout Router) {
        router.add("GET", "/v1/field-view/{vehicle}") { [self] request in
            let response =
                request.headers["authorization"] == nil
                ? access.call(request, for: WebRoutes.fleetReaders) { caller, connection in
                    try document(request, caller.audience, units(request, caller.units), connection)
                } : ofProgram(request)
            guard response.status == 200 else { return response }
            return response.conditional(request, caching: WebRoutes.caching).with("Vary", "Authorization, Cookie")
        }
    }

    /// A token that reads machines, or one of an account.
    private func ofProgram(_ request: Request) -> Response {
        authorized(request, anyOf: [.read, .account]) { use in
            do {
                return try reading(use) { connection in
                    try connection.snapshot {
                        try document(request, use.role, units(request, .metric), connection)
                    }
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
            try view.field(queries, on: connection) { ShownField.text($0.value, unit: $0.unit, units, UTC.text) }.json)
    }
}

extension FleetRoutes {
    func addFieldPage(to router: inout Router) {
        router.add("GET", "/field/{vehicle}") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                guard let id = VehicleID(request.parameters["vehicle"]!),
                    let view = try MachineDetail(id, role: caller.audience, queries, on: connection)
                else { return .problem(404, type: "not-found", detail: "There is no such machine that you may see.") }
                let field = try view.field(queries, on: connection) { ShownField.text($0.value, unit: $0.unit, caller) }
                return shell(caller).page(
                    "\(field.name ?? field.vehicle) in the field", at: "/vehicles", scripts: ["live.js", "field.js"],
                    main: FieldPageView(field: field, caller: caller).html)
            }
        }
    }
}

/// Big and of high contrast, for a phone in the sun.
private struct FieldPageView {
    let field: FieldDisplay
    let caller: PageCaller

    var html: HTML {
        """
        <div id="field" class="field">
        <h1>\(field.name ?? field.vehicle)</h1>
        <p>\([field.model, field.name == nil ? nil : field.vehicle].compactMap { $0 }.joined(separator: ", "))</p>
        <p class="verdict \(field.state.rawValue)" role="status">\(verdict)</p>
        \(alerts)
        <dl>
        \(field.values.map(row).joined(separator: "\n"))
        </dl>
        <p>\(field.lastMs.map { "Last updated \(caller.clock.html($0)), \(caller.clock.zone)" } ?? "It has not said anything yet.") <span id="live"></span></p>
        </div>
        <p><a href="/vehicles/\(encoded: field.vehicle)?kind=machine">All of this machine</a></p>
        """
    }

    private var verdict: String {
        switch field.state {
        case .critical: "✖ Stop: \(field.alerts.count(where: { $0.alert.severity == .critical })) critical"
        case .warning: "! Look at it: \(field.alerts.count) open"
        case .dueSoon: "A service is due soon"
        case .unjudged: "Not monitored: \(field.notMonitored?.short ?? "nothing judges it")"
        case .ok: field.lastMs == nil ? "Nothing is known" : "✔ Nothing is open"
        }
    }

    private var alerts: HTML {
        let items: [HTML] = field.alerts.map { open in
            let alert = open.alert
            let worst = alert.shown(alert.worstValue, caller.units).map { ", worst \($0)" } ?? ""
            let advice: HTML = alert.advice.map { " <span>\($0)</span>" } ?? ""
            return
                "<li class=\"\(alert.severity.rawValue)\"><a href=\"/alerts/\(encoded: open.id)\">\(alert.parameter)</a> \(alert.shownRule(caller.units))\(worst).\(advice)</li>"
        }
        return items.isEmpty ? "" : "<ul>\(items.joined())</ul>"
    }

    private func row(_ value: FieldDisplay.Value) -> HTML {
        let (mark, sign) =
            switch value.state {
            case .critical: ("critical", " ✖")
            case .warning: ("warning", " !")
            case .dueSoon: ("soon", " due soon")
            case .ok: ("ok", "")
            case .unjudged: ("none", "")
            }
        return "<dt>\(value.name)</dt><dd class=\"\(mark)\">\(value.text)\(sign)</dd>"
    }
}
