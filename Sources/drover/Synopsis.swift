import Settings

/// The words that a command takes beside its options, read from the line that its help begins with: so what is shown
/// is what is held. `list | put FLEET | add FLEET VEHICLE…`: small letters are typed as they stand.
struct Synopsis {
    private struct Form {
        var literals: [String] = []
        /// As it is shown, behind the literals.
        var placeholders: [String] = []
        var least = 0
        /// Nil: as many as there are.
        var most: Int? = 0
        var text: String { (literals + placeholders).joined(separator: " ") }

        func takes(_ words: [String]) -> Bool {
            guard words.starts(with: literals) else { return false }
            let count = words.count - literals.count
            return count >= least && most.map { count <= $0 } ?? true
        }
    }

    private let command: String
    private let forms: [Form]

    init(_ command: Command) {
        self.command = command.name
        let valued = Set(command.options.filter { $0.value != nil }.map(\.name))
        forms = Synopsis.split(command.operands, at: "|").map { Synopsis.form($0, valued) }
    }

    /// - Throws: `UsageError`, before the command has touched anything.
    func check(_ words: [String]) throws {
        guard !forms.contains(where: { $0.takes(words) }) else { return }
        throw UsageError(fault(words))
    }

    private func fault(_ words: [String]) -> String {
        let begun = forms.filter { !$0.literals.isEmpty && words.starts(with: $0.literals) }
        if let form = begun.max(by: { $0.literals.count < $1.literals.count }) ?? plain { return fault(words, form) }
        guard let first = words.first else { return say }
        let known = forms.compactMap(\.literals.first)
        let isBegun = known.contains(first)
        let word = isBegun ? words.prefix(2).joined(separator: " ") : first
        let near = isBegun ? nil : Nearest.word(to: first, of: known)
        return "unknown word `\(word)`. \(near.map { "Did you mean `\($0)`? " } ?? "")\(say)"
    }

    /// Of commands whose words are all placeholders, or that take none.
    private var plain: Form? { forms.first { $0.literals.isEmpty } }

    private func fault(_ words: [String], _ form: Form) -> String {
        let count = words.count - form.literals.count
        guard count >= form.least else {
            let missing = "no \(form.placeholders[count].filter { $0 != "…" }) was named"
            let verb = form.literals.joined(separator: " ")
            return verb.isEmpty ? missing : "\(verb) takes \(form.placeholders.joined(separator: " ")): \(missing)"
        }
        return "unknown word `\(words[form.literals.count + (form.most ?? 0)])`. \(say)"
    }

    /// What could have been typed.
    private var say: String {
        if forms.count == 1, let form = forms.first, form.text.isEmpty {
            let longer = Commands.all.map(\.name).filter { $0.hasPrefix(command + " ") }.map { "`drover \($0)`" }
            let others = longer.isEmpty ? "" : "; there are \(longer.joined(separator: ", ")), too"
            return "`drover \(command)` takes options only\(others)"
        }
        return "say " + forms.map { "`\($0.text)`" }.joined(separator: ", ")
    }

    // MARK: Reading the line

    private static func form(_ text: String, _ valued: Set<String>) -> Form {
        var form = Form()
        var isValue = false
        for word in split(text, at: " ") {
            defer { isValue = valued.contains(word) }
            if isValue || word.hasPrefix("-") || word.hasPrefix("[-") || word == "[options]" { continue }
            take(word, &form)
        }
        return form
    }

    private static func take(_ word: String, _ form: inout Form) {
        switch word.first {
        case "[": allow(split(String(word.dropFirst().dropLast()), at: " "), as: word, &form)
        // Of one in brackets the others are options.
        case "(":
            let choices = split(String(word.dropFirst().dropLast()), at: "|").filter { !$0.hasPrefix("-") }
            allow(split(choices.first ?? "", at: " "), as: word, &form)
        case _ where word == word.lowercased():
            form.literals.append(word)
        default:
            form.placeholders.append(word)
            form.least += 1
            form.most = word.hasSuffix("…") ? nil : form.most.map { $0 + 1 }
        }
    }

    /// Words that may be left out.
    private static func allow(_ words: [String], as text: String, _ form: inout Form) {
        form.placeholders.append(text)
        let isEndless = words.contains { $0.contains("…") }
        form.most = isEndless ? nil : form.most.map { $0 + words.count }
    }

    /// At a mark that stands in no brackets.
    private static func split(_ text: String, at mark: Character) -> [String] {
        var (parts, depth) = ([""], 0)
        for character in text {
            if "[(".contains(character) { depth += 1 }
            if "])".contains(character) { depth -= 1 }
            if character == mark, depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        let whole = parts.map { $0.filter { $0 != "\n" }.trimmed }
        return mark == " " ? whole.filter { !$0.isEmpty } : whole
    }
}

extension String {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
