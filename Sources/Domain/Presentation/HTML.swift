/// HTML that may go to a browser as it is. It is made of literals, which stand in our sources and are trusted, and of interpolations,
/// which are escaped unless they are HTML: a mistake escapes too much, never too little.
///
///     let row: HTML = "<tr><td title=\"\(note)\">\(name)</td></tr>"
///
/// A value stands as text, or between the quotes of an attribute. A part of an address is `\(encoded: id)`.
package struct HTML: Equatable, Sendable {
    /// The text that is sent.
    package private(set) var markup: String

    package init() { markup = "" }

    /// A text, escaped.
    package init(_ text: String) {
        markup = ""
        HTML.append(text, to: &markup)
    }

    package var isEmpty: Bool { markup.isEmpty }

    package static func + (left: HTML, right: HTML) -> HTML {
        var sum = left
        sum += right
        return sum
    }

    package static func += (left: inout HTML, right: HTML) { left.markup += right.markup }

    private static let signs = Array("&<>\"'".utf8)

    /// With the signs escaped that would end a text or an attribute's value.
    private static func append(_ text: String, to markup: inout String) {
        guard text.utf8.contains(where: signs.contains) else {
            markup += text
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": markup += "&amp;"
            case "<": markup += "&lt;"
            case ">": markup += "&gt;"
            case "\"": markup += "&quot;"
            case "'": markup += "&#39;"
            default: markup.unicodeScalars.append(scalar)
            }
        }
    }
}

// `StaticString`, not `String`: what was read or computed cannot be passed off as a literal.
extension HTML: ExpressibleByStringInterpolation {
    package init(stringLiteral literal: StaticString) {
        markup = Language.current?.html(literal.description, []) ?? literal.description
    }

    package init(stringInterpolation parts: StringInterpolation) { markup = parts.whole }

    /// What stands between its tags is in the reader's language; its values are as they are.
    package struct StringInterpolation: StringInterpolationProtocol {
        /// The HTML; of another language than English the literal alone, with places for its values.
        private var markup = ""
        private var values: [String] = []
        private let language: Language?

        package init(literalCapacity: Int, interpolationCount: Int) {
            language = Language.current
            markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        fileprivate var whole: String { language?.html(markup, values) ?? markup }

        package mutating func appendLiteral(_ literal: StaticString) { markup += literal.description }

        private mutating func append(_ part: String) {
            guard language != nil else { return markup += part }
            markup.unicodeScalars.append(LiteralText.place(values.count))
            values.append(part)
        }

        package mutating func appendInterpolation(_ part: HTML) { append(part.markup) }

        /// Nothing where there is none.
        package mutating func appendInterpolation(_ part: HTML?) { append(part?.markup ?? "") }

        /// `\(" checked", if: isChosen)`: a part that is there or not.
        package mutating func appendInterpolation(_ part: HTML, if isThere: Bool) { append(isThere ? part.markup : "") }

        // Disfavored, so that literals between the parentheses are HTML, too: "\(isOpen ? "<b>open</b>" : "over")".
        @_disfavoredOverload
        package mutating func appendInterpolation(_ text: String) {
            guard language != nil else { return HTML.append(text, to: &markup) }
            append(HTML(text).markup)
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { append(String(number)) }

        /// A segment of a path, or a name or value of a query.
        package mutating func appendInterpolation(encoded text: String) { append(URLText.escaped(text)) }
    }
}

extension Sequence<HTML> {
    package func joined(separator: HTML = "") -> HTML {
        var (all, isFirst) = (HTML(), true)
        for part in self {
            if !isFirst { all += separator }
            all += part
            isFirst = false
        }
        return all
    }
}

extension DefaultStringInterpolation {
    // A text that holds HTML would be escaped wherever it ends up: its tags would be read by people.
    @available(*, unavailable, message: "HTML stands in HTML: give this literal the type HTML")
    package mutating func appendInterpolation(_ part: HTML) {}
    @available(*, unavailable, message: "HTML stands in HTML: give this literal the type HTML")
    package mutating func appendInterpolation(_ part: HTML?) {}
}
