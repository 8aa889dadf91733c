internal import Basics
internal import Presentation
internal import Storage
internal import Surveys

/// A species like in a field guide: its names, when it flies, where it was met, how it was counted.
struct SpeciesView {
    struct Found {
        let figures: SightingExport.Figures
        let grid: SightingExport.Grid?
        let protocols: [(name: String?, count: SightingExport.Count)]
        let newest: [SightingExport.Listed]
    }

    static let newestMax = 10

    let name: String
    /// Nil: the taxonomy does not have it.
    let known: SpeciesQueries.Species?
    /// Nil: it could not be counted in time.
    let found: Found?
    let caller: PageCaller
    let seesPlaces: Bool

    private var sightings: String { "/sightings?taxon=" + URLText.escaped(name) }

    var heading: PageHeading {
        PageHeading(
            known?.common.first ?? name, crumb: (t("Species"), "/sightings/species"),
            status: """
                \("<em class=\"faint small\">\(name)</em> ", if: known?.common.first != nil)\
                \(HTML.pill("quiet", t("Places hidden")), if: known?.isSensitive == true)
                """,
            actions: "<a class=\"btn primary\" href=\"\(sightings)\">All sightings</a>")
    }

    func html(_ base: BaseMap) -> HTML {
        guard let found else {
            return """
                \(names)
                <p class="warning">Too many sightings to count here. <a href="\(sightings)">Choose a time or an area</a></p>
                """
        }
        guard found.figures.all.sightings > 0 else {
            return """
                \(names)
                <section class="card">\(HTML.emptyState(.sighting, t("Not seen yet"), .t("Its season and places show here once a survey has met it.")))</section>
                """
        }
        return """
            \(SightingView.tiles(found.figures))
            <div class="split"><div class="stack">
            \(SeasonBars(weeks: found.figures.weeks).html)
            \(map(found, base))
            </div><div class="stack">
            \(names)
            \(protocols(found.protocols))
            </div></div>
            \(newest(found.newest))
            """
    }

    // MARK: What it is

    private var names: HTML {
        guard let known else {
            return
                "<section class=\"card\"><div class=\"body\"><p>The taxonomy does not have <em>\(name)</em>: it is a name as surveyors gave it.</p></div></section>"
        }
        let pairs: [(String, HTML?)] = [
            (t("Scientific name"), "<em>\(known.name)</em> \(known.authorship ?? "")"),
            (t("Common names"), .text(known.common.isEmpty ? nil : known.common.joined(separator: ", "))),
            (t("Synonyms"), .text(known.synonyms.isEmpty ? nil : known.synonyms.joined(separator: ", "))),
            (t("Family"), known.family.map { "<a href=\"/sightings?taxon=\(encoded: $0)\">\($0)</a>" }),
            (t("Genus"), "<a href=\"/sightings?taxon=\(encoded: known.genus)\"><em>\(known.genus)</em></a>"),
            (t("Places"), known.isSensitive ? .t("Hidden: most people see the middle of a cell of 0.1°") : nil),
        ]
        let rows: [HTML] = pairs.compactMap { label, value in value.map { "<dt>\(label)</dt><dd>\($0)</dd>" } }
        return
            "<section class=\"card\" aria-labelledby=\"names\"><header><h2 id=\"names\">Names</h2></header><div class=\"body\"><dl>\(rows.joined())</dl></div></section>"
    }

    // MARK: Where, and how

    private func map(_ found: Found, _ base: BaseMap) -> HTML {
        guard let grid = found.grid, !grid.cells.isEmpty else { return "<p class=\"soft\">No position is known.</p>" }
        let cells = grid.cells.map { "\($0.row),\($0.column),\($0.count.sightings),\($0.count.individuals)" }
        let step = Decimal.text(Decimal.scaled(grid.step, decimals: 4) ?? 0, decimals: 4)
        return """
            <section class="card" aria-labelledby="where"><header><h2 id="where">Where</h2></header>
            <div id="map" class="map" role="region" aria-label="Map of the sightings by cells; the list below has the newest" \
            data-step="\(step)" data-cells="\(cells.joined(separator: " "))" \(base.attributes)></div>
            \(seesPlaces || known?.isSensitive != true ? "" : "<p class=\"body soft\">Sensitive: shown in the middle of a cell of 0.1°.</p>")
            </section>
            """
    }

    private func protocols(_ protocols: [(name: String?, count: SightingExport.Count)]) -> HTML {
        HTML.table(
            caption: t("How it was counted"),
            headers: [.text(t("Protocol")), .number(t("Sightings")), .number(t("Individuals"))],
            rows: protocols.map {
                [.text($0.name ?? t("None named")), "\($0.count.sightings)", "\($0.count.individuals)"]
            },
            empty: "")
    }

    private func newest(_ rows: [SightingExport.Listed]) -> HTML {
        HTML.table(
            caption: t("Last seen"),
            headers: [
                .word(t("Seen (\(caller.clock.zone))")), .number(t("Individuals")), .text(t("Behaviour")),
                .text(t("Site")),
            ],
            rows: rows.map { row in
                let isOpen = !caller.roles.isDisjoint(with: SurveyRoutes.people)
                return [
                    caller.clock.html(row.seenMs), "\(row.individuals)", .text(row.behaviour),
                    isOpen ? SurveyListView.link(row.site, row.survey, row.site) : HTML(row.site),
                ]
            }, empty: "", narrow: .cards)
    }
}

/// When in the year: individuals by week, all years together.
struct SeasonBars {
    let weeks: [(year: Int, week: Int, count: SightingExport.Count)]

    private static let (width, height, bar) = (530, 120, 10)

    var html: HTML {
        var counts = [Int](repeating: 0, count: 53)
        for entry in weeks { counts[entry.week - 1] += entry.count.individuals }
        let most = max(1, counts.max() ?? 1)
        let best = (counts.firstIndex(of: most) ?? 0) + 1
        let bars: [HTML] = counts.enumerated().filter { $0.element > 0 }.map { week, count in
            let tall = max(2, count * SeasonBars.height / most)
            return
                "<rect x=\"\(week * SeasonBars.bar + 1)\" y=\"\(SeasonBars.height - tall)\" width=\"8\" height=\"\(tall)\"><title>\(t("Week \(week + 1): \(count)"))</title></rect>"
        }
        let months: [HTML] = English.months.enumerated().map { month, name in
            "<text x=\"\(month * SeasonBars.width / 12 + SeasonBars.width / 24)\" y=\"136\">\(name)</text>"
        }
        let first = (counts.firstIndex { $0 > 0 } ?? 0) + 1
        let last = (counts.lastIndex { $0 > 0 } ?? 0) + 1
        let rows = counts.enumerated().filter { $0.element > 0 }.map { week, count -> [HTML?] in
            ["\(week + 1)", "\(count)"]
        }
        return """
            <section class="card" aria-labelledby="season"><header><h2 id="season">Season</h2></header><div class="body">
            <svg class="season" viewBox="0 0 \(SeasonBars.width) 142" role="img" aria-label="\(t("Individuals by week of the year, most in week \(best)"))">\(bars.joined())\(months.joined())</svg>
            <p class="soft">Met from week \(first) to week \(last), most often in week \(best). All years together.</p>
            <details><summary>The season as a table</summary>\(HTML.table(
                caption: t("Individuals by week of the year"), headers: [.number(t("Week")), .number(t("Individuals"))], rows: rows, empty: ""))</details>
            </div></section>
            """
    }
}
