internal import Basics
internal import Fleet
internal import Presentation
internal import Storage
internal import Surveys

/// The page of sightings: the question, what it adds up to, where and when it was, and the sightings themselves.
struct SightingView {
    /// A year of a species: what its flight curve is made of.
    struct Season {
        let year: Int
        let walks: [(week: Int, surveys: Int, individuals: Int)]
        let sites: Int
    }

    /// The filter, as the address has it.
    let items: [SightingFilter.Item]
    /// The part of it that the caller may see.
    let asked: SightingExport
    let caller: PageCaller
    let sites: [String]
    var fault: String?
    var figures: SightingExport.Figures?
    var grid: SightingExport.Grid?
    var season: Season?
    var rows: [SightingExport.Listed] = []
    var behind: SightingExport.Behind?

    static var heading: PageHeading {
        PageHeading(
            t("Sightings"),
            actions: """
                <a class="btn" href="/sightings/species">\(HTML.icon(.butterfly))Species</a>\
                <a class="btn" href="/sightings/taxa" aria-label="Choose from the taxonomy">Taxonomy</a>\
                <a class="btn" href="#files" aria-label="Export">\(HTML.icon(.download))<span class="hide-phone">Export</span></a>
                """)
    }

    func html(_ base: BaseMap) -> HTML {
        """
        \(asked.reader == .surveyor ? "<p class=\"soft\">These are the sightings that you sent. <a href=\"/surveys\">Your surveys</a></p>" : "")
        \(form)
        \(fault.map(HTML.fault))
        \(figures.map { results($0, base) } ?? "")
        \(exports)
        """
    }

    // MARK: The question

    private func value(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }

    private var form: HTML {
        let behaviours: HTML = Sighting.Behaviour.allCases.map { "<option value=\"\($0.rawValue)\">" }.joined()
        let known: HTML = sites.map { "<option value=\"\($0)\">" }.joined()
        let surveyor: HTML =
            asked.sight.contains(.people) && asked.reader == .person
            ? field("surveyor", t("Surveyor’s name"), "text", "maxlength=\"200\"") : ""
        return """
            <form class="filter" method="get" action="/sightings" role="search" id="question">
            \(field("taxon", t("Species, genus or family"), "text", "maxlength=\"200\" list=\"taxa\" autocomplete=\"off\""))
            \(field("from", t("From (UTC)"), "date", ""))
            \(field("to", t("Before"), "date", ""))
            \(field("site", t("Site"), "text", "maxlength=\"64\" list=\"sites\""))
            \(field("behaviour", t("Behaviour"), "text", "maxlength=\"200\" list=\"behaviours\""))
            \(surveyor)
            \(field("box", t("Area: south,west,north,east in degrees"), "text", "maxlength=\"100\""))
            <datalist id="taxa" data-names="/sightings/names?search="></datalist><datalist id="sites">\(known)</datalist><datalist id="behaviours">\(behaviours)</datalist>
            \(kept)
            <button class="btn primary">Show</button>
            </form>
            """
    }

    /// Filters without a field in the form are kept.
    private var kept: HTML {
        items.filter { ["species", "near"].contains($0.name) }.map { FormView.hidden($0.name, $0.value) }.joined()
    }

    private func field(_ name: String, _ label: String, _ type: String, _ more: HTML) -> HTML {
        let shown = type == "date" ? String(value(name).prefix(10)) : value(name)
        return
            "<div><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" type=\"\(type)\" value=\"\(shown)\" \(more)></div>"
    }

    /// An address of the same question.
    private func address(_ path: String, _ more: [SightingFilter.Item], without: Set<String> = []) -> String {
        let all = items.filter { !without.contains($0.name) } + more
        return path + "?"
            + all.map { URLText.escaped($0.name) + "=" + URLText.escaped($0.value) }.joined(separator: "&")
    }

    private var exports: HTML {
        let files: [(String, [SightingFilter.Item])] = [
            (t("Sightings as CSV"), [("format", "csv")]), (t("Sightings as GeoJSON"), [("format", "geojson")]),
            (t("Walks as CSV"), [("format", "csv"), ("rows", "surveys")]),
            (t("Darwin Core Archive"), [("format", "dwca")]),
        ]
        let links: [HTML] = files.map { name, more in
            "<li><a href=\"\(address("/sightings/export", more))\">\(name)</a></li>"
        }
        return """
            <h2 id="files">Export</h2>
            <p class="soft">\(asked.seesPlaces
                ? t("What the filter shows, as far as you may see it.")
                : t("What the filter shows, as far as you may see it: sensitive species have the middle of a cell of 0.1°, and nobody is named."))</p>
            <ul class="links">\(links.joined())</ul>
            """
    }

    // MARK: What it adds up to

    static func tiles(_ figures: SightingExport.Figures) -> HTML {
        let tiles: HTML = [
            (t("Sightings"), String(figures.all.sightings)), (t("Individuals"), String(figures.all.individuals)),
            (t("First seen"), figures.firstDay ?? "–"), (t("Last seen"), figures.lastDay ?? "–"),
        ].map { "<li>\($0.0) <b>\($0.1)</b></li>" }.joined()
        return "<ul class=\"tiles\" id=\"totals\">\(tiles)</ul>"
    }

    private func results(_ figures: SightingExport.Figures, _ base: BaseMap) -> HTML {
        guard figures.all.sightings > 0 else {
            return
                "<section class=\"card\" role=\"status\">\(HTML.emptyState(.sighting, t("No sightings found"), .t("Try a longer time, or fewer filters.")))</section>"
        }
        return """
            \(SightingView.tiles(figures))
            \(parts(figures))
            \(map(base))
            \(season.map(SeasonCharts(caller: caller).curve) ?? "")
            \(SeasonCharts(caller: caller).weeks(figures.weeks))
            \(SeasonCharts(caller: caller).bands(figures.bands))
            \(species(figures.species))
            \(list)
            """
    }

