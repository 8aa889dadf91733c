/// A part of a literal in a language: what stands there whatever the values are, and the values.
enum LiteralPiece: Sendable, Equatable {
    case fixed(String)
    case value(Int)
}

/// The texts of a literal of HTML. It is cut at the tags of blocks; what is left between them are runs. Tags within a sentence (`b`, `a`,
/// `code` …) belong to its run. Deploy/generate/words cuts by the same rules: a change of one is a change of both.
enum LiteralText {
    typealias Signs = [Unicode.Scalar]

    /// Stands for a value: a sign for private use, of which our sources have none.
    static func place(_ index: Int) -> Unicode.Scalar { Unicode.Scalar(0xF0000 + UInt32(index))! }

    static func index(_ sign: Unicode.Scalar) -> Int? {
        (0xF0000..<0x100000).contains(sign.value) ? Int(sign.value) - 0xF0000 : nil
    }

    /// Tags that stand within a sentence.
    static let inline: Set<String> = [
        "a", "abbr", "b", "bdi", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "samp", "small", "span",
        "strong", "sub", "sup", "time", "u", "var", "wbr",
    ]
    /// What stands in these alone is for machines.
    static let verbatim: Set<String> = ["code", "kbd", "samp", "var"]
    /// What is within is no text.
    static let raw: Set<String> = ["script", "style"]

    enum Token {
        case text(Signs)
        case value(Int)
        /// Complete, in its run. `end`: `</b>`.
        case tag(name: String, isEnd: Bool, source: Signs)
        /// Between runs: a block's tag, a comment, a tag that begins or ends in another literal.
        case cut(Signs)
    }

    /// - Parameter look: nil: the catalogue has no such text.
    static func translated(_ literal: String, _ look: (String) -> String?) -> [LiteralPiece] {
        var pieces = LiteralPieces()
        var run: [Token] = []
        let tokens = LiteralTokens.of(Array(literal.unicodeScalars))
        // Without a tag it is a name, a separator, a class.
        let hasTag = tokens.contains { token in
            switch token {
            case .tag, .cut: true
            case .text, .value: false
            }
        }
        guard hasTag else {
            pieces.add(literal.unicodeScalars)
            return pieces.all
        }
        for token in tokens {
            if case .cut(let source) = token {
                LiteralRun.add(run, to: &pieces, look)
                run = []
                pieces.add(LiteralAttributes.translated(source, look))
            } else {
                run.append(token)
            }
        }
        LiteralRun.add(run, to: &pieces, look)
        return pieces.all
    }

    /// Whether somebody reads it: it has a letter that is no part of a reference of a character.
    static func hasLetter(_ signs: some Sequence<Unicode.Scalar>) -> Bool {
        var isReference = false
        for sign in signs {
            if sign == "&" { isReference = true }
            if !isReference, isLetter(sign) { return true }
            if sign == ";" || isSpace(sign) { isReference = false }
        }
        return false
    }

    static func isLetter(_ sign: Unicode.Scalar) -> Bool { ("a"..."z").contains(sign) || ("A"..."Z").contains(sign) }

    static func isSpace(_ sign: Unicode.Scalar) -> Bool { [" ", "\n", "\t", "\r"].contains(sign) }
}

struct LiteralPieces {
    private(set) var all: [LiteralPiece] = []

    /// Each place becomes its value.
    mutating func add(_ signs: some Sequence<Unicode.Scalar>) {
        var text = ""
        for sign in signs {
            if let index = LiteralText.index(sign) {
                add(text)
                text = ""
                all.append(.value(index))
            } else {
                text.unicodeScalars.append(sign)
            }
        }
        add(text)
    }

    mutating func add(value index: Int) { all.append(.value(index)) }

    mutating func add(_ text: String) {
        guard !text.isEmpty else { return }
        if case .fixed(let before) = all.last {
            all[all.count - 1] = .fixed(before + text)
        } else {
            all.append(.fixed(text))
        }
    }
}

/// A literal as texts, values and tags.
enum LiteralTokens {
    static func of(_ signs: LiteralText.Signs) -> [LiteralText.Token] {
        var tokens: [LiteralText.Token] = []
        var (text, at): (LiteralText.Signs, Int) = ([], 0)
        let first = signs.firstIndex { $0 == "<" || $0 == ">" }
        // Attributes, or the end of a tag that began in another literal.
        guard let first else { return [.cut(signs)] }
        if signs[first] == ">" {
            tokens.append(.cut(Array(signs[...first])))
            at = first + 1
        }
        func flush() {
            if !text.isEmpty { tokens.append(.text(text)) }
            text = []
        }
        while at < signs.count {
            if let index = LiteralText.index(signs[at]) {
                flush()
                tokens.append(.value(index))
                at += 1
            } else if isTag(signs, at) {
                flush()
                let end = end(of: signs, at)
                tokens.append(token(Array(signs[at..<end])))
                at = end
            } else {
                text.append(signs[at])
                at += 1
            }
        }
        flush()
        return tokens
    }

