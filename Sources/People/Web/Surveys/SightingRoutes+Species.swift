internal import Basics
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Surveys

/// Species as a field guide has them: what was seen, by family and genus, and a page each.
extension SightingRoutes {
    static let speciesMax = 1_000
    private static let matchesMax = 50

    func addSpecies(to router: inout Router) {
        router.add("GET", "/sightings/species") { [self] request in
            access.page(request, for: SightingRoutes.readers) { caller, connection in
                try guide(request.query["search"] ?? "", caller, connection)
            }
        }
        router.add("GET", "/sightings/species/{species}") { [self] request in
            access.page(request, for: SightingRoutes.readers) { caller, connection in
                try species(request.parameters["species"]!, caller, connection)
            }
        }
    }

    // MARK: The guide

    private func guide(_ search: String, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let folded = TaxonName.folded(String(search.prefix(100)))
        let matches =
            folded.isEmpty
            ? nil : try TaxonQueries.search(folded, most: SightingRoutes.matchesMax, on: connection)
        var question = try SightingRoutes.question([], caller)
        if let matches { question.species = matches.isEmpty ? [""] : Array(Set(matches.map(\.accepted))) }
        let seen = try connection.inTime(ms: patienceS * 1_000) {
            try question.seen(most: SightingRoutes.speciesMax, on: connection)
        }
        let names = matches.map { Array(Set($0.map(\.accepted))) } ?? (seen ?? []).map(\.name)
        let page = SpeciesListView(
            search: search, species: try SpeciesQueries.species(names, on: connection), seen: seen)
        return shell(t("Species"), SpeciesListView.heading, caller, page.html)
    }

    // MARK: A species

    private func species(_ name: String, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        guard name.utf8.count <= 200, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            return SightingRoutes.noSpecies
        }
        var question = try SightingRoutes.question([], caller)
        question.species = [name]
        let known = try SpeciesQueries.species([name], on: connection).first
        let found = try connection.inTime(ms: patienceS * 1_000) {
            let figures = try question.figures(on: connection)
            return SpeciesView.Found(
                figures: figures, grid: try figures.extent.map { try question.grid($0, on: connection) },
                protocols: try question.protocols(on: connection),
                newest: try question.list(behind: nil, most: SpeciesView.newestMax, on: connection))
        }
        guard known != nil || (found?.figures.all.sightings ?? 0) > 0 else { return SightingRoutes.noSpecies }
        let page = SpeciesView(name: name, known: known, found: found, caller: caller, seesPlaces: question.seesPlaces)
        return shell(name, page.heading, caller, page.html(base), hasMap: true)
    }

    private static var noSpecies: Response {
        .problem(
            404, type: "not-found", detail: "There is no such species. /sightings/species lists those that were seen.")
    }

    // MARK: What they share

    private func shell(
        _ title: String, _ heading: PageHeading, _ caller: PageCaller, _ main: HTML, hasMap: Bool = false
    ) -> Response {
        PageShell(caller: caller, assets: assets).page(
            title, at: "/sightings", heading: heading,
            styles: (hasMap ? BaseMap.styles : []) + ["nature/surveys.css"],
            scripts: (hasMap ? BaseMap.scripts + ["nature/sightings.js"] : ["names.js"]), main: main)
    }
}

extension SightingExport {
    /// Places as they are, not the middle of a cell.
    var seesPlaces: Bool { sight.contains(.places) || reader == .surveyor }
}
