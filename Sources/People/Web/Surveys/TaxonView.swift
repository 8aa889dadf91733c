internal import Presentation
internal import Storage

/// The taxonomy, level by level, with the way to the sightings of each.
enum TaxonView {
    static let rowsMax = 1_000

    static func heading(above: TaxonQueries.Taxon?) -> PageHeading {
        PageHeading(
            above?.name ?? "Taxonomy", crumb: ("Sightings", "/sightings"),
            status: above.map { "<span class=\"faint small\">\($0.rank)</span>" } ?? "")
    }

    static func html(above: TaxonQueries.Taxon?, _ children: [TaxonQueries.Taxon]) -> HTML {
        let rows = children.map { taxon -> [HTML?] in
            let name = taxon.name
            let below: HTML =
                taxon.hasChildren ? "<a href=\"/sightings/taxa?of=\(encoded: taxon.taxon)\">\(name)</a>" : HTML(name)
            return [
                below, .text(taxon.rank),
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
                caption: above.map { "Below \($0.name)" } ?? "Top level",
                headers: [.prose("Name"), .text("Rank"), .word("Seen")], rows: rows,
                empty: "Nothing below it. Load a taxonomy with `drover taxonomy load`."))
            \(children.count == rowsMax ? "<p class=\"warning\">There are more than \(rowsMax).</p>" : "")
            """
    }
}
