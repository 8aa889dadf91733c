public import Alerts
public import Fleet
public import Pipeline

/// The tables of machines in memory, with the answers that the real store gives: an oracle for the order of arrival.
public struct MachineTables: Equatable, Sendable {
    public struct Row: Equatable, Sendable {
        public var reading: MachineReading
        /// Packed, as it is stored.
        public var state: [UInt8]
    }

    public var readings: [VehicleID: [Int64: Row]] = [:]
    /// Alerts that are told, by id.
    public var alerts: [String: Episode] = [:]
    public private(set) var withdrawn: [String: Episode] = [:]

    public init() {}

    /// Precondition, as the store's upsert has it: no key stands twice in a change.
    public mutating func write(_ change: MachineChange) {
        precondition(Set(change.readings.map(\.reading.ts)).count == change.readings.count)
        precondition(Set(change.episodes.map(\.id)).count == change.episodes.count)
        for row in change.readings {
            readings[change.vehicle, default: [:]][row.reading.ts] = Row(reading: row.reading, state: row.state.packed)
        }
        for episode in change.episodes {
            alerts[episode.id] = episode
            withdrawn[episode.id] = nil
        }
        for id in change.withdrawnIDs {
            if let episode = alerts.removeValue(forKey: id) { withdrawn[id] = episode }
        }
    }

    /// The state of the reading before, the readings from there on, and the alerts that were not over by the reading
    /// before: when they opened says less, for an absence opens at its deadline, which may be before that reading.
    public func history(_ query: HistoryQuery) -> MachineHistory {
        let rows = readings[query.vehicle, default: [:]].sorted { $0.key < $1.key }
        let before = rows.last { $0.key < query.fromMs }
        let ids = alerts.values.filter { $0.vehicle == query.vehicle && $0.resolvedMs ?? .max > before?.key ?? .min }
            .map(\.id)
        return MachineHistory(
            stateBefore: before.map { try! AlertFold(packed: $0.value.state) },
            readings: rows.filter { $0.key >= query.fromMs }.map(\.value.reading), alertIDs: Set(ids))
    }

    /// The whole set folded once: what any order must come to.
    public static func whole(_ all: [MachineReading], rules: RuleSet) -> MachineTables {
        var tables = MachineTables()
        for (vehicle, readings) in Dictionary(grouping: all, by: \.vehicle) {
            var fold = AlertFold()
            for reading in readings.unioned() {
                for episode in fold.observe(reading, rules: rules) { tables.alerts[episode.id] = episode }
                tables.readings[vehicle, default: [:]][reading.ts] = Row(reading: reading, state: fold.packed)
            }
        }
        return tables
    }
}

/// Seeded readings of one machine: values around the limits of `SeededMachine.rules`, missing values, two models,
/// deadlines met to the millisecond, and readings of one time that say different things.
public enum SeededMachine {
    private static func rule(_ parameter: MachineParameter, _ test: Threshold.Test, _ limit: Int64) -> Threshold {
        Threshold(field: .parameter(parameter), test: test, unit: "", type: .int, audience: .farmer, threshold: limit)
    }

    public static let rules: RuleSet = {
        var (coolant, tire, gps) = (
            rule(.coolantTemperature, .above, 85_000), rule(.tirePressure, .below, 70_000),
            rule(.gpsAvailable, .below, 1_000)
        )
        (coolant.critical, coolant.clear) = (95_000, 82_000)
        tire.holdMs = 600_000
        (gps.holdMs, gps.absentMs) = (300_000, 300_000)
        var sprayer = coolant
        sprayer.clear = nil
        var shortGPS = gps
        shortGPS.absentMs = 60_000
        return RuleSet(["8R Tractor": [coolant, tire, gps], "R4038 Sprayer": [sprayer, shortGPS]])
    }()

    public static func readings(seed: UInt64, count: Int, vehicle: VehicleID) -> [MachineReading] {
        var chance = SeededChance(seed: seed)
        var (ts, model): (Int64, String) = (1_789_344_000_000, "8R Tractor")
        return (0..<count).map { index in
            // A step of 0 is a second reading of one time; the other ids sort before or after it by chance.
            ts += [0, 60_000, 100_000, 200_000, 300_000, 300_001, 900_000][Int(chance.below(7))]
            if chance.once(in: 25) {
                model =
                    model == "8R Tractor" ? "R4038 Sprayer" : model == "R4038 Sprayer" ? "544K Loader" : "8R Tractor"
            }
            var reading = MachineReading(
                vehicle: vehicle, ts: ts, id: "r\(chance.below(900) + 100)-\(index)", model: model)
            if !chance.once(in: 5) { reading.values[.coolantTemperature] = 78_000 + chance.below(20) * 1_000 }
            if !chance.once(in: 5) { reading.values[.tirePressure] = 66_000 + chance.below(10) * 1_000 }
            if chance.once(in: 2) { reading.values[.gpsAvailable] = chance.once(in: 4) ? 0 : 1 }
            return reading
        }
    }
}
