/// A text of ours, with the values that stand in it: `t("Last heard \(age) ago")`. Its literal is the key in the catalogue; its values are
/// never looked up, so that data cannot become text of ours.
package struct Phrase: ExpressibleByStringInterpolation, Sendable {
    /// The text as the catalogue has it: `Last heard %1 ago`. Empty where the reader's language is English: nothing is looked up then.
    let key: String
    let values: [String]
    /// The text as it stands in the source, with its values: for programs and files.
    package let inEnglish: String

    // `StaticString`, not `String`: what was read or computed cannot be passed off as a text of ours.
    package init(stringLiteral literal: StaticString) {
        inEnglish = literal.description
        (key, values) = (inEnglish, [])
    }

    package init(stringInterpolation parts: StringInterpolation) {
        (key, values, inEnglish) = (parts.key, parts.values, parts.english)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var english = ""
        fileprivate var key = ""
        fileprivate var values: [String] = []
        private let isForeign: Bool

        package init(literalCapacity: Int, interpolationCount: Int) {
            isForeign = Language.current != nil
            english.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            english += literal.description
            if isForeign { key += literal.description }
        }

        package mutating func appendInterpolation(_ value: String) {
            english += value
            guard isForeign else { return }
            values.append(value)
            key += "%\(values.count)"
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { appendInterpolation(String(number)) }
    }
}

/// The text in the reader's language.
package func t(_ phrase: Phrase) -> String { Language.current?.text(phrase) ?? phrase.inEnglish }

/// The text for that many: `t(rows, one: "\(rows) row", many: "\(rows) rows")`.
package func t(_ count: some BinaryInteger, one: Phrase, many: Phrase) -> String {
    Language.current?.text(Int(clamping: count), one, many) ?? (count == 1 ? one : many).inEnglish
}

extension HTML {
    /// The text in the reader's language, escaped: for HTML of which nothing is a tag.
    package static func t(_ phrase: Phrase) -> HTML { HTML(Presentation.t(phrase)) }
}
