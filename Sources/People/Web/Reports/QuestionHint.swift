internal import Presentation
internal import Storage

/// Where in a statement the fault stands that PostgreSQL tells of, and what was meant perhaps: from its message, which names the word.
struct QuestionHint: Equatable {
    /// From 1; nil: the word stands on several lines, or on none.
    let line: Int?
    let advice: String?

    /// - Parameter columns: by view.
    init(_ message: String, statement: String, columns: [String: [String]]) {
        guard let fault = Fault(message) else {
            (line, advice) = (nil, nil)
            return
        }
        let lines = statement.split(separator: "\n", omittingEmptySubsequences: false)
        switch fault {
        case .end:
            line = lines.lastIndex { $0.contains { !$0.isWhitespace } }.map { $0 + 1 }
            advice = t("Something is missing at the end: a bracket, a name or a FROM.")
        case .relation(let name):
            line = QuestionHint.line(of: name, lines)
            advice = QuestionHint.nearest(name, columns.keys.sorted()).map { t("Did you mean \($0)?") }
        case .column(let name):
            line = QuestionHint.line(of: name, lines)
            if statement.contains("\"\(name)\"") {
                advice = t("Texts stand in single quotes: '\(name)'.")
            } else {
                let words = Set(statement.lowercased().split { !QuestionHint.isOfName($0) }.map(String.init))
                let asked = columns.filter { words.contains($0.key) }
                let names = (asked.isEmpty ? columns : asked).values.joined()
                advice = QuestionHint.nearest(name, Set(names).sorted()).map { t("Did you mean \($0)?") }
            }
        case .word(let name):
            line = QuestionHint.line(of: name, lines)
            advice = nil
        }
    }

    private enum Fault {
        case end
        case relation(String)
        case column(String)
        case word(String)

        init?(_ message: String) {
            let isUnknown = message.contains("does not exist")
            if message.contains("at end of input") {
                self = .end
            } else if isUnknown, let name = QuestionHint.word(after: "relation ", in: message) {
                self = .relation(name)
            } else if isUnknown, let name = QuestionHint.word(after: "column ", in: message) {
                self = .column(name)
            } else if let name = QuestionHint.word(after: "at or near ", in: message)
                ?? QuestionHint.word(after: "entry for table ", in: message)
                ?? QuestionHint.word(after: "column ", in: message)
                ?? QuestionHint.word(after: "function ", in: message)
            {
                self = .word(name)
            } else {
                return nil
            }
        }
    }

    /// The name behind these words, without what stands before its last point: `own.trips` is `trips`.
    private static func word(after lead: String, in message: String) -> String? {
        guard let start = message.firstRange(of: lead)?.upperBound else { return nil }
        let rest = message[start...]
        let name =
            rest.hasPrefix("\"")
            ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { !$0.isWhitespace && $0 != "(" }
        let last = name.split(separator: ".").last.map(String.init) ?? ""
        return last.isEmpty ? nil : last
    }

    private static func line(of name: String, _ lines: [Substring]) -> Int? {
        let word = name.lowercased()
        let found = lines.indices.filter { index in
            let line = lines[index].lowercased()
            // A sign has no letters around it that would make it another word.
            guard word.allSatisfy(isOfName) else { return line.contains(word) }
            return line.split { !isOfName($0) }.contains { $0 == word }
        }
        return found.count == 1 ? found[0] + 1 : nil
    }

    private static func isOfName(_ sign: Character) -> Bool { sign.isLetter || sign.isNumber || sign == "_" }

    /// Within a third of its letters.
    private static func nearest(_ name: String, _ names: [String]) -> String? {
        let word = name.lowercased()
        let ranked = names.map { (name: $0, far: EditDistance.between(word, $0)) }
        return ranked.min { ($0.far, $0.name) < ($1.far, $1.name) }.flatMap {
            $0.far > 0 && $0.far <= max(1, word.count / 3) ? $0.name : nil
        }
    }
}
