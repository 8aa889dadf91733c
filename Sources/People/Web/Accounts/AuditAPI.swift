internal import Codecs
internal import Formats
internal import HTTPServer
internal import Storage

/// `GET /v1/audit`: the audit log for programs of administrators; docs/audit.md.
extension WebRoutes {
    func addAudit(to router: inout Router) {
        router.add("GET", "/v1/audit") { [self] request in
            guard let limit = limit(request) else { return badLimit }
            let asked = AuditFilter(request)
            if let fault = asked.fault { return .problem(400, type: "filter", detail: fault) }
            return authorized(request, .audit) { use in
                do { return try entries(asked.question, limit, use, request) } catch {
                    return databaseAway(request.path, error)
                }
            }
        }
    }

    private static let notAdministrator = Response.problem(
        403, type: "role-missing",
        detail: "This is for administrators, and the token's account is none. Ask for a token of one who is.")

    private func entries(
        _ question: AuditPageQueries.Question, _ limit: Int64, _ use: TokenStore.Use, _ request: Request
    ) throws -> Response {
        try reading(use) { connection in
            guard try AuditPageQueries.isRead(on: connection) else { return WebRoutes.notAdministrator }
            // One more, which says whether there is a next page.
            let found = try AuditPageQueries.entries(question, limit: limit + 1, on: connection)
            let entries = found.prefix(Int(limit))
            let next = found.count > entries.count ? entries.last : nil
            return page(
                "entries", .list(entries.map(\.json)), next: next.map { [("after", String($0.sequence))] }, of: request
            ).with("Cache-Control", "no-store")
        }
    }
}
