internal import Fleet
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Storage

/// The result of a form that puts a record on the log.
enum FormOutcome {
    case answer(Response)
    /// - told: what the audit log tells of it.
    case say(Upload, told: AuditedOperation? = nil, then: Response)
    /// Several records, each with its own entry.
    case sayAll([(upload: Upload, told: AuditedOperation?)], then: Response)
}

extension AccessControl {
    /// A form that puts a record on the log. The permission check and the audit entry are one transaction; after its commit the record is
    /// pushed: none without permission, and none without its entry. Repeating the form after a failure pushes the same record.
    func saying(
        _ request: Request, for roles: Set<Role>, to uploads: UploadSender,
        _ body: (PageCaller, FormFields, Connection) throws -> FormOutcome
    ) -> Response {
        var said: (caller: PageCaller, all: [(upload: Upload, told: AuditedOperation?)], then: Response)?
        let response = form(request, for: roles) { caller, fields, connection in
            switch try body(caller, fields, connection) {
            case .answer(let response): return response
            case .say(let upload, let told, let then):
                try told?.tell(on: connection)
                said = (caller, [(upload, told)], then)
                return Response(204)
            case .sayAll(let all, let then):
                for one in all { try one.told?.tell(on: connection) }
                said = (caller, all, then)
                return Response(204)
            }
        }
        guard response.status == 204, let said else { return response }
        for (index, one) in said.all.enumerated() {
            let outcome = uploads.send(one.upload)
            guard outcome != .acknowledged else { continue }
            if let told = one.told { tell(outcome.ofDeed, of: [told], said.caller) }
            let left = said.all[(index + 1)...].compactMap(\.told)
            if !left.isEmpty { tell(.failed, of: left, said.caller) }
            return UploadSender.notOnLog
        }
        return said.then.with("Cache-Control", "no-store")
    }
}

extension UploadSender.Outcome {
    /// Precondition: it is not acknowledged.
    var ofDeed: AuditedOperation.Outcome { self == .busy ? .failed : .unconfirmed }
}

extension UploadSender {
    /// Puts a form's record on the log. Nil: it is there; else the response.
    func refusal(_ upload: Upload) -> Response? {
        if case .acknowledged = send(upload) { return nil }
        return UploadSender.notOnLog
    }

    static let notOnLog = Response.problem(
        503, type: "broker-away",
        detail: "This cannot be stored right now. Go back and send it again in a moment: it counts once."
    ).with("Retry-After", "10")
}
