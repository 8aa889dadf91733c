internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Storage
internal import Telemetry

extension WebRoutes {
    /// The routes of docs/uploads.md.
    func addUploads(to router: inout Router) {
        router.add("POST", "/v1/readings") { [self] in upload($0, .machines) }
        for kind in Upload.Kind.allCases {
            router.add("POST", "/v1/readings/\(kind.rawValue)") { [self] in upload($0, kind) }
        }
        router.add("POST", "/v1/trips") { [self] in upload($0, .trips) }
        router.add("POST", "/v1/scans") { [self] in upload($0, .scans) }
    }

    private func upload(_ request: Request, _ kind: Upload.Kind) -> Response {
        accept(request, .reading) { use, body, form throws(Upload.Fault) in
            let nowMs = Clock.nowMs()
            var upload = try Upload(body, kind, form, nowMs: nowMs)
            if kind == .cars { upload.add(drivenBy: use.account, nowMs: nowMs) }
            return upload
        }
    }

    private func upload(_ request: Request, _ kinds: Upload.Records) -> Response {
        accept(request, kinds == .trips ? .trip : .scan) { use, body, form throws(Upload.Fault) in
            try Upload(body, kinds, form, account: use.account, nowMs: Clock.nowMs())
        }
    }

    private func accept(
        _ request: Request, _ deed: WriteAccess.Operation,
        _ read: (TokenStore.Use, [UInt8], Upload.Form) throws(Upload.Fault) -> Upload
    ) -> Response {
        authorized(request, .upload) { use in
            let form: Upload.Form
            switch request.contentType {
            case "application/json": form = .json
            case "application/x-ndjson": form = .lines
            default:
                return .problem(
                    415, type: "content-type", detail: "Readings come as application/json or application/x-ndjson.")
            }
            return PackedBody.unpacked(request) { body in
                do throws(Upload.Fault) {
                    let upload = try read(use, body, form)
                    return refusal(upload, deed, use, request.path) ?? answer(upload)
                } catch {
                    return .problem(400, type: "not-a-batch", detail: "\(error).")
                }
            }
        }
    }

    /// Nil: the account may say this of all of the upload's vehicles.
    private func refusal(
        _ upload: Upload, _ deed: WriteAccess.Operation, _ use: TokenStore.Use, _ path: String
    ) -> Response? {
        guard !upload.about.isEmpty else { return nil }
        let refused: [VehicleID]
        do {
            refused = try withConnection {
                try WriteAccess.refused(deed, isCar: upload.isOfCars, upload.about, account: use.account, on: $0)
            }
        } catch {
            return databaseAway(path, error)
        }
        return refused.isEmpty ? nil : WriteRefusal.response(isCar: upload.isOfCars, refused)
    }

    /// Nil: it is on the log.
    func failure(_ upload: Upload) -> Response? {
        switch uploads.send(upload) {
        case .acknowledged: nil
        case .brokerAway:
            .problem(
                503, type: "broker-away",
                detail: "This cannot be stored right now. Keep it and send it again with the same ids."
            ).with("Retry-After", "10")
        case .busy:
            .problem(503, type: "busy", detail: "Too many uploads are under way. Send this again with the same ids.")
                .with("Retry-After", "1")
        }
    }

    private func answer(_ upload: Upload) -> Response {
        if let failure = failure(upload) { return failure }
        let results = JSONValue.list(
            upload.reasons.enumerated().map { index, reason in
                let status: [JSONValue.Field] = [
                    ("index", .integer(Int64(index))), ("status", .text(reason == nil ? "accepted" : "rejected")),
                ]
                return .object(status + (reason.map { [("reason", .text($0))] } ?? []))
            })
        let accepted = upload.reasons.count { $0 == nil }
        guard accepted > 0 || upload.reasons.isEmpty else {
            return .problem(
                422, type: "no-reading-accepted", detail: "Nothing of the upload can be taken: see results.",
                more: ["results": results.rendered()])
        }
        return .json(
            JSONValue.object([
                ("accepted", .integer(Int64(accepted))),
                ("rejected", .integer(Int64(upload.reasons.count - accepted))), ("results", results),
            ]).rendered())
    }
}
