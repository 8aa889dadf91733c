import App
import Settings

/// A command of `drover`: what it takes, what its help says and what it does.
struct Command: Sendable {
    struct Option: Sendable {
        let name: String
        /// The placeholder of its value; nil for a switch.
        let value: String?
        let help: String
        init(_ name: String, _ value: String? = nil, _ help: String) {
            self.name = name
            self.value = value
            self.help = help
        }
    }

    let name: String
    let operands: String
    let summary: String
    var options: [Option] = []
    let example: String
    let run: @Sendable (Arguments) throws -> ExitCode

    var help: String {
        var text = "drover \(name) \(operands)\n\(summary)\n\n"
        let rows = (options + [Option("--help", nil, "show this")]).map {
            (($0.name + ($0.value.map { " " + $0 } ?? "")), $0.help)
        }
        let width = rows.map(\.0.count).max() ?? 0
        for row in rows { text += "  " + row.0 + String(repeating: " ", count: width - row.0.count + 2) + row.1 + "\n" }
        return text + "\nExample:\n  \(example)\n"
    }
}

/// 0 done, 1 it could not be done (said why), 2 wrong use.
enum ExitCode: Int32 { case done = 0, failed = 1, wrongUse = 2 }

/// Arguments that the command does not take.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The options and operands that were typed, checked against the command's table.
struct Arguments {
    private(set) var operands: [String] = []
    private var options: [String: [String]] = [:]

    init(_ words: ArraySlice<String>, for command: Command) throws {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("--") else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard let option = command.options.first(where: { $0.name == parts[0] }) else {
                throw Arguments.unknown(parts[0], of: command)
            }
            if option.value == nil {
                guard parts.count == 1 else { throw UsageError("\(option.name) takes no value") }
                options[option.name, default: []].append("")
            } else if parts.count == 2 {
                options[option.name, default: []].append(parts[1])
            } else if let value = rest.popFirst() {
                options[option.name, default: []].append(value)
            } else {
                throw UsageError("\(option.name) needs a value: \(option.name) \(option.value!)")
            }
        }
    }

    private static func unknown(_ word: String, of command: Command) -> UsageError {
        let near = Nearest.word(to: word, of: command.options.map(\.name) + ["--help"])
        return UsageError(
            "\(word) is not an option of `drover \(command.name)`. " + (near.map { "Did you mean \($0)? " } ?? "")
                + "`drover \(command.name) --help` lists them")
    }

    func has(_ option: String) -> Bool { options[option] != nil }
    func text(_ option: String) -> String? { options[option]?.last }
    func texts(_ option: String) -> [String] { options[option] ?? [] }

    func one<T>(_ option: String, of choices: [String: T], standard: String) throws -> T {
        let word = text(option) ?? standard
        guard let choice = choices[word] else {
            throw UsageError("\(option) \(word): must be one of \(choices.keys.sorted().joined(separator: ", "))")
        }
        return choice
    }

    func integer(_ option: String, in range: ClosedRange<Int64>) throws -> Int64? {
        guard let word = text(option) else { return nil }
        guard let value = Int64(word), range.contains(value) else {
            throw UsageError("\(option) \(word): must be a whole number, \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func files() throws -> [String] {
        guard !operands.isEmpty else { throw UsageError("no FILE was named") }
        return operands
    }
}
