internal import HTTPServer
internal import Storage

/// `GET /v1/sightings/export`; docs/export.md.
extension WebRoutes {
    func addExports(to router: inout Router) {
        router.add("GET", "/v1/sightings/export") { [self] request in
            authorized(request, .export) { use in
                do throws(SightingFilter.Fault) {
                    return try export(request, use)
                } catch {
                    return .problem(400, type: "query", detail: error.detail)
                }
            }
        }
    }

    private func export(_ request: Request, _ use: TokenStore.Use) throws(SightingFilter.Fault) -> Response {
        let (format, rows) = try SightingFilter.form(request.queryItems)
        var sight: SightingExport.Sight = []
        if use.scopes.contains(.exportPeople) { sight.insert(.people) }
        if use.scopes.contains(.exportPlaces) { sight.insert(.places) }
        let export = try SightingFilter.read(request.queryItems, sight, format, rows)
        return exports.answer(export, format, rows, by: use.account)
    }
}
