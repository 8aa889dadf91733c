/// What stands between two tags of blocks: at most one text, with what surrounds it.
enum LiteralRun {
    /// Adds the run's text in the language, or as it is.
    static func add(_ tokens: [LiteralText.Token], to pieces: inout LiteralPieces, _ look: (String) -> String?) {
        let partners = partners(tokens)
        // A tag whose other end is elsewhere is no part of a sentence.
        let odd = tokens.indices.filter { if case .tag = tokens[$0], partners[$0] == nil { true } else { false } }
        guard odd.isEmpty else {
            var from = 0
            for place in odd {
                add(Array(tokens[from..<place]), to: &pieces, look)
                put(tokens[place...place], &pieces, look)
                from = place + 1
            }
            add(Array(tokens[from...]), to: &pieces, look)
            return
        }
        guard let text = trimmed(tokens, partners) else { return put(tokens[...], &pieces, look) }
        guard isSentence(tokens[text.range], partners) else {
            return addElements(of: tokens, partners, to: &pieces, look)
        }
        let inner = tokens[text.range]
        put(tokens[..<text.range.lowerBound], &pieces, look)
        let key = key(inner, partners)
        if let found = look(key.text) {
            pieces.add(text.before)
            put(found, key, &pieces, look)
            pieces.add(text.after)
        } else {
            put(inner, &pieces, look)
        }
        put(tokens[text.range.upperBound...], &pieces, look)
    }

    /// Whether words stand between its elements; else these are a list of links, a name and its value.
    private static func isSentence(_ tokens: ArraySlice<LiteralText.Token>, _ partners: [Int: Int]) -> Bool {
        var place = tokens.startIndex
        while place < tokens.endIndex {
            switch tokens[place] {
            case .text(let signs) where LiteralText.hasLetter(signs): return true
            case .tag: place = max(place, partners[place] ?? place)
            case .text, .value, .cut: break
            }
            place += 1
        }
        return false
    }

    /// Each element is a text of its own.
    private static func addElements(
        of tokens: [LiteralText.Token], _ partners: [Int: Int], to pieces: inout LiteralPieces,
        _ look: (String) -> String?
    ) {
        var place = 0
        while place < tokens.count {
            put(tokens[place...place], &pieces, look)
            if case .tag(let name, _, _) = tokens[place], let end = partners[place], end > place {
                let inner = tokens[(place + 1)..<end]
                if LiteralText.verbatim.contains(name) {
                    put(inner, &pieces, look)
                } else {
                    add(Array(inner), to: &pieces, look)
                }
                put(tokens[end...end], &pieces, look)
                place = end
            }
            place += 1
        }
    }

    /// As it stands in the source, but for attributes.
    private static func put(
        _ tokens: ArraySlice<LiteralText.Token>, _ pieces: inout LiteralPieces, _ look: (String) -> String?
    ) {
        for token in tokens {
            switch token {
            case .text(let signs): pieces.add(signs)
            case .value(let index): pieces.add(value: index)
            case .tag(_, _, let source), .cut(let source): pieces.add(LiteralAttributes.translated(source, look))
            }
        }
    }

    private static func put(_ found: String, _ key: Key, _ pieces: inout LiteralPieces, _ look: (String) -> String?) {
        for part in Marks.parts(found) {
            switch part {
            case .text(let text): pieces.add(text)
            case .value(let number) where key.values.indices.contains(number - 1):
                pieces.add(value: key.values[number - 1])
            case .tag(let name) where key.tags[name] != nil:
                pieces.add(LiteralAttributes.translated(key.tags[name]!, look))
            case .value, .tag: break
            }
        }
    }

    /// The other end of each tag, by place; a tag without one is not there. `wbr` is its own.
    private static func partners(_ tokens: [LiteralText.Token]) -> [Int: Int] {
        var (partners, open): ([Int: Int], [(name: String, place: Int)]) = ([:], [])
        for (place, token) in tokens.enumerated() {
            guard case .tag(let name, let isEnd, _) = token else { continue }
            if name == "wbr" {
                partners[place] = place
            } else if !isEnd {
                open.append((name, place))
            } else if let index = open.lastIndex(where: { $0.name == name }) {
                partners[place] = open[index].place
                partners[open[index].place] = place
                open.removeSubrange(index...)
            }
        }
        return partners
    }

    // MARK: Trimming

    private struct Trimmed {
        var range: Range<Int>
        /// White space that belongs to the first and the last token, and not to the text.
        var before: LiteralText.Signs = []
        var after: LiteralText.Signs = []
    }

