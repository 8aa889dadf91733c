/// What stands in a text of the catalogue beside words: values as `%1`, tags as `<b>`, `</b>`, and `<b2>` for the second of a name.
/// A per cent sign before anything but a digit is itself, and so is a `<` before anything but a letter or `/`.
enum Marks {
    enum Part: Equatable {
        case text(String)
        case value(Int)
        /// `b`, `/b`, `b2`
        case tag(String)

        var source: String {
            switch self {
            case .text(let text): text
            case .value(let number): "%\(number)"
            case .tag(let name): "<\(name)>"
            }
        }
    }

    static func parts(_ text: String) -> [Part] {
        let signs = Array(text.unicodeScalars)
        var (parts, plain, at): ([Part], String, Int) = ([], "", 0)
        func add(_ part: Part) {
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(part)
        }
        while at < signs.count {
            let rest = signs[(at + 1)...]
            if signs[at] == "%" {
                let digits = rest.prefix(3).prefix { ("0"..."9").contains($0) }
                if let number = Int(string(digits)) {
                    add(.value(number))
                    at += 1 + digits.count
                    continue
                }
            } else if signs[at] == "<" {
                let name = rest.prefix(20).prefix { $0 == "/" || ("a"..."z").contains($0) || ("0"..."9").contains($0) }
                let end = at + 1 + name.count
                if let first = name.first, !("0"..."9").contains(first), end < signs.count, signs[end] == ">" {
                    add(.tag(string(name)))
                    at = end + 1
                    continue
                }
            }
            plain.unicodeScalars.append(signs[at])
            at += 1
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        return parts
    }

    static func string(_ signs: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: signs)
        return text
    }

    /// Why a translation would break a page; nil: it would not.
    /// - Parameter english: one text, or the two of a plural, of which either may leave its number out.
    static func fault(_ translation: String, of english: [String]) -> String? {
        let wanted = english.map { parts($0).filter(\.isMark) }
        let had = parts(translation).filter(\.isMark)
        let must = wanted[0].filter { mark in wanted.allSatisfy { $0.contains(mark) } }
        if let missing = must.first(where: { !had.contains($0) }) { return "\(missing.source) is missing" }
        for (place, mark) in had.enumerated() {
            guard wanted.contains(where: { $0.contains(mark) }) else {
                return "\(mark.source) is not in the English text"
            }
            if had[..<place].contains(mark) { return "\(mark.source) stands there twice" }
        }
        return faultOfNesting(had) ?? faultOfSigns(translation, english)
    }

    private static func faultOfNesting(_ marks: [Part]) -> String? {
        var open: [String] = []
        for case .tag(let name) in marks {
            if !name.hasPrefix("/") {
                // `wbr` has no end.
                if name.prefix(3) != "wbr" { open.append(name) }
            } else if open.popLast() != String(name.dropFirst()) {
                return "<\(name)> closes another tag"
            }
        }
        return open.last.map { "<\($0)> is not closed" }
    }

    /// Where the English text is written as HTML, so is its translation; where it is plain, a sign of HTML would show as such, or worse.
    private static func faultOfSigns(_ translation: String, _ english: [String]) -> String? {
        let isHTML = english.contains {
            references($0).whole > 0 || parts($0).contains { if case .tag = $0 { true } else { false } }
        }
        let (whole, bare) = references(translation)
        let hadBare = english.contains { references($0).bare > 0 }
        if isHTML, bare > 0 { return "& is written &amp; here" }
        if !isHTML, whole > 0 { return "& stands for itself here, not for a sign" }
        if !isHTML, bare > 0, !hadBare { return "& is not in the English text: write a word" }
        let plain = Marks.plain(translation)
        // Beside its tags: `<b>` in the English text is no leave for `<img src=x>`.
        if plain.contains("<"), !english.contains(where: { Marks.plain($0).contains("<") }) {
            return "< is not in the English text"
        }
        if plain.unicodeScalars.contains(where: { LiteralText.index($0) != nil }) {
            return "it has a sign for private use, which stands for a value here"
        }
        if plain.contains(where: { $0.isASCII && ($0.asciiValue ?? 32) < 32 }) {
            return "it has a line break or another control"
        }
        return nil
    }

    /// What is no value and no tag.
    private static func plain(_ text: String) -> String {
        parts(text).compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
    }

    /// References of characters, and signs that are none.
    private static func references(_ text: String) -> (whole: Int, bare: Int) {
        var counts = (whole: 0, bare: 0)
        for part in text.split(separator: "&", omittingEmptySubsequences: false).dropFirst() {
            let name = part.prefix(12).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "#") }
            if !name.isEmpty, name.endIndex < part.endIndex, part[name.endIndex] == ";" {
                counts.whole += 1
            } else {
                counts.bare += 1
            }
        }
        return counts
    }
}

extension Marks.Part {
    var isMark: Bool { if case .text = self { false } else { true } }
}
