internal import Fleet

/// The rules of all models, as one versioned value.
public struct RuleSet: Equatable, Sendable {
    let models: [String: [Threshold]]
    /// The canonical text (RuleText.swift): the same rules have the same one.
    public let text: String
    /// Made of the text: the same in every process.
    public let version: String
    private let judgedOf: [String: [(parameter: MachineParameter, threshold: Threshold)]]

    /// Judges nothing.
    public static let empty = RuleSet([:])

    /// The order of a model's thresholds does not matter.
    public init(_ models: [String: [Threshold]]) {
        self.models = models.mapValues { $0.sorted { $0.line < $1.line } }
        text = RuleSet.text(of: self.models)
        var hash = StableHash()
        hash.add(field: text)
        version = hash.hex64
        judgedOf = models.mapValues { thresholds in
            thresholds.compactMap { threshold in threshold.judged.map { ($0, threshold) } }
                .sorted { $0.0.rawValue < $1.0.rawValue }
        }
    }

    public static func == (a: RuleSet, b: RuleSet) -> Bool { a.version == b.version && a.models == b.models }

    public var modelNames: [String] { models.keys.sorted() }

    /// What is judged for a model, in a fixed order. A model without thresholds raises nothing.
    func judged(_ model: String) -> [(parameter: MachineParameter, threshold: Threshold)] { judgedOf[model] ?? [] }
}

/// The list of models (`tractors.xml`): `<root><model><name>…</name><image>…</image></model>…</root>`.
public enum ModelList {
    public static func parse(fileName: String, bytes: [UInt8]) throws(ThresholdError) -> [String] {
        let root = try XMLReader.root(of: bytes, fileName: fileName)
        var (names, problems): ([String], [ThresholdProblem]) = ([], [])
        for element in root.children {
            let name = element.children.first { $0.name == "name" }?.text.split(whereSeparator: \.isWhitespace).joined(
                separator: " ")
            if element.name == "model", let name, !name.isEmpty {
                names.append(name)
            } else {
                problems.append(
                    ThresholdProblem(
                        file: fileName, line: element.line, element: element.name, value: nil,
                        reason: .missing(accepted: "<model> with a <name>")))
            }
        }
        guard problems.isEmpty else { throw ThresholdError(problems: problems) }
        return names
    }
}
