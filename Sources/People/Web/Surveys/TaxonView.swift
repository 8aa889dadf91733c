internal import Presentation
internal import Storage

/// The taxonomy, level by level, with the way to the sightings of each.
enum TaxonView {
    static let rowsMax = 1_000

    static func heading(above: TaxonQueries.Taxon?) -> PageHeading {
        PageHeading(
            above?.name ?? t("Taxonomy"), crumb: (t("Sightings"), "/sightings"),
            status: above.map { "<span class=\"faint small\">\(rank($0.rank))</span>" } ?? "")
    }

    /// Ranks that have pages of their own; the sightings of the others are those of what is below them.
    static func hasPage(_ rank: String) -> Bool { ["species", "subspecies", "variety", "form"].contains(rank) }

    /// Ranks by the names that lists of species have.
    private enum Rank: String {
        case kingdom, phylum, `class`, order, superfamily, family, subfamily, tribe, genus, subgenus, species
        case subspecies, variety, form
    }

    static func rank(_ rank: String) -> String {
        switch Rank(rawValue: rank) {
        case .kingdom: t("kingdom")
        case .phylum: t("phylum")
        case .class: t("class")
        case .order: t("order")
        case .superfamily: t("superfamily")
        case .family: t("family")
        case .subfamily: t("subfamily")
        case .tribe: t("tribe")
        case .genus: t("genus")
        case .subgenus: t("subgenus")
        case .species: t("species")
        case .subspecies: t("subspecies")
        case .variety: t("variety")
        case .form: t("form")
        case nil: rank
        }
    }

    static func html(above: TaxonQueries.Taxon?, _ children: [TaxonQueries.Taxon]) -> HTML {
        let rows = children.map { taxon -> [HTML?] in
            let name = taxon.name
            let below: HTML =
                taxon.hasChildren ? "<a href=\"/sightings/taxa?of=\(encoded: taxon.taxon)\">\(name)</a>" : HTML(name)
            return [
                below, .text(rank(taxon.rank)),
                "<a href=\"/sightings?taxon=\(encoded: taxon.name)\" aria-label=\"Sightings of \(name)\">Sightings</a>",
            ]
        }
        var links: [HTML] = [
            "<a class=\"btn small\" href=\"/sightings/taxa\">Top of the taxonomy</a>"
        ]
        if let above {
            if let parent = above.parent {
                links.append("<a class=\"btn small\" href=\"/sightings/taxa?of=\(encoded: parent)\">One level up</a>")
            }
            links.append(
                "<a class=\"btn small\" href=\"/sightings?taxon=\(encoded: above.name)\">Sightings of all \(above.name)</a>"
            )
        }
        return """
            <div class="row wrap tools">\(links.joined(separator: " "))</div>
            \(HTML.table(
                caption: above.map { t("Below \($0.name)") } ?? t("Top level"),
                headers: [.prose(t("Name")), .text(t("Rank")), .word(t("Seen"))], rows: rows,
                empty: t("Nothing below it. Load a taxonomy with `drover taxonomy load`.")))
            \(children.count == rowsMax ? "<p class=\"warning\">There are more than \(rowsMax).</p>" : "")
            """
    }
}
