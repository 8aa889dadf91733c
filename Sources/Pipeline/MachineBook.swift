public import Alerts
public import Fleet

/// What the store knows of a machine from a time on.
public struct MachineHistory: Equatable, Sendable {
    /// The alert engine's state after the reading before that time; nil when there is none before.
    public var stateBefore: AlertFold?
    /// The stored readings from that time on.
    public var readings: [MachineReading]
    /// Alerts that were not over by the reading before: those that judging again may move or remove. When they opened
    /// says less: an absence opens at its deadline, which may lie before that reading.
    public var alertIDs: Set<String>

    public init(stateBefore: AlertFold?, readings: [MachineReading], alertIDs: Set<String>) {
        (self.stateBefore, self.readings, self.alertIDs) = (stateBefore, readings, alertIDs)
    }

    public static let none = MachineHistory(stateBefore: nil, readings: [], alertIDs: [])
}

/// The rows that follow from a batch for one machine, as absolute values.
public struct MachineChange: Equatable, Sendable {
    public let vehicle: VehicleID
    /// The model of the latest reading known.
    public let model: String
    public let lastMs: Int64
    /// Readings with the alert engine's state after each.
    public let readings: [(reading: MachineReading, state: AlertFold)]
    public let episodes: [Episode]
    /// Alerts that were told and that late readings took back.
    public let withdrawnIDs: [String]

    public static func == (a: MachineChange, b: MachineChange) -> Bool {
        a.vehicle == b.vehicle && a.model == b.model && a.lastMs == b.lastMs && a.episodes == b.episodes
            && a.withdrawnIDs == b.withdrawnIDs
            && a.readings.elementsEqual(b.readings) { $0.reading == $1.reading && $0.state == $1.state }
    }
}

extension MachineReading {
    /// What it says, in a fixed order.
    fileprivate var text: String {
        let numbers = values.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        return
            "\(model)|\(serial ?? "")|\(firmware ?? "")|\(numbers)|\(connectedDevices ?? [])|\(latitude ?? .min)|\(longitude ?? .min)"
    }
}

extension Array where Element == MachineReading {
    /// Sorted by time, one reading a time: of two different readings the one with the larger submission id counts,
    /// and of two with one id the one whose content sorts last.
    public func unioned() -> [MachineReading] {
        var result: [MachineReading] = []
        for reading in sorted(by: { ($0.ts, $0.id) < ($1.ts, $1.id) }) {
            guard let last = result.last, last.ts == reading.ts else {
                result.append(reading)
                continue
            }
            // The same id with another content: which one counts must not depend on who came first.
            if last.id < reading.id || last.text < reading.text { result[result.count - 1] = reading }
        }
        return result
    }
}

/// The machines of one lane. As for cars: readings in order are judged on from memory, anything else is judged again
/// from the reading before the earliest of them.
public struct MachineBook: Sendable {
    private struct Machine: Sendable {
        var fold: AlertFold
        var lastMs: Int64
    }

    private let rules: RuleSet
    private var machines: [VehicleID: Machine] = [:]
    private let machinesMax: Int

    public init(rules: RuleSet, machinesMax: Int = 200_000) { (self.rules, self.machinesMax) = (rules, machinesMax) }

    public mutating func forgetAll() { machines.removeAll() }

    /// What must be read back before `apply`; nil when memory suffices. Precondition: `readings` are `unioned()`.
    public func query(_ vehicle: VehicleID, _ readings: [MachineReading]) -> HistoryQuery? {
        if let machine = machines[vehicle], readings[0].ts > machine.lastMs { return nil }
        return HistoryQuery(vehicle: vehicle, fromMs: readings[0].ts, toMs: readings[readings.count - 1].ts)
    }

    public mutating func apply(
        _ readings: [MachineReading], of vehicle: VehicleID, history: MachineHistory?
    ) -> MachineChange? {
        let start = history.map { $0.stateBefore ?? AlertFold() } ?? machines[vehicle]?.fold
        guard var fold = start else { preconditionFailure("a machine without history is read back first") }
        let stored = history?.readings ?? []
        let united = (stored + readings).unioned()
        // Alerts that were open at the start may change without any step of theirs being repeated as an event.
        var episodes = Dictionary(uniqueKeysWithValues: fold.open.map { ($0.id, $0) })
        var rows: [(reading: MachineReading, state: AlertFold)] = []
        for reading in united {
            for episode in fold.observe(reading, rules: rules) { episodes[episode.id] = episode }
            rows.append((reading, fold))
        }
        // Beyond the limit none is added; none is dropped either, for `query` may have counted on it.
        if machines[vehicle] != nil || machines.count < machinesMax {
            machines[vehicle] = Machine(fold: fold, lastMs: united[united.count - 1].ts)
        }
        if history != nil, united == stored { return nil }
        return MachineChange(
            vehicle: vehicle, model: united[united.count - 1].model, lastMs: united[united.count - 1].ts,
            readings: rows,
            episodes: episodes.values.sorted { $0.id < $1.id },
            withdrawnIDs: (history?.alertIDs ?? []).subtracting(episodes.keys).sorted())
    }
}
