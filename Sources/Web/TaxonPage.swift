internal import Reports
internal import Storage

/// The taxonomy, level by level, with the way to the sightings of each.
enum TaxonPage {
    static let rowsMax = 1_000

    static func html(above: TaxonReads.Taxon?, _ children: [TaxonReads.Taxon]) -> String {
        let rows = children.map { taxon -> [String?] in
            let name = HTMLText.escaped(taxon.name)
            let below =
                taxon.hasChildren ? "<a href=\"/sightings/taxa?of=\(Address.escaped(taxon.taxon))\">\(name)</a>" : name
            return [
                below, taxon.rank,
                "<a href=\"/sightings?taxon=\(Address.escaped(taxon.name))\" aria-label=\"Sightings of \(name)\">Sightings</a>",
            ]
        }
        let title = above.map { "\($0.name), \($0.rank)" } ?? "Taxonomy"
        var links = ["<a href=\"/sightings\">Sightings</a>", "<a href=\"/sightings/taxa\">Top of the taxonomy</a>"]
        if let above {
            if let parent = above.parent {
                links.append("<a href=\"/sightings/taxa?of=\(Address.escaped(parent))\">One level up</a>")
            }
            links.append(
                "<a href=\"/sightings?taxon=\(Address.escaped(above.name))\">Sightings of all of \(HTMLText.escaped(above.name))</a>"
            )
        }
        return """
            <h1>\(HTMLText.escaped(title))</h1>
            <p>\(links.joined(separator: " · "))</p>
            \(HTMLText.table(
                caption: above.map { "Below \($0.name)" } ?? "Top level",
                headers: [.htmlProse("Name"), .text("Rank"), .html("Seen")], rows: rows,
                empty: "Nothing is below it. `drover taxonomy load` loads a taxonomy."))
            \(children.count == rowsMax ? "<p class=\"warning\">There are more than \(rowsMax).</p>" : "")
            """
    }
}
