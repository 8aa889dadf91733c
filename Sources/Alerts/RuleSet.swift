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