    /// On a phone the page is many screens long. Tables have ids of their captions.
    private func parts(_ figures: SightingExport.Figures) -> HTML {
        let parts: [(id: String, name: String, isThere: Bool)] = [
            ("where", t("Where"), grid?.cells.isEmpty == false), ("flight-curve", t("Flight curve"), season != nil),
            ("weeks", t("By week"), !figures.weeks.isEmpty), ("species", t("Species"), true),
            ("the-sightings--newest-first", t("The sightings"), !rows.isEmpty), ("files", t("Export"), true),
        ]
        let links: [HTML] = parts.filter(\.isThere).map { "<li><a href=\"#\($0.id)\">\($0.name)</a></li>" }
        return "<nav aria-label=\"On this page\"><ul class=\"links\">\(links.joined())</ul></nav>"
    }

    private func map(_ base: BaseMap) -> HTML {
        guard let grid, !grid.cells.isEmpty else { return "<p class=\"soft\">None of them has a position.</p>" }
        let cells = grid.cells.map { "\($0.row),\($0.column),\($0.count.sightings),\($0.count.individuals)" }
        let top = grid.cells.prefix(10).map { cell -> [HTML?] in
            let corner = [cell.row, cell.column, cell.row + 1, cell.column + 1].map { degrees(Double($0) * grid.step) }
            let ask = address("/sightings", [("box", corner.joined(separator: ","))], without: ["box"])
            return [
                "<a href=\"\(ask)\">\(corner[0])° to \(corner[2])°, \(corner[1])° to \(corner[3])°</a>",
                "\(cell.count.sightings)", "\(cell.count.individuals)",
            ]
        }
        return """
            <h2 id="where">Where</h2>
            <p class="soft">\(grid.isCut
                ? t("By cells of \(degrees(grid.step))°, those with the most sightings.") : t("By cells of \(degrees(grid.step))°.")) \
            \(asked.seesPlaces ? "" : t("Sensitive species are shown in the middle of a cell of 0.1°."))</p>
            <div class="beside">
            <div><div id="map" class="map" role="region" aria-label="Map of the sightings by cells; the table has those with the most" \
            data-step="\(degrees(grid.step))" data-cells="\(cells.joined(separator: " "))" \(base.attributes)></div>
            <p><button type="button" id="here" hidden>Search this area</button></p></div>
            <div>\(HTML.table(
                caption: t("Cells with the most sightings"),
                headers: [.word(t("Latitude, longitude")), .number(t("Sightings")), .number(t("Individuals"))], rows: top, empty: ""))</div>
            </div>
            """
    }

    private func degrees(_ value: Double) -> String {
        Decimal.text(Decimal.scaled(value, decimals: 4) ?? 0, decimals: 4)
    }

    private func species(_ species: [(name: String, count: SightingExport.Count)]) -> HTML {
        let rows = species.map { name, count -> [HTML?] in
            [
                "<a href=\"/sightings/species/\(encoded: name)\">\(name)</a>",
                "\(count.sightings)", "\(count.individuals)",
            ]
        }
        return HTML.table(
            caption: t("Species"), headers: [.prose(t("Name")), .number(t("Sightings")), .number(t("Individuals"))],
            rows: rows,
            empty: "")
            + (species.count == SightingExport.speciesMax
                ? "<p class=\"soft\">The \(SightingExport.speciesMax) most frequent. Exports have all.</p>" : "")
    }

    private var list: HTML {
        let shown = rows.prefix(SightingRoutes.rowsMax)
        let table = HTML.table(
            caption: t("The sightings, newest first"),
            headers: [
                .word(t("Seen (\(caller.clock.zone))")), .prose(t("Species")), .number(t("Individuals")),
                .text(t("Behaviour")), .word(t("Survey")), .word(t("Place")), .number(t("Temperature")),
            ],
            rows: shown.map { row in
                let place = [row.latitude, row.longitude].compactMap { $0 }.map(degrees).joined(separator: ", ")
                let given: HTML =
                    row.givenName == row.species
                    ? "" : "<br><span class=\"soft\">\(row.givenName)</span>"
                return [
                    caller.clock.html(row.seenMs), "\(row.species)\(given)", "\(row.individuals)",
                    .text(row.behaviour), survey(row),
                    place.isEmpty ? nil : row.isBlurred ? .t("\(place) (blurred)") : HTML(place),
                    .text(row.temperatureC.map { ShownValue($0, unit: "°C", in: caller.units).text }),
                ]
            }, empty: t("No older ones."))
        var links: [HTML] = []
        if behind != nil { links.append("<a class=\"btn small\" href=\"\(address("/sightings", []))\">Newest</a>") }
        if rows.count > SightingRoutes.rowsMax, let last = shown.last {
            let next = "\(last.seenMs)/\(last.site)/\(last.survey)/\(last.sighting)"
            links.append(
                "<a class=\"btn small\" href=\"\(address("/sightings", [("behind", next)]))\" rel=\"next\">Older sightings</a>"
            )
        }
        return table + (links.isEmpty ? "" : "<p>\(links.joined(separator: " · "))</p>")
    }

    /// Links to the survey for people who may open it.
    private func survey(_ row: SightingExport.Listed) -> HTML {
        let name: HTML = "\(row.site) \(row.survey)"
        guard !caller.roles.isDisjoint(with: SurveyRoutes.people) else { return name }
        return "<a href=\"/surveys/\(encoded: row.site)/\(encoded: row.survey)\">\(name)</a>"
    }
}
