internal import Synchronization

/// A language that pages are read in, beside English: its texts by the English ones, which stand in the source. What it lacks stays English.
package final class Language: Sendable {
    /// The one that the page under way is made in; nil: English. It belongs to the thread that makes the page (`Response.then` of the page
    /// takes it along), never to the installation.
    @TaskLocal package static var current: Language?

    /// Of `<html lang>`, for the language of the page under way.
    package static var currentTag: String { current?.tag ?? "en" }

    /// One for each literal of the sources, of which there are fewer.
    private static let literalsMax = 20_000

    /// BCP 47: `fi`, `pt-BR`.
    package let tag: String
    /// How many texts it has.
    package var count: Int { entries.count }
    private let entries: [String: Catalogue.Entry]
    private let rule: PluralRule
    private let literals = Mutex<[String: [LiteralPiece]]>([:])

    package init(tag: String, _ catalogue: Catalogue) {
        self.tag = tag
        (entries, rule) = (catalogue.entries, catalogue.rule)
    }

    func text(_ phrase: Phrase) -> String? {
        entries[phrase.key].map { Language.filled($0.forms[0], phrase.values) }
    }

    func text(_ count: Int, _ one: Phrase, _ many: Phrase) -> String? {
        guard let entry = entries[one.key], entry.isPlural else { return nil }
        let form = entry.forms[min(rule.form(of: count), entry.forms.count - 1)]
        // Either may leave its number out: “one row”.
        return Language.filled(form, many.values.count < one.values.count ? one.values : many.values)
    }

    /// In one pass, so that a value with a per cent sign in it is left alone.
    private static func filled(_ text: String, _ values: [String]) -> String {
        guard !values.isEmpty else { return text }
        var filled = ""
        for part in Marks.parts(text) {
            switch part {
            case .value(let number) where values.indices.contains(number - 1): filled += values[number - 1]
            case .value, .tag: filled += part.source
            case .text(let text): filled += text
            }
        }
        return filled
    }

    /// A literal of HTML with its texts in this language.
    /// - Parameters:
    ///   - literal: as the source has it, a `LiteralText.place` for each value.
    ///   - values: HTML.
    func html(_ literal: String, _ values: [String]) -> String {
        let pieces = literals.withLock { $0[literal] } ?? kept(literal)
        var markup = ""
        for piece in pieces {
            switch piece {
            case .fixed(let text): markup += text
            case .value(let index): markup += values[index]
            }
        }
        return markup
    }

    private func kept(_ literal: String) -> [LiteralPiece] {
        let pieces = LiteralText.translated(literal) { entries[$0]?.forms[0] }
        literals.withLock { if $0.count < Language.literalsMax { $0[literal] = pieces } }
        return pieces
    }

    // MARK: For scripts

    /// The texts that scripts show, and the rule of plurals, as JSON: `{"rule":…,"texts":{"%1 row":["%1 rivi","%1 riviä"]}}`.
    package func scriptTexts(quoted: (String) -> String) -> String {
        let texts = entries.filter(\.value.isForScripts).sorted { $0.key < $1.key }.map { key, entry in
            "\(quoted(key)):[\(entry.forms.map(quoted).joined(separator: ","))]"
        }
        return "{\"rule\":\(rule.json),\"texts\":{\(texts.joined(separator: ","))}}"
    }
}
