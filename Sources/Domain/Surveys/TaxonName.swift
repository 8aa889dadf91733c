/// The match of a name that a surveyor gave.
package struct TaxonMatch: Equatable, Sendable {
    /// The accepted name; the one given, where none is known.
    package var name: String
    /// Nil: not known.
    package var taxon: String?
    package var isSensitive = false
    /// Why somebody should look at it; nil: no need.
    package var reviewReason: String?

    package init(name: String, taxon: String?, isSensitive: Bool = false, reviewReason: String? = nil) {
        self.name = name
        self.taxon = taxon
        self.isSensitive = isSensitive
        self.reviewReason = reviewReason
    }
}

/// Names of species, and how they are compared.
package enum TaxonName {
    package enum Kind: String, CaseIterable, Sendable { case accepted, synonym, common }

    /// A name's entry in a taxonomy.
    package struct Entry: Equatable, Sendable {
        package let kind: Kind
        package let taxon: String
        package let accepted: String
        package let isSensitive: Bool
        package init(kind: Kind, taxon: String, accepted: String, isSensitive: Bool) {
            self.kind = kind
            self.taxon = taxon
            self.accepted = accepted
            self.isSensitive = isSensitive
        }
    }

    /// Lower case, single blanks, none at the ends.
    package static func folded(_ name: String) -> String {
        name.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }

    /// An accepted name goes before a synonym, a synonym before a common name. A name of several taxa, or of none, stays as given.
    package static func match(_ given: String, _ entries: [Entry]) -> TaxonMatch {
        for kind in Kind.allCases {
            let found = entries.filter { $0.kind == kind }
            if found.count == 1 {
                return TaxonMatch(
                    name: found[0].accepted, taxon: found[0].taxon, isSensitive: found[0].isSensitive)
            }
            if found.count > 1 {
                let names = found.map(\.accepted).sorted().prefix(5).joined(separator: ", ")
                // It may be the protected one.
                return TaxonMatch(
                    name: given, taxon: nil, isSensitive: found.contains(where: \.isSensitive),
                    reviewReason: "the name stands for \(found.count) taxa: \(names)")
            }
        }
        return TaxonMatch(name: given, taxon: nil, reviewReason: "the name is not in the taxonomy")
    }
}