    private static func isTag(_ signs: LiteralText.Signs, _ at: Int) -> Bool {
        guard signs[at] == "<", at + 1 < signs.count else { return false }
        let next = signs[at + 1]
        return LiteralText.isLetter(next) || next == "/" || next == "!" || LiteralText.index(next) != nil
    }

    /// Behind the tag; behind its whole content where that is no text.
    private static func end(of signs: LiteralText.Signs, _ at: Int) -> Int {
        if signs[at...].starts(with: "<!--".unicodeScalars) { return find("-->", in: signs, at) }
        var (place, isQuoted) = (at, false)
        while place < signs.count, isQuoted || signs[place] != ">" {
            if signs[place] == "\"" { isQuoted.toggle() }
            place += 1
        }
        let end = min(place + 1, signs.count)
        let name = name(signs[at..<end])
        guard signs[at + 1] != "/", LiteralText.raw.contains(name) else { return end }
        return find("</\(name)>", in: signs, end)
    }

    /// Behind it; the end where it is not there.
    private static func find(_ text: String, in signs: LiteralText.Signs, _ from: Int) -> Int {
        let wanted = Array(text.unicodeScalars)
        var place = from
        while place < signs.count {
            if signs[place...].starts(with: wanted) { return place + wanted.count }
            place += 1
        }
        return signs.count
    }

    private static func name(_ tag: some Sequence<Unicode.Scalar>) -> String {
        let letters = tag.drop { $0 == "<" || $0 == "/" }
            .prefix { LiteralText.isLetter($0) || ("0"..."9").contains($0) || $0 == "-" }
        return Marks.string(letters).lowercased()
    }

    private static func token(_ source: LiteralText.Signs) -> LiteralText.Token {
        let name = name(source)
        guard source.last == ">", LiteralText.inline.contains(name) else { return .cut(source) }
        return .tag(name: name, isEnd: source[1] == "/", source: source)
    }
}

/// The attributes that people read: `title`, `aria-label`, `placeholder`, `alt`, and the `content` of a page's description.
enum LiteralAttributes {
    static let names: Set<String> = ["title", "aria-label", "placeholder", "alt"]

    /// - Parameter source: a tag, whole or not, or attributes alone.
    static func translated(_ source: LiteralText.Signs, _ look: (String) -> String?) -> LiteralText.Signs {
        var (done, at): (LiteralText.Signs, Int) = ([], 0)
        let isDescription = Marks.string(source).hasPrefix("<meta name=\"description\"")
        while at < source.count {
            done.append(source[at])
            at += 1
            guard at >= 2, source[at - 1] == "\"", source[at - 2] == "=" else { continue }
            guard let end = source[at...].firstIndex(of: "\"") else { break }
            let name = name(before: at - 2, in: source)
            let isText = names.contains(name) || (isDescription && name == "content")
            done += isText ? value(source[at..<end], look) : Array(source[at..<end])
            done.append("\"")
            at = end + 1
        }
        return done + source[at...]
    }

    private static func name(before end: Int, in source: LiteralText.Signs) -> String {
        var start = end
        while start > 0, LiteralText.isLetter(source[start - 1]) || source[start - 1] == "-" { start -= 1 }
        // `data-title` is another one, which the loop above has taken whole.
        return Marks.string(source[start..<end])
    }

    private static func value(_ signs: ArraySlice<Unicode.Scalar>, _ look: (String) -> String?) -> LiteralText.Signs {
        guard LiteralText.hasLetter(signs) else { return Array(signs) }
        let (key, values) = key(signs)
        guard let found = look(key) else { return Array(signs) }
        var value: LiteralText.Signs = []
        for part in Marks.parts(found) {
            if case .value(let number) = part, values.indices.contains(number - 1) {
                value.append(LiteralText.place(values[number - 1]))
            } else {
                value += part.source.replacing("\"", with: "&quot;").unicodeScalars
            }
        }
        return value
    }

    static func key(_ signs: some Sequence<Unicode.Scalar>) -> (key: String, values: [Int]) {
        var (text, values): (LiteralText.Signs, [Int]) = ([], [])
        for sign in signs {
            if let index = LiteralText.index(sign) {
                values.append(index)
                text += "%\(values.count)".unicodeScalars
            } else {
                text.append(sign)
            }
        }
        return (LiteralRun.collapsed(text), values)
    }
}
