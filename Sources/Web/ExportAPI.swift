internal import Fleet
internal import HTTP
internal import Observe
internal import Reports
internal import Storage
internal import Surveys
internal import Wire

/// `GET /v1/sightings/export`; docs/export.md.
extension Site {
    private struct Fault: Error { let detail: String }

    func addExports(to router: inout Router) {
        router.add("GET", "/v1/sightings/export") { [self] request in
            authorized(request, .export) { use in
                do throws(Fault) {
                    return try export(request, use)
                } catch {
                    return .problem(400, type: "query", detail: error.detail)
                }
            }
        }
    }

    private func export(_ request: Request, _ use: TokenStore.Use) throws(Fault) -> Response {
        guard let format = SightingExporter.Format(rawValue: request.query["format"] ?? "csv") else {
            throw Fault(detail: "`format` must be csv, geojson or dwca.")
        }
        guard let rows = SightingExport.Rows(rawValue: request.query["rows"] ?? "sightings"),
            format != .dwca || request.query["rows"] == nil
        else { throw Fault(detail: "`rows` must be sightings or surveys; an archive has both.") }
        var sight: SightingExport.Sight = []
        if use.scopes.contains(Scope.exportPeople.rawValue) { sight.insert(.people) }
        if use.scopes.contains(Scope.exportPlaces.rawValue) { sight.insert(.places) }
        let export = try Site.filter(request, sight, format, rows)
        let today = UTC.dateText(Clock.nowMs())
        let dataset = DarwinCore.Dataset(
            title: "Sightings of butterflies", creator: use.account, rights: "See who handed this out.")
        let exporter = SightingExporter(export, format, rows: rows, dataset: dataset, today: today)
        let suffix = format == .dwca ? "zip" : format.rawValue
        guard let answer = exports.answer(exporter, type: format.mediaType, file: "\(rows)-\(today).\(suffix)") else {
            return .problem(
                503, type: "busy", detail: "\(ExportDesk.exportsMax) exports are under way. Try again in a while."
            ).with("Retry-After", "30")
        }
        return answer
    }

    private static func filter(
        _ request: Request, _ sight: SightingExport.Sight, _ format: SightingExporter.Format,
        _ rows: SightingExport.Rows
    ) throws(Fault) -> SightingExport {
        let known: Set = ["format", "rows", "species", "site", "behaviour", "surveyor", "near", "from", "to", "after"]
        if let unknown = request.queryItems.first(where: { !known.contains($0.name) }) {
            throw Fault(
                detail:
                    "`\(unknown.name.prefix(60))` is not known here: take \(known.sorted().joined(separator: ", ")).")
        }
        func time(_ name: String) throws(Fault) -> Int64? {
            guard let text = request.query[name] else { return nil }
            guard let ms = UTC.parse(text), SurveyText.times.contains(ms) else {
                throw Fault(detail: "`\(name)` must be a time like 2026-05-01 or 2026-05-01T08:00:00Z.")
            }
            return ms
        }
        var export = SightingExport(sight: sight)
        export.species = request.queryItems.filter { $0.name == "species" }.map(\.value)
        (export.site, export.behaviour) = (request.query["site"], request.query["behaviour"])
        export.surveyor = request.query["surveyor"]
        guard export.surveyor == nil || sight.contains(.people) else {
            throw Fault(detail: "`surveyor` takes a token with the scope export-people.")
        }
        (export.fromMs, export.toMs) = (try time("from"), try time("to"))
        if let text = request.query["near"] {
            guard let circle = SightingExport.Circle(text) else {
                throw Fault(detail: "`near` must be LAT,LON,KM, at most 2000 km.")
            }
            export.circle = circle
        }
        if let text = request.query["after"] {
            guard format != .dwca, let after = SightingExport.After(text, rows) else {
                throw Fault(detail: "`after` must be \(rows.afterForm) of a row, or a time; an archive has none.")
            }
            export.after = after
        }
        return export
    }
}
