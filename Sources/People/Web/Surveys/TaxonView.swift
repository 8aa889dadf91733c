internal import Presentation
internal import Storage

/// The taxonomy, level by level, with the way to the sightings of each.
enum TaxonView {
    static let rowsMax = 1_000

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
        let title = above.map { "\($0.name), \($0.rank)" } ?? "Taxonomy"
        var links: [HTML] = [
            "<a href=\"/sightings\">Sightings</a>", "<a href=\"/sightings/taxa\">Top of the taxonomy</a>",
        ]
        if let above {
            if let parent = above.parent {
                links.append("<a href=\"/sightings/taxa?of=\(encoded: parent)\">One level up</a>")
            }
            links.append(
                "<a href=\"/sightings?taxon=\(encoded: above.name)\">Sightings of all of \(above.name)</a>"
            )
        }
        return """
            <h1>\(title)</h1>
            <p>\(links.joined(separator: " · "))</p>
            \(HTML.table(
                caption: above.map { "Below \($0.name)" } ?? "Top level",
                headers: [.prose("Name"), .text("Rank"), .word("Seen")], rows: rows,
                empty: "Nothing is below it. `drover taxonomy load` loads a taxonomy."))
            \(children.count == rowsMax ? "<p class=\"warning\">There are more than \(rowsMax).</p>" : "")
            """
    }
}
