/// `analyst.trip` in a statement, as documents have it, is `own.trip` in a question: the same view behind its fence. Not in texts,
/// quoted names and comments. What is taken wrongly is a wrong name, and nothing else: PostgreSQL looks at what comes of it.
package enum QuestionNames {
    package static func own(_ statement: String) -> String {
        let bytes = Array(statement.utf8)
        var (made, place) = ([UInt8](), 0)
        while place < bytes.count {
            let end = quoted(bytes, place) ?? word(bytes, place)
            let part = bytes[place..<end]
            made += isAnalyst(part) && dot(bytes, end) ? Array("own".utf8) : Array(part)
            place = end
        }
        // A statement may end as in psql.
        while let last = made.last, [0x3B, 0x20, 0x0A, 0x0D, 0x09].contains(last) { made.removeLast() }
        return String(decoding: made, as: UTF8.self)
    }

    private static func isAnalyst(_ part: ArraySlice<UInt8>) -> Bool {
        String(decoding: part, as: UTF8.self).lowercased() == "analyst"
    }

    private static func dot(_ bytes: [UInt8], _ place: Int) -> Bool {
        bytes[place...].first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } == UInt8(ascii: ".")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    /// Behind a whole word, or behind one byte of anything else.
    private static func word(_ bytes: [UInt8], _ place: Int) -> Int {
        let end = bytes[place...].firstIndex { !isOfName($0) } ?? bytes.count
        return max(end, place + 1)
    }

    /// Behind a text, a quoted name or a comment that begins here; nil: none does.
    private static func quoted(_ bytes: [UInt8], _ place: Int) -> Int? {
        let rest = bytes[place...]
        if rest.starts(with: "--".utf8) { return rest.firstIndex(of: 0x0A) ?? bytes.count }
        if rest.starts(with: "/*".utf8) { return comment(bytes, place) }
        if let mark = rest.first, mark == UInt8(ascii: "'") || mark == UInt8(ascii: "\"") {
            return rest.dropFirst().firstIndex(of: mark).map { $0 + 1 } ?? bytes.count
        }
        return rest.first == UInt8(ascii: "$") ? dollars(bytes, place) : nil
    }

    /// Comments nest.
    private static func comment(_ bytes: [UInt8], _ place: Int) -> Int {
        var (depth, at) = (0, place)
        while at < bytes.count {
            let isOpen = bytes[at...].starts(with: "/*".utf8)
            guard isOpen || bytes[at...].starts(with: "*/".utf8) else {
                at += 1
                continue
            }
            depth = depth + (isOpen ? 1 : -1)
            at = at + 2
            if depth == 0 { return at }
        }
        return bytes.count
    }

    /// `$tag$ … $tag$`
    private static func dollars(_ bytes: [UInt8], _ place: Int) -> Int? {
        guard let close = bytes[(place + 1)...].firstIndex(where: { $0 == UInt8(ascii: "$") || !isOfName($0) }),
            bytes[close] == UInt8(ascii: "$")
        else { return nil }
        let tag = bytes[place...close]
        var at = close + 1
        while at + tag.count <= bytes.count, !bytes[at...].starts(with: tag) { at += 1 }
        return min(at + tag.count, bytes.count)
    }
}