    /// Without what surrounds the text: white space, icons, a tag around all of it. Nil: there is no text.
    private static func trimmed(_ tokens: [LiteralText.Token], _ partners: [Int: Int]) -> Trimmed? {
        var range = tokens.startIndex..<tokens.endIndex
        while let first = range.first, let last = range.last {
            if case .tag(let name, _, _) = tokens[first], partners[first] == last, first != last {
                if LiteralText.verbatim.contains(name) { return nil }
                range = first + 1..<last
            } else if let next = dropped(tokens, partners, from: first, range) {
                range = next + 1..<range.upperBound
            } else if let next = droppedAtEnd(tokens, partners, from: last, range) {
                range = range.lowerBound..<next
            } else {
                break
            }
        }
        guard
            tokens[range].contains(where: {
                if case .text(let signs) = $0 { LiteralText.hasLetter(signs) } else { false }
            })
        else { return nil }
        var trimmed = Trimmed(range: range)
        if case .text(let signs) = tokens[range.lowerBound] {
            trimmed.before = Array(signs.prefix(while: LiteralText.isSpace))
        }
        if case .text(let signs) = tokens[range.upperBound - 1] {
            trimmed.after = signs.reversed().prefix(while: LiteralText.isSpace).reversed()
        }
        return trimmed
    }

    /// The last place of what is no part of the text at its beginning; nil: it is.
    private static func dropped(
        _ tokens: [LiteralText.Token], _ partners: [Int: Int], from first: Int, _ range: Range<Int>
    ) -> Int? {
        switch tokens[first] {
        case .text(let signs): return signs.allSatisfy(LiteralText.isSpace) ? first : nil
        case .value:
            guard first + 1 < range.upperBound else { return first }
            // An icon stands close to its word; the value of a sentence has a space behind it.
            return touches(tokens[first + 1], isEnd: false) ? first : nil
        case .tag:
            guard let end = partners[first] else { return nil }
            return isEmpty(tokens[min(first, end)...max(first, end)]) ? end : nil
        case .cut: return first
        }
    }

    private static func droppedAtEnd(
        _ tokens: [LiteralText.Token], _ partners: [Int: Int], from last: Int, _ range: Range<Int>
    ) -> Int? {
        switch tokens[last] {
        case .text(let signs): return signs.allSatisfy(LiteralText.isSpace) ? last : nil
        case .value:
            guard last > range.lowerBound else { return last }
            return touches(tokens[last - 1], isEnd: true) ? last : nil
        case .tag:
            guard let start = partners[last] else { return nil }
            return isEmpty(tokens[min(start, last)...max(start, last)]) ? start : nil
        case .cut: return last
        }
    }

    private static func touches(_ token: LiteralText.Token, isEnd: Bool) -> Bool {
        switch token {
        case .text(let signs): (isEnd ? signs.last : signs.first).map(LiteralText.isLetter) ?? false
        case .tag(_, let isClosing, _): isClosing == isEnd
        case .value, .cut: true
        }
    }

    /// Neither a letter nor a value: a dot, a key.
    private static func isEmpty(_ tokens: ArraySlice<LiteralText.Token>) -> Bool {
        tokens.allSatisfy { token in
            switch token {
            case .text(let signs): !LiteralText.hasLetter(signs)
            case .value: false
            case .tag, .cut: true
            }
        }
    }

    // MARK: The key

    private struct Key {
        var text = ""
        /// Indices of the values, by number.
        var values: [Int] = []
        /// By name in the text: `a`, `/a`, `a2`.
        var tags: [String: LiteralText.Signs] = [:]
    }

    private static func key(_ tokens: ArraySlice<LiteralText.Token>, _ partners: [Int: Int]) -> Key {
        var (key, text, names, counts): (Key, LiteralText.Signs, [Int: String], [String: Int]) = (Key(), [], [:], [:])
        for place in tokens.indices {
            switch tokens[place] {
            case .text(let signs): text += signs
            case .value(let index):
                key.values.append(index)
                text += "%\(key.values.count)".unicodeScalars
            case .tag(let name, let isEnd, let source):
                var numbered = name
                if isEnd {
                    numbered = "/" + (partners[place].flatMap { names[$0] } ?? name)
                } else {
                    counts[name, default: 0] += 1
                    if counts[name]! > 1 { numbered += "\(counts[name]!)" }
                    names[place] = numbered
                }
                key.tags[numbered] = source
                text += "<\(numbered)>".unicodeScalars
            case .cut: break
            }
        }
        key.text = collapsed(text)
        return key
    }

    /// White space as browsers see it, and none around.
    static func collapsed(_ signs: LiteralText.Signs) -> String {
        var (text, isSpace) = ("", false)
        for sign in signs {
            if LiteralText.isSpace(sign) {
                isSpace = true
            } else {
                if isSpace, !text.isEmpty { text += " " }
                isSpace = false
                text.unicodeScalars.append(sign)
            }
        }
        return text
    }
}
