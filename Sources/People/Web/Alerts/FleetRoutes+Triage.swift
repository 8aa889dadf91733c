internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// What people do about alerts: each is a record on the log of the vehicle, with an entry in the audit log.
extension FleetRoutes {
    /// Alerts that one form may speak of.
    private static let batchMax = 100

    func addTriage(to router: inout Router) {
        for deed in AlertAction.Deed.allCases {
            router.add("POST", "/alerts/{alert}/\(deed.rawValue)") { [self] request in one(request, deed) }
        }
        router.add("POST", "/alerts") { [self] request in batch(request) }
    }

    private func one(_ request: Request, _ deed: AlertAction.Deed) -> Response {
        access.saying(request, for: AlertAccess.actors, to: uploads) { caller, fields, connection in
            let alert = request.parameters["alert"]!
            switch try saying(request, caller, { fields[$0] }).said(deed, of: alert, on: connection) {
            case .failure(let refused): return .answer(refused.response)
            case .success(let said):
                return .sayAll([said], then: AlertForms.answer(request, fields, alert: alert, said: deed))
            }
        }
    }

    private func saying(_ request: Request, _ caller: PageCaller, _ field: @escaping (String) -> String?) -> AlertSaying
    {
        AlertSaying(
            actor: AlertAccess.Actor(account: caller.account, roles: caller.roles, zone: caller.clock.zone),
            field: field,
            remote: request.remote, queries: queries)
    }

    /// The same of many. One of them that is not the reader's refuses all: nothing is half done.
    private func batch(_ request: Request) -> Response {
        access.saying(request, for: AlertAccess.actors, to: uploads) { caller, fields, connection in
            let alerts = fields.all("alert")
            guard let deed = fields["do"].flatMap({ AlertAction.Deed(rawValue: $0) }), deed != .silence else {
                return .answer(
                    .problem(422, type: "form", detail: "Say what is to be done: acknowledge, assign or mute."))
            }
            guard !alerts.isEmpty, alerts.count <= FleetRoutes.batchMax else {
                return .answer(
                    .problem(
                        422, type: "form", detail: "Select 1 to \(FleetRoutes.batchMax) alerts, then choose again."))
            }
            var all: [(Upload, AuditedOperation?)] = []
            for alert in alerts {
                // What is chosen for many stands in fields of its own: the buttons of single ones are in the same form.
                let saying = saying(request, caller) { fields["all-\($0)"] ?? fields[$0] }
                switch try saying.said(deed, of: alert, on: connection) {
                case .failure(let refused): return .answer(refused.response)
                case .success(let said): all.append(said)
                }
            }
            return .sayAll(all, then: AlertForms.answer(request, fields, alerts: alerts, said: deed))
        }
    }
}
