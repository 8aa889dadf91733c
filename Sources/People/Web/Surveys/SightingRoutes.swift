internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Surveys
internal import Telemetry

/// Sightings for researchers: filtered, on a map, summed, as a list, and exported. docs/surveys.md.
package final class SightingRoutes: Sendable {
    static let readers: Set<Role> = [.surveyor, .researcher, .analyst, .administrator]
    static let rowsMax = 50
    static let sitesMax = 200
    private static let defaultMs = 365 * UTC.msPerDay

    let access: AccessControl
    let assets: AssetFiles
    let base: BaseMap
    private let exports: ExportService
    let patienceS: Int

    /// - Parameter patienceS: a page that takes longer in the database says so; its exports take as long as they take.
    package init(access: AccessControl, assets: AssetFiles, base: BaseMap, exports: ExportService, patienceS: Int) {
        self.access = access
        self.assets = assets
        self.base = base
        self.exports = exports
        self.patienceS = patienceS
    }

    package func add(to router: inout Router) {
        router.add("GET", "/sightings") { [self] request in
            access.page(request, for: SightingRoutes.readers) { caller, connection in
                try show(request, caller, connection)
            }
        }
        router.add("GET", "/sightings/export") { [self] in export($0) }
        router.add("GET", "/sightings/taxa") { [self] request in
            access.page(request, for: SightingRoutes.readers) { caller, connection in
                try taxa(request.query["of"], caller, connection)
            }
        }
        router.add("GET", "/sightings/names") { [self] request in
            access.call(request, for: SightingRoutes.readers) { _, connection in try search(request, connection) }
        }
        addSpecies(to: &router)
    }

    // MARK: The question

    /// Empty fields of the form are left out.
    private static func items(_ request: Request, without others: Set<String>) -> [SightingFilter.Item] {
        request.queryItems.filter { !$0.value.isEmpty && !others.contains($0.name) }
    }

    /// The part that the caller may see; the database enforces it.
    static func question(
        _ items: [SightingFilter.Item], _ caller: PageCaller, _ format: SightingExporter.Format = .csv,
        _ rows: SightingExport.Rows = .sightings
    ) throws(SightingFilter.Fault) -> SightingExport {
        let seesAll = !caller.roles.isDisjoint(with: [.researcher, .administrator])
        let isSurveyor = !seesAll && !caller.roles.contains(.analyst)
        var question = try SightingFilter.read(
            items, seesAll ? [.people, .places] : isSurveyor ? [.people] : [], format, rows)
        question.reader = isSurveyor ? .surveyor : .person
        return question
    }

    private func show(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        var items = SightingRoutes.items(request, without: ["year", "behind", "format", "rows", "after"])
        var question: SightingExport
        do throws(SightingFilter.Fault) { question = try SightingRoutes.question(items, caller) } catch {
            var again = try SightingRoutes.question([], caller)
            again.fromMs = nil
            let page = SightingView(items: items, asked: again, caller: caller, sites: [], fault: error.detail)
            return self.page(page, caller, status: 422)
        }
        // Without a filter: the last year with walks, so that the page is fast however much there is.
        if items.isEmpty {
            let newestMs = try question.newestStartMs(on: connection) ?? Clock.nowMs()
            items = [("from", UTC.dateText(newestMs - SightingRoutes.defaultMs))]
            question = try SightingRoutes.question(items, caller)
        }
        question = try question.resolved(on: connection)
        var page = SightingView(
            items: items, asked: question, caller: caller,
            sites: try question.sites(most: SightingRoutes.sitesMax, on: connection))
        page.behind = request.query["behind"].flatMap(SightingExport.Behind.init)
        let isRead: Void? = try connection.inTime(ms: patienceS * 1_000) {
            let figures = try question.figures(on: connection)
            page.figures = figures
            page.grid = try figures.extent.map { try question.grid($0, on: connection) }
            page.rows = try question.list(behind: page.behind, most: SightingRoutes.rowsMax + 1, on: connection)
            if question.species.isEmpty == false, let year = SightingRoutes.year(request, figures) {
                let walks = try question.walksByWeek(year: year, on: connection)
                page.season = SightingView.Season(year: year, walks: walks.weeks, sites: walks.sites)
            }
        }
        if isRead == nil {
            page.fault =
                t(
                    "Too much to add up in \(patienceS) s. Choose a species, a site, a place or a shorter time. Exports have all of it."
                )
            page.figures = nil
        }
        return self.page(page, caller)
    }

    /// The year of the flight curve: as asked, else the last one that the species was seen in.
    private static func year(_ request: Request, _ figures: SightingExport.Figures) -> Int? {
        if let year = request.query["year"].flatMap({ Int($0) }), (1_700...2_200).contains(year) { return year }
        return figures.weeks.last { $0.count.individuals > 0 }?.year
    }

    private func page(_ page: SightingView, _ caller: PageCaller, status: Int = 200) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            t("Sightings"), at: "/sightings", heading: SightingView.heading,
            styles: BaseMap.styles + ["nature/surveys.css"],
            scripts: BaseMap.scripts + ["names.js", "nature/sightings.js"], main: page.html(base))
        response.status = status
        return response
    }

    private func export(_ request: Request) -> Response {
        access.page(request, for: SightingRoutes.readers) { caller, _ in
            let items = SightingRoutes.items(request, without: [])
            do throws(SightingFilter.Fault) {
                let (format, rows) = try SightingFilter.form(items)
                let question = try SightingRoutes.question(items, caller, format, rows)
                return exports.answer(question, format, rows, by: caller.account, as: caller.account)
            } catch {
                return .problem(400, type: "query", detail: error.detail)
            }
        }
    }

    // MARK: Names

    private func taxa(_ of: String?, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let key = (of ?? "").isEmpty ? nil : of
        let above = try key.map { try TaxonQueries.taxon($0, on: connection) }
        if let above, above == nil {
            return .problem(404, type: "not-found", detail: "There is no such taxon. /sightings/taxa has all of them.")
        }
        let children = try TaxonQueries.children(of: key, most: TaxonView.rowsMax, on: connection)
        return PageShell(caller: caller, assets: assets).page(
            t("Taxonomy"), at: "/sightings", heading: TaxonView.heading(above: above ?? nil),
            main: TaxonView.html(above: above ?? nil, children))
    }

    /// Names that begin as somebody types.
    private func search(_ request: Request, _ connection: Connection) throws -> Response {
        let text = TaxonName.folded(String((request.query["search"] ?? "").prefix(100)))
        guard !text.isEmpty else {
            return .problem(400, type: "search", detail: "`search` must be the begin of a name.")
        }
        let matches = try TaxonQueries.search(text, most: 20, on: connection)
        return Response.json(
            JSONValue.object([
                (
                    "names",
                    .list(
                        matches.flatMap { match -> [JSONValue] in
                            let rank = JSONValue.text(TaxonView.rank(match.rank))
                            guard match.isCommon else {
                                return [match.accepted, match.given].map {
                                    .object([("name", .text($0)), ("about", rank)])
                                }
                            }
                            let (common, accepted) = (JSONValue.text(match.given), JSONValue.text(match.accepted))
                            return [
                                .object([("name", accepted), ("about", common), ("common", common)]),
                                .object([("name", common), ("about", accepted), ("species", accepted)]),
                            ]
                        })
                )
            ]).rendered())
    }
}
