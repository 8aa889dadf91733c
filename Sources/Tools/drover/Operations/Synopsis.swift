import App
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
        /// `set`, or `settings set`.
        func isCalled(_ label: String) -> Bool {
            literals.contains(label) || !label.isEmpty && label == literals.joined(separator: " ")
        }

        var text: String { (literals + placeholders).joined(separator: " ") }

        func matches(_ words: [String]) -> Bool {
            guard words.starts(with: literals) else { return false }
            let count = words.count - literals.count
            return count >= least && most.map { count <= $0 } ?? true
        }
    }

    private let command: String
    private let options: [Command.Option]
    private let forms: [Form]

    init(_ command: Command) {
        self.command = command.name
        options = command.options
        let valued = Set(command.options.filter { $0.value != nil }.map(\.name))
        forms = Synopsis.split(command.operands, at: "|").map { Synopsis.form($0, valued) }
    }

    /// - Throws: `UsageError`, before the command has touched anything.
    func check(_ arguments: Arguments) throws {
        let words = arguments.operands
        let taken = forms.filter { $0.matches(words) }
        guard let form = taken.max(by: { $0.literals.count < $1.literals.count }) else {
            throw UsageError(fault(words))
        }
        for option in options where arguments.has(option.name) { try check(option, of: form) }
    }

    /// An option of one verb would do nothing beside another. Whose it is its help says first: `add, take: machine or car`.
    private func check(_ option: Command.Option, of form: Form) throws {
        let whose = verbs(of: option)
        guard !whose.isEmpty, !whose.contains(where: form.isCalled), form.literals != ["all"] else { return }
        let names = whose.map { "`drover \(command) \($0)`" }.joined(separator: ", ")
        throw UsageError("\(option.name) is for \(names): `\(form.literals.joined(separator: " "))` does not take it")
    }

    /// Empty: of all. `add: …; next: …` is of both; what begins without a verb is of all.
    private func verbs(of option: Command.Option) -> [String] {
        let parts = option.help.split(separator: ";").map { part in
            let labels = part.split(separator: ":", maxSplits: 1)
            guard labels.count == 2 else { return [String]() }
            // `retry --all` is of `retry`.
            let names = labels[0].split(separator: ",").map { $0.split(separator: " -").first ?? "" }
            return names.map { String($0).trimmed }.filter { name in forms.contains { $0.isCalled(name) } }
        }
        return parts.first?.isEmpty == false ? parts.flatMap(\.self) : []
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

    /// The form of commands whose words are all placeholders, or that take none.
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

    /// A sentence on the words that could have been typed.
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
            read(word, &form)
        }
        return form
    }

    private static func read(_ word: String, _ form: inout Form) {
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
