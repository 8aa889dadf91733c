import Alerts
import Fleet
import SimKit

let tractor = "8R Tractor"
let shippedModels = [tractor, "R4038 Sprayer", "S690 Combine"]
/// 2026-09-14T00:00:00Z.
let start: Int64 = 1_789_344_000_000

/// One parameter's rule; numbers are in the unit, times in seconds.
func rule(
    _ parameter: MachineParameter, _ test: Threshold.Test, _ limit: Int64? = nil, critical: Int64? = nil,
    clear: Int64? = nil, hold: Int64 = 0, absent: Int64? = nil, every: Int64? = nil, advice: String? = nil
) -> Threshold {
    var rule = Threshold(
        field: .parameter(parameter), test: test, unit: "u", type: .int, audience: .farmer,
        threshold: limit.map { $0 * 1_000 })
    (rule.critical, rule.clear) = (critical.map { $0 * 1_000 }, clear.map { $0 * 1_000 })
    (rule.holdMs, rule.absentMs) = (hold * 1_000, absent.map { $0 * 1_000 })
    (rule.every, rule.advice) = (every.map { $0 * 1_000 }, advice)
    return rule
}

func shippedFile(_ model: String) throws -> [UInt8] {
    try Repository.bytes("Deploy/thresholds/\(model)-thresholds.xml")
}

func shippedRules(_ model: String) throws -> [Threshold] {
    try ThresholdFile.parse(fileName: "\(model)-thresholds.xml", bytes: shippedFile(model))
}

func shippedRules() throws -> RuleSet {
    RuleSet(Dictionary(uniqueKeysWithValues: try shippedModels.map { ($0, try shippedRules($0)) }))
}

/// The tractor's rules at all times.
func always(_ rules: Threshold...) -> RuleTimeline { RuleTimeline(always: RuleSet([tractor: rules])) }

/// A reading `seconds` after the start; values are stored integers.
func reading(_ seconds: Int64, _ values: [MachineParameter: Int64] = [:], model: String = tractor) -> MachineReading {
    MachineReading(vehicle: VehicleID("m-1")!, ts: start + seconds * 1_000, id: "r-\(seconds)", model: model, values)
}

/// Every episode that the readings make, as it stands at the end, by id.
func episodes(_ readings: [MachineReading], _ rules: RuleTimeline) -> [Episode] {
    var (fold, all): (AlertFold, [String: Episode]) = (AlertFold(), [:])
    for reading in readings { for episode in fold.observe(reading, rules: rules) { all[episode.id] = episode } }
    return all.values.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
}

/// Who drove; assigned and owned from these times on.
func drivers(
    _ drivings: [Drivers.Driving] = [], assigned: [(Int64, String?)] = [], owned: [(Int64, String?)] = []
) -> Drivers {
    func changes(_ all: [(Int64, String?)]) -> [Drivers.Change] { all.map { .init(fromMs: $0.0, account: $0.1) } }
    return Drivers(drivings: drivings, assignments: changes(assigned), owners: changes(owned))
}
