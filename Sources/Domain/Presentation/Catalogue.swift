/// The texts of one language, read from a file of gettext's form (`fi.po`). One that would break a page is refused whole.
package struct Catalogue: Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package let text: String
        package var description: String { "line \(line): \(text)" }
    }

    struct Entry: Sendable {
        /// One, or as many as the rule of plurals has.
        let forms: [String]
        let isPlural: Bool
        /// A script shows it, or nothing says where it stands.
        let isForScripts: Bool
    }

    package static let bytesMax = 4 << 20
    package static let entriesMax = 20_000

    let entries: [String: Entry]
    let rule: PluralRule

    package init(po file: String) throws(Fault) {
        guard file.utf8.count <= Catalogue.bytesMax else {
            throw Fault(line: 1, text: "the file is longer than \(Catalogue.bytesMax >> 20) MB")
        }
        var (reader, entries, rule) = (POReader(file), [String: Entry](), PluralRule.english)
        var isFirst = true
        while let entry = try reader.next() {
            guard !entry.id.isEmpty else {
                guard isFirst else {
                    throw Fault(line: entry.line, text: "msgid is empty: the header comes first, once")
                }
                isFirst = false
                rule = try Catalogue.rule(entry)
                continue
            }
            isFirst = false
            // What nobody has translated yet, and what a program guessed, stays English.
            guard !entry.isFuzzy, !entry.forms.isEmpty, entry.forms.allSatisfy({ !$0.isEmpty }) else { continue }
            guard entries[entry.id] == nil else {
                throw Fault(line: entry.line, text: "`\(entry.id)` stands there twice")
            }
            guard entries.count < Catalogue.entriesMax else {
                throw Fault(line: entry.line, text: "more than \(Catalogue.entriesMax) texts")
            }
            try Catalogue.check(entry, rule)
            entries[entry.id] = Entry(
                forms: entry.forms, isPlural: entry.plural != nil, isForScripts: entry.isForScripts)
        }
        (self.entries, self.rule) = (entries, rule)
    }

    private static func check(_ entry: POReader.Entry, _ rule: PluralRule) throws(Fault) {
        let wanted = entry.plural == nil ? 1 : rule.forms
        guard entry.forms.count == wanted else {
            throw Fault(line: entry.line, text: "`\(entry.id)` has \(entry.forms.count) forms, must have \(wanted)")
        }
        for form in entry.forms {
            if let why = Marks.fault(form, of: [entry.id] + (entry.plural.map { [$0] } ?? [])) {
                throw Fault(line: entry.line, text: "`\(entry.id)`: \(why)")
            }
        }
    }

    private static func rule(_ header: POReader.Entry) throws(Fault) -> PluralRule {
        let fields = (header.forms.first ?? "").split(separator: "\n")
        func field(_ name: String) -> String? {
            fields.first { $0.lowercased().hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) }
        }
        if let type = field("content-type"), !type.lowercased().contains("charset=utf-8") {
            throw Fault(line: header.line, text: "the file must be UTF-8: Content-Type says\(type)")
        }
        guard let text = field("plural-forms") else { return .english }
        do throws(PluralRule.Fault) { return try PluralRule(text) } catch {
            throw Fault(line: header.line, text: error.description)
        }
    }
}
