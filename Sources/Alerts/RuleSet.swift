internal import Fleet

/// The rules of all models, as one versioned value.
public struct RuleSet: Equatable, Sendable {
    private let models: [String: [Threshold]]
    /// The same rules have the same version, in every process.
    public let version: String

    public init(_ models: [String: [Threshold]]) {
        self.models = models
        var hash = StableHash()
        for (model, thresholds) in models.sorted(by: { $0.key < $1.key }) {
            hash.add(field: model)
            // Their order in the file does not matter.
            for text in thresholds.map(\.canonicalText).sorted() { hash.add(field: text) }
        }
        version = hash.hex64
    }

    public var modelNames: [String] { models.keys.sorted() }

    /// What is judged for a model, in a fixed order. A model without thresholds raises nothing.
    func judged(_ model: String) -> [(parameter: Int, threshold: Threshold)] {
        (models[model] ?? []).compactMap { threshold in
            threshold.judged.map { (Int($0.rawValue), threshold) }
        }.sorted { $0.0 < $1.0 }
    }
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

extension Threshold {
    /// All values in a fixed form: the version of a rule set must not change with the names of our fields.
    fileprivate var canonicalText: String {
        let numbers = [threshold, critical, holdMs, clear, absentMs, every, recommended, capacity]
        let texts = [name, test.rawValue, unit, type.rawValue, audience.rawValue, advice ?? ""]
        return (texts + numbers.map { $0.map { String($0) } ?? "" }).joined(separator: "\u{1F}")
    }
}
