/// Reads entry by entry: gettext's manual, “The Format of PO Files”.
struct POReader {
    struct Entry {
        /// Where it begins.
        var line = 0
        var id = ""
        var plural: String?
        var forms: [String] = []
        var isFuzzy = false
        fileprivate var references: [Substring] = []

        var isForScripts: Bool { references.isEmpty || references.contains { $0.hasSuffix(".js") } }
    }

    private enum Place { case none, id, plural, context, form }

    private let lines: [Substring]
    private var at = 0

    init(_ file: String) {
        // Some editors begin with a mark of the byte order.
        lines = file.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false) { $0.isNewline }
    }

    /// Nil: that was the last.
    mutating func next() throws(Catalogue.Fault) -> Entry? {
        var (entry, place) = (Entry(), Place.none)
        while at < lines.count {
            let line = lines[at].drop { $0 == " " || $0 == "\t" }
            if line.isEmpty {
                at += 1
                continue
            }
            // The comments of the next entry begin where this one has its texts.
            if place == .form, line.hasPrefix("#") || line.hasPrefix("msgid ") || line.hasPrefix("msgctxt") { break }
            if line.hasPrefix("#") {
                if line.hasPrefix("#:") { entry.references += line.dropFirst(2).split(separator: " ") }
                if line.hasPrefix("#,") { entry.isFuzzy = entry.isFuzzy || line.contains("fuzzy") }
            } else {
                if entry.line == 0 { entry.line = at + 1 }
                try read(line, into: &entry, &place)
            }
            at += 1
        }
        guard place != .none else { return nil }
        guard place == .form else { throw fault("`\(entry.id)` has no msgstr", entry.line) }
        return entry
    }

    private func read(_ line: Substring, into entry: inout Entry, _ place: inout Place) throws(Catalogue.Fault) {
        guard let start = line.firstIndex(of: "\"") else {
            throw fault("`\(line.prefix(40))` is not understood", at + 1)
        }
        let keyword = line[..<start].filter { $0 != " " && $0 != "\t" }
        let text = try unquoted(line[start...])
        switch keyword {
        case "msgctxt" where place == .none: place = .context
        case "msgid" where place == .none || place == .context: (entry.id, place) = (text, .id)
        case "msgid_plural" where place == .id: (entry.plural, place) = (text, .plural)
        case "msgstr" where place == .id: (entry.forms, place) = ([text], .form)
        case "msgstr[\(entry.forms.count)]" where place == .plural || (place == .form && entry.plural != nil):
            entry.forms.append(text)
            place = .form
        case "":
            switch place {
            case .id: entry.id += text
            case .plural: entry.plural! += text
            case .form: entry.forms[entry.forms.count - 1] += text
            case .context: break
            case .none: throw fault("a text without a keyword", at + 1)
            }
        default: throw fault("`\(keyword)` does not stand here", at + 1)
        }
    }

    private static let escapes: [Character: Character] = ["n": "\n", "t": "\t", "\"": "\"", "\\": "\\"]

    private func unquoted(_ quoted: Substring) throws(Catalogue.Fault) -> String {
        var (text, isEscaped, isOver) = ("", false, false)
        for sign in quoted.dropFirst() {
            if isOver {
                guard sign == " " || sign == "\t" else { throw fault("something stands behind the text", at + 1) }
            } else if isEscaped {
                guard let plain = POReader.escapes[sign] else { throw fault("\\\(sign) is no escape", at + 1) }
                text.append(plain)
                isEscaped = false
            } else if sign == "\\" {
                isEscaped = true
            } else if sign == "\"" {
                isOver = true
            } else {
                text.append(sign)
            }
        }
        guard isOver else { throw fault("the text does not end", at + 1) }
        return text
    }

    private func fault(_ text: String, _ line: Int) -> Catalogue.Fault { Catalogue.Fault(line: line, text: text) }
}
