internal import Codecs
internal import Formats
internal import HTTPServer
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
