/// A taxonomy as a CSV file: `taxon,name,rank,parent,authorship,sensitive,synonyms,common_names`; the last two hold names
/// with `|` between them. Only `taxon`, `name` and `rank` must be there.
package struct TaxonomyFile: Equatable, Sendable {
    package struct Taxon: Equatable, Sendable {
        package let taxon, name, rank: String
        package let parent, authorship: String?
        package let isSensitive: Bool
        package let synonyms, commonNames: [String]
    }

    package typealias Fault = NamedRows.Fault

    package static let taxaMax = 1_000_000
    private static let ranks: Set<String> = [
        "kingdom", "phylum", "class", "order", "superfamily", "family", "subfamily", "tribe", "genus", "subgenus",
        "species", "subspecies", "variety", "form",
    ]

    package private(set) var taxa: [Taxon] = []

    package init(_ bytes: [UInt8]) throws(Fault) {
        let file = try NamedRows(bytes)
        guard file.has("taxon", "name", "rank") else { throw Fault("needs the columns taxon, name and rank") }
        guard file.rows.count <= TaxonomyFile.taxaMax else { throw Fault("more than \(TaxonomyFile.taxaMax) taxa") }
        var (keys, names): (Set<String>, Set<String>) = ([], [])
        for row in file.rows {
            let taxon = try TaxonomyFile.taxon(row)
            guard keys.insert(taxon.taxon).inserted else {
                throw Fault("line \(row.line): `taxon` stands there before")
            }
            guard names.insert(TaxonName.folded(taxon.name)).inserted else {
                throw Fault("line \(row.line): `name` is the accepted name of another taxon")
            }
            taxa.append(taxon)
        }
        for (row, taxon) in zip(file.rows, taxa) {
            if let parent = taxon.parent, !keys.contains(parent) {
                throw Fault("line \(row.line): `parent` is no taxon of the file")
            }
        }
    }

    private static func taxon(_ row: NamedRows.Row) throws(Fault) -> Taxon {
        guard let key = row["taxon"], key.utf8.count <= 64, isPlain(key) else {
            throw Fault("line \(row.line): `taxon` must be a text of 1 to 64 bytes")
        }
        guard let name = row["name"].map(trimmed), (1...200).contains(name.utf8.count), isPlain(name) else {
            throw Fault("line \(row.line): `name` must be a text of 1 to 200 bytes")
        }
        guard let rank = row["rank"], ranks.contains(rank) else {
            throw Fault("line \(row.line): `rank` must be one of \(ranks.sorted().joined(separator: ", "))")
        }
        let sensitive = row["sensitive"] ?? "no"
        guard sensitive == "yes" || sensitive == "no" else {
            throw Fault("line \(row.line): `sensitive` must be yes or no")
        }
        func list(_ column: String) throws(Fault) -> [String] {
            let names = (row[column] ?? "").split(separator: "|").map { trimmed(String($0)) }.filter { !$0.isEmpty }
            guard names.count <= 100, names.allSatisfy({ $0.utf8.count <= 200 && isPlain($0) }) else {
                throw Fault("line \(row.line): `\(column)` holds at most 100 names of at most 200 bytes")
            }
            return names
        }
        return Taxon(
            taxon: key, name: name, rank: rank, parent: row["parent"], authorship: row["authorship"].map(trimmed),
            isSensitive: sensitive == "yes", synonyms: try list("synonyms"), commonNames: try list("common_names"))
    }

    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    private static func isPlain(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0.value >= 0x20 } }

    /// Every name with its taxon: folded, each once per taxon, the better kind of name first.
    package var names: [(name: String, taxon: String, kind: TaxonName.Kind, given: String)] {
        taxa.flatMap { taxon in
            let all =
                [(taxon.name, TaxonName.Kind.accepted)] + taxon.synonyms.map { ($0, .synonym) }
                + taxon.commonNames.map { ($0, .common) }
            var seen: Set<String> = []
            return all.compactMap { given, kind in
                let name = TaxonName.folded(given)
                return seen.insert(name).inserted ? (name, taxon.taxon, kind, given) : nil
            }
        }
    }
}
