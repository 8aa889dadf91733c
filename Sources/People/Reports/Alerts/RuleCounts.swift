package import Alerts
package import Fleet
package import Postgres

/// How often rules raised alerts, and of how many machines they are: of what the reader sees.
package struct RuleCounts: Sendable {
    /// Machines and alerts of each that are looked at: a count above is `some or more`.
    private static let machinesMax: Int64 = 5_000
    private static let alertsMax: Int64 = 500

    private struct Key: Hashable {
        let model, parameter, own: String
    }

    /// Machines by model.
    package let machines: [String: Int]
    private let raised: [Key: Int]

    package init(
        sinceMs: Int64, rules: RuleSet, _ queries: ReportQueries, on connection: Connection
    ) throws {
        machines = Dictionary(
            uniqueKeysWithValues: try connection.query(queries["rule_models"], [.int8(RuleCounts.machinesMax)]).map {
                (try $0.text("model")!, try $0.int("machines")!)
            })
        let own = rules.machines.keys.map(\.text)
        raised = Dictionary(
            uniqueKeysWithValues: try connection.query(
                queries["rule_raised"],
                [
                    .timestampMs(sinceMs), .textArray(own), .int8(RuleCounts.machinesMax), .int8(RuleCounts.alertsMax),
                ]
            ).map {
                (
                    Key(model: try $0.text("model")!, parameter: try $0.text("parameter")!, own: try $0.text("own")!),
                    try $0.int("raised")!
                )
            })
    }

    /// By the model's rule: of machines that have none of their own in its place.
    package func raised(_ field: ThresholdField, ofModel model: String, _ rules: RuleSet) -> Int {
        raised.filter { key, _ in
            guard key.model == model, key.parameter == field.shownName else { return false }
            guard let vehicle = VehicleID(key.own) else { return true }
            return rules.machines[vehicle]?.contains { $0.field == field } != true
        }.values.reduce(0, +)
    }

    package func raised(_ field: ThresholdField, of machine: VehicleID) -> Int {
        raised.filter { $0.key.own == machine.text && $0.key.parameter == field.shownName }.values.reduce(0, +)
    }
}
