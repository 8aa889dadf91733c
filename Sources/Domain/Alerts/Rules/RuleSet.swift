public import Fleet

/// The rules of all models, and of machines that have some of their own, as one versioned value.
public struct RuleSet: Equatable, Sendable {
    public let models: [String: [Threshold]]
    /// Each stands in the place of its model's rule of that field, or beside its model's rules.
    public let machines: [VehicleID: [Threshold]]
    /// The canonical text (RuleText.swift): the same rules have the same one.
    public let text: String
    /// Made of the text: the same in every process.
    public let version: String
    private let judgedOfModel: [String: [Judged]]

    typealias Judged = (parameter: MachineParameter, threshold: Threshold)

    /// Judges nothing.
    public static let empty = RuleSet([:])

    /// The order of thresholds does not matter.
    public init(_ models: [String: [Threshold]], machines: [VehicleID: [Threshold]] = [:]) {
        self.models = models.mapValues { $0.sorted { $0.line < $1.line } }
        self.machines = machines.mapValues { $0.sorted { $0.line < $1.line } }
        text = RuleSet.text(of: self.models, self.machines)
        var hash = StableHash()
        hash.add(field: text)
        version = hash.hex64
        judgedOfModel = self.models.mapValues(RuleSet.judged)
    }

    private static func judged(_ thresholds: [Threshold]) -> [Judged] {
        thresholds.compactMap { threshold in threshold.judged.map { ($0, threshold) } }
            .sorted { $0.0.rawValue < $1.0.rawValue }
    }

    public static func == (a: RuleSet, b: RuleSet) -> Bool {
        a.version == b.version && a.models == b.models && a.machines == b.machines
    }

    public var modelNames: [String] { models.keys.sorted() }

    /// A machine's rules, shown ones included: its model's, its own in their place.
    public func thresholds(of model: String, _ vehicle: VehicleID) -> [Threshold] {
        let (standard, own) = (models[model] ?? [], machines[vehicle] ?? [])
        return standard.filter { rule in !own.contains { $0.field == rule.field } } + own
    }

    /// The rules to evaluate, in a fixed order. A model without thresholds raises nothing.
    func judged(_ model: String, _ vehicle: VehicleID) -> [Judged] {
        machines[vehicle] == nil ? judgedOfModel[model] ?? [] : RuleSet.judged(thresholds(of: model, vehicle))
    }
}
