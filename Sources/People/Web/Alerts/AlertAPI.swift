internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Reports
internal import Storage

extension WebRoutes {
    /// The alerts of the token's own account: docs/drivers.md.
    func addAlerts(to router: inout Router) {
        router.add("GET", "/v1/alerts") { [self] request in
            guard let limit = limit(request) else { return badLimit }
            guard let all = Bool(request.query["all"] ?? "false") else {
                return .problem(400, type: "all", detail: "all must be true or false.")
            }
            return authorized(request, .account) { use in
                do {
                    return try withConnection { connection in
                        // Read before the list: events in between come again and are not missed.
                        let lastID = try AlertEventStore.lastID(on: connection)
                        let alerts = try AlertEventStore.alerts(
                            of: use.account, all: all, rowsMax: limit, on: connection)
                        return Response.json(
                            JSONValue.object([
                                ("account", .text(use.account)), ("last_event", .integer(lastID)),
                                ("alerts", .list(alerts)),
                            ]).rendered(indent: true))
                    }.with("Cache-Control", "no-store")
                } catch {
                    return databaseAway(request.path, error)
                }
            }
        }
        for deed in AlertAction.Deed.allCases {
            router.add("POST", "/v1/alerts/{alert}/\(deed.rawValue)") { [self] request in
                authorized(request, .account) { use in say(deed, use, request) }
            }
        }
        router.add("GET", "/v1/alerts/stream") { [self] request in
            var lastID: Int64?
            if let text = request.headers["last-event-id"] ?? request.query["last_event"] {
                guard let id = Int64(text), id >= 0 else {
                    return .problem(
                        400, type: "last-event-id", detail: "Last-Event-ID must be the id of an event that came before."
                    )
                }
                lastID = id
            }
            return authorized(request, .account) { use in stream(of: use, after: lastID, request) }
        }
    }

    /// A program says of an alert what its account may say on a page.
    private func say(_ deed: AlertAction.Deed, _ use: TokenStore.Use, _ request: Request) -> Response {
        guard request.contentType == "application/json" else {
            return .problem(415, type: "content-type", detail: "This comes as application/json.")
        }
        guard let tree = try? JSONValue(request.body), case .object = tree else {
            return .problem(400, type: "not-json", detail: "The body must be a JSON object, if only {\"id\": …}.")
        }
        do {
            let said = try reading(use) { connection in
                let actor = AlertAccess.Actor(
                    account: use.account, roles: try RowSecurity.roles(on: connection), zone: "UTC")
                return try AlertSaying(
                    actor: actor, field: { tree[$0]?.text }, remote: request.remote, queries: queries
                ).said(deed, of: request.parameters["alert"]!, on: connection)
            }
            switch said {
            case .failure(let refused): return refused.response
            case .success(let said): return try put(said.upload, said.told, of: request.parameters["alert"]!, deed)
            }
        } catch {
            return databaseAway(request.path, error)
        }
    }

    /// The entry first: nothing is said that has none.
    private func put(
        _ upload: Upload, _ told: AuditedOperation?, of alert: String, _ deed: AlertAction.Deed
    ) throws -> Response {
        try withConnection { connection in try connection.transaction { try told?.tell(on: connection) } }
        if let failure = failure(upload) {
            try withConnection { connection in
                try connection.transaction { try told?.tell(.unconfirmed, on: connection) }
            }
            return failure
        }
        return Response.json(
            JSONValue.object([("alert", .text(alert)), ("said", .text(deed.rawValue))]).rendered(), status: 202
        ).with("Cache-Control", "no-store")
    }

    private func stream(of use: TokenStore.Use, after id: Int64?, _ request: Request) -> Response {
        do {
            return try .events(request) {
                try withConnection {
                    try streams.open(use.account, by: StreamAccess(key: use.digest), after: id, on: $0)
                }
            }
        } catch {
            return databaseAway(request.path, error)
        }
    }
}
