internal import Gateways
internal import HTTP
internal import Observe
internal import Storage
internal import Wire

extension Site {
    /// `POST /v1/readings`: what docs/uploads.md promises.
    func upload(_ request: Request, _ kind: Upload.Kind) -> Response {
        authorized(request, .upload) { _ in
            let form: Upload.Form
            switch request.contentType {
            case "application/json": form = .json
            case "application/x-ndjson": form = .lines
            default:
                return .problem(
                    415, type: "content-type", detail: "Readings come as application/json or application/x-ndjson.")
            }
            guard request.headers["content-encoding"] ?? "identity" == "identity" else {
                return .problem(415, type: "content-encoding", detail: "The body must not be compressed.")
            }
            do throws(Upload.Fault) {
                return answer(try Upload(request.body, kind, form, nowMs: Clock.nowMs()))
            } catch {
                return .problem(400, type: "not-a-batch", detail: "\(error).")
            }
        }
    }

    private func answer(_ upload: Upload) -> Response {
        switch uploads.send(upload) {
        case .acknowledged: break
        case .brokerAway:
            return .problem(
                503, type: "broker-away",
                detail: "The readings cannot be stored right now. Keep them and send them again with the same ids."
            ).with("Retry-After", "10")
        case .busy:
            return .problem(
                503, type: "busy", detail: "Too many uploads are under way. Send the readings again with the same ids."
            ).with("Retry-After", "1")
        }
        let results = JSONValue.list(
            upload.reasons.enumerated().map { index, reason in
                let status: [(String, JSONValue)] = [
                    ("index", .integer(Int64(index))), ("status", .text(reason == nil ? "accepted" : "rejected")),
                ]
                return .object(status + (reason.map { [("reason", .text($0))] } ?? []))
            })
        let accepted = upload.reasons.count { $0 == nil }
        guard accepted > 0 || upload.reasons.isEmpty else {
            return .problem(
                422, type: "no-reading-accepted", detail: "No reading of the upload can be taken: see results.",
                more: ["results": results.rendered()])
        }
        return .json(
            JSONValue.object([
                ("accepted", .integer(Int64(accepted))),
                ("rejected", .integer(Int64(upload.reasons.count - accepted))), ("results", results),
            ]).rendered())
    }
}
