internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Reports
internal import Storage
internal import Telemetry

/// Something that somebody says of alerts, from a page or a program: whether they may, the record, and its entry in the audit log.
struct AlertSaying {
    struct Refused: Error { let response: Response }

    let actor: AlertAccess.Actor
    /// A field of the form, or a member of the request.
    let field: (String) -> String?
    let remote: String
    let queries: ReportQueries

    static let noAlert = Response.problem(404, type: "not-found", detail: "There is no such alert that you may see.")

    /// Precondition: `RowSecurity.apply` in this transaction.
    func said(
        _ deed: AlertAction.Deed, of alert: String, on connection: Connection
    ) throws -> Result<(upload: Upload, told: AuditedOperation?), Refused> {
        guard let story = try AlertDetail.read(alert, audiences: actor.audience.seen, queries, on: connection),
            let vehicle = VehicleID(story.vehicle)
        else { return .failure(Refused(response: AlertSaying.noAlert)) }
        let nowMs = Clock.nowMs()
        let operation: WriteAccess.Operation = deed == .service ? .service : .alert
        if let refusal = try AlertAccess.refusal(operation, story, actor.roles, at: nowMs, on: connection) {
            return .failure(Refused(response: refusal))
        }
        do {
            let action = try AlertAction(story: story, field: field, actor: actor, nowMs: nowMs).action(
                deed, people: try AlertTale.Person.of(story.id, queries, on: connection),
                hours: try MachineDetail.engineHours(vehicle, queries, on: connection))
            let upload = try story.alert.kind == .car ? Upload(ofCar: action) : Upload(ofMachine: action)
            return .success((upload, AlertAudit.entry(deed, action, story, field, from: remote)))
        } catch let fault as AlertAction.Fault {
            return .failure(Refused(response: .problem(422, type: "form", detail: fault.text)))
        } catch let fault as Upload.Fault {
            return .failure(Refused(response: .problem(422, type: "form", detail: "\(fault)")))
        }
    }
}

/// The record's id says which entries are of one deed: a form that is sent again has another of each.
enum AlertAudit {
    /// Nil: a service is no word on an alert, and services have no entries.
    static func entry(
        _ deed: AlertAction.Deed, _ action: Action, _ story: AlertDetail, _ field: (String) -> String?,
        from remote: String
    ) -> AuditedOperation? {
        let about = [("alert", story.id), ("vehicle", story.vehicle), ("record", action.id)]
        func entry(_ what: AuditAction, about subject: String? = nil, _ more: [(String, String)] = [])
            -> AuditedOperation
        {
            AuditedOperation(what, by: action.by, about: subject, from: remote, about + more)
        }
        switch deed {
        case .acknowledge: return entry(.alertAcknowledged)
        case .reopen: return entry(.alertReopened)
        case .comment: return entry(.alertCommented)
        case .silence: return entry(.alertSilenced, [("hours", field("hours") ?? "")])
        case .mute: return entry(.alertSilenced, [("until", field("until") ?? "")])
        case .assign:
            guard case .triage(let triage) = action.kind, case .assigned(let account) = triage.word else { return nil }
            return entry(.alertAssigned, about: account)
        case .service: return nil
        }
    }
}
