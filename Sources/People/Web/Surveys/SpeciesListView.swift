internal import Presentation
internal import Storage

/// The species that were seen, by family and genus, or those that a name was looked for of.
struct SpeciesListView {
    let search: String
    let species: [SpeciesQueries.Species]
    /// Nil: it could not be counted in time.
    let seen: [SightingExport.Seen]?

    static var heading: PageHeading {
        PageHeading(
            t("Species"), crumb: (t("Sightings"), "/sightings"),
            actions: "<a class=\"btn\" href=\"/sightings/taxa\">\(HTML.icon(.butterfly))Taxonomy</a>")
    }

    var html: HTML {
        let counts = Dictionary((seen ?? []).map { ($0.name, $0) }) { first, _ in first }
        var families: [(name: String?, species: [SpeciesQueries.Species])] = []
        for one in species {
            if families.last?.name != one.family || families.isEmpty { families.append((one.family, [])) }
            families[families.count - 1].species.append(one)
        }
        let lists = families.map { family in
            HTML.table(
                caption: family.name ?? t("Other species"),
                headers: [
                    .prose(t("Species")), .prose(t("Other names")), .text(t("Genus")), .number(t("Sightings")),
                    .number(t("Individuals")), .word(t("Last seen")),
                ],
                rows: family.species.map { row($0, counts[$0.name]) }, empty: "", narrow: .cards)
        }
        return """
            <form class="filter" method="get" action="/sightings/species" role="search">
            <div><label for="search">Name of a species, genus or family</label>
            <input id="search" name="search" type="search" maxlength="100" value="\(search)" list="taxa" autocomplete="off"></div>
            <datalist id="taxa" data-names="/sightings/names?search="></datalist>
            <button class="btn primary">Search</button>
            </form>
            \(seen == nil ? "<p class=\"warning\">Too many sightings to count here. Each species has its own page.</p>" : "")
            \(lists.joined(separator: "\n"))
            \(lists.isEmpty && (seen != nil || !search.isEmpty) ? empty : "")
            """
    }

    private func row(_ one: SpeciesQueries.Species, _ seen: SightingExport.Seen?) -> [HTML?] {
        let common = one.common.first
        let name: HTML = common.map { "<b>\($0)</b>" } ?? "<em>\(one.name)</em>"
        let scientific: HTML = "<br><em class=\"faint small\">\(one.name)</em>"
        let hidden: HTML = " \(HTML.pill("quiet", t("Places hidden")))"
        return [
            "<a href=\"/sightings/species/\(encoded: one.name)\">\(name)</a>\(scientific, if: common != nil)\(hidden, if: one.isSensitive)",
            .text(one.common.dropFirst().joined(separator: ", ")), .text(one.genus),
            seen.map { "\($0.count.sightings)" }, seen.map { "\($0.count.individuals)" }, .text(seen?.lastDay),
        ]
    }

    private var empty: HTML {
        let (title, more): (String, HTML) =
            search.isEmpty
            ? (t("No species seen yet"), .t("A species shows here once a survey has met it."))
            : (t("No name begins with “\(search)”"), .t("Try fewer letters, or a scientific name."))
        return "<section class=\"card\">\(HTML.emptyState(.sighting, title, more))</section>"
    }
}
