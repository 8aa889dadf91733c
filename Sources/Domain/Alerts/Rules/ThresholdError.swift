/// Everything that is wrong with the threshold files that were read, not only the first mistake.
public struct ThresholdError: Error, Equatable, CustomStringConvertible {
    public static let problemsMax = 100

    /// In the order of the files, at most `problemsMax`.
    public let problems: [ThresholdProblem]

    public init(problems: [ThresholdProblem]) { self.problems = Array(problems.prefix(ThresholdError.problemsMax)) }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One mistake: file, line, element, the value, why it is wrong, and what is accepted.
public struct ThresholdProblem: Equatable, Sendable, CustomStringConvertible {
    public enum Reason: Equatable, Sendable {
        case notXML(String)
        case notAccepted([String])
        case notNumber
        case outOfRange(least: Int64, most: Int64)
        case tooLong(bytesMax: Int)
        case missing(accepted: String)
        case unknownElement(accepted: [String])
        case repeated(firstLine: Int)
        case tooMany(max: Int)
        /// Right by itself, wrong beside another element or in this place.
        case contradicts(String)
    }

    public var file: String
    public var line: Int
    public var element: String
    public var value: String?
    public var reason: Reason

    public var description: String {
        let found = value.map { "is \"\(ThresholdProblem.printable($0))\", " } ?? ""
        return
            "\(ThresholdProblem.printable(file)):\(line): <\(ThresholdProblem.printable(element))>: \(found)\(reason.text)"
    }

    /// The same for who fills in a form: without file and line, and the element by its field's name there.
    public func text(named label: String) -> String {
        let found = value.map { "is \"\(ThresholdProblem.printable($0))\", " } ?? ""
        return "\(label): \(found)\(why)"
    }

    /// Only what is accepted, for who reads it beside the field: `must be a number such as 65 or 65.5.`
    public var why: String {
        if case .contradicts = reason, reason.text.hasPrefix(element + " ") {
            return String(reason.text.dropFirst(element.count + 1))
        }
        return reason.text
    }

    /// A value of a hostile file must not break the line of a log: short, and without control characters.
    private static func printable(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(80).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? "?" : Character(scalar)
        }
        return String(shown) + (text.unicodeScalars.count > 80 ? "…" : "")
    }
}

extension ThresholdProblem.Reason {
    var text: String {
        switch self {
        case .notXML(let why): "the file cannot be read: \(why)."
        case .notAccepted(let accepted): "must be one of: \(accepted.joined(separator: ", "))."
        case .notNumber: "must be a number such as 65 or 65.5."
        case .outOfRange(let least, let most): "must be a number from \(least) to \(most)."
        case .tooLong(let bytesMax): "must not be longer than \(bytesMax) bytes."
        case .missing(let accepted): "is missing; accepted: \(accepted)."
        case .unknownElement(let accepted):
            "is not an element of this file; accepted: \(accepted.joined(separator: ", "))."
        case .repeated(let firstLine): "stands a second time, first in line \(firstLine). Keep one of them."
        case .tooMany(let max): "stands more than \(max) times."
        case .contradicts(let why): "\(why)."
        }
    }
}
