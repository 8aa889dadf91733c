internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

extension WebRoutes {
    private static let limits: ClosedRange<Int64> = 1...1_000
    private static let limitStandard: Int64 = 100

    /// The routes of docs/api.md.
    func addMachines(to router: inout Router) {
        router.add("GET", "/v1/machines") { [self] request in
            guard let limit = limit(request) else { return badLimit }
            guard let place = request.query["after"].map(MachineList.Place.init) ?? .first else {
                return .problem(400, type: "after", detail: "after must be what `next` of a page before says.")
            }
            let (tag, search) = (request.query["tag"] ?? "", request.query["search"] ?? "")
            return read(request) { connection, use in
                let list = try MachineList(
                    tag: tag, search: search, after: place, limit: limit, role: use.role, queries, on: connection)
                return page(
                    "machines", list.machines, next: list.next.map { [("after", $0.text)] }, of: request)
            }
        }
        router.add("GET", "/v1/machines/{vehicle}") { [self] request in
            machine(request) { view, connection in .json(try view.document(queries, on: connection)) }
        }
        router.add("GET", "/v1/machines/{vehicle}/readings") { [self] request in
            guard let limit = limit(request) else { return badLimit }
            var beforeMs = UTC.plausible.upperBound
            if let text = request.query["before"] {
                guard let time = UTC.parse(text), UTC.plausible.contains(time) else {
                    return .problem(
                        400, type: "before",
                        detail: "before must be a time with its zone, like 2026-11-21T08:00:00Z.")
                }
                beforeMs = time
            }
            return machine(request) { view, connection in
                let (readings, next) = try view.history(before: beforeMs, limit: limit, queries, on: connection)
                return page("readings", readings, next: next.map { [("before", $0)] }, of: request)
            }
        }
    }

    private func machine(_ request: Request, _ make: (MachineDetail, Connection) throws -> Response) -> Response {
        read(request) { connection, use in
            guard let id = VehicleID(request.parameters["vehicle"]!),
                let view = try MachineDetail(id, role: use.role, queries, on: connection)
            else { return .problem(404, type: "not-found", detail: "There is no such machine.") }
            return try make(view, connection)
        }
    }

    /// All of an answer is of one moment.
    private func read(
        _ request: Request, _ make: (Connection, TokenStore.Use) throws -> Response
    ) -> Response {
        authorized(request, .read) { use in
            do {
                return try reading(use) { connection in
                    try connection.snapshot {
                        try make(connection, use)
                    }
                }.conditional(request)
            } catch {
                return databaseAway(request.path, error)
            }
        }
    }

    func limit(_ request: Request) -> Int64? {
        guard let text = request.query["limit"] else { return WebRoutes.limitStandard }
        return Int64(text).flatMap { WebRoutes.limits.contains($0) ? $0 : nil }
    }

    var badLimit: Response {
        .problem(
            400, type: "limit",
            detail:
                "limit must be a whole number from \(WebRoutes.limits.lowerBound) to \(WebRoutes.limits.upperBound).")
    }

    /// - Parameter next: what the next page's address has in the place of this one's; nil: there is none.
    func page(
        _ name: String, _ items: JSONValue, next: [(name: String, value: String)]?, of request: Request
    ) -> Response {
        let address = next.map { next in
            let kept = request.queryItems.filter { item in !next.contains { $0.name == item.name } }
            return request.path + "?"
                + (kept + next).map { URLText.escaped($0.name) + "=" + URLText.escaped($0.value) }
                .joined(separator: "&")
        }
        return .json(JSONValue.object([(name, items), ("next", .optional(address))]).rendered(indent: true))
    }
}
