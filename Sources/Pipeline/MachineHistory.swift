public import Alerts
public import Fleet

/// A reading with the alert engine's state after it; the state is nil when it is not known (a new reading) or could not
/// be decoded.
public struct MachineRow: Equatable, Sendable {
    public let reading: MachineReading
    /// Where its record stands in the partition: of two that say the same the first that was taken.
    public let offset: Int64
    public var state: AlertFold?
    public init(reading: MachineReading, offset: Int64, state: AlertFold?) {
        (self.reading, self.offset, self.state) = (reading, offset, state)
    }
}

/// What the store is asked about one machine.
public struct MachineQuery: Equatable, Sendable {
    public let vehicle: VehicleID
    /// The readings from this time on, the state before them and the alerts that they can touch.
    public let fromMs: Int64
    /// As many readings; nil: all.
    public let rowsMax: Int?
    public init(vehicle: VehicleID, fromMs: Int64, rowsMax: Int?) {
        (self.vehicle, self.fromMs, self.rowsMax) = (vehicle, fromMs, rowsMax)
    }
}

/// What the store knows of a machine from a time on.
public struct MachineHistory: Equatable, Sendable {
    public var fromMs: Int64
    /// The alert engine's state after the last reading before that time; nil when there is none before.
    public var before: AlertFold?
    /// The stored readings from that time on, by time, up to as many as were asked for.
    public var rows: [MachineRow]
    /// The rows reach to the machine's latest reading.
    public var isWhole: Bool
    /// Alerts, told or withdrawn, whose first opening is not before the last reading before that time, and those not
    /// withdrawn that were not over by that reading.
    public var told: ToldAlerts
    /// All that are on record.
    public var services: ServiceLog

    public init(
        fromMs: Int64, before: AlertFold?, rows: [MachineRow], isWhole: Bool, told: ToldAlerts,
        services: ServiceLog = .none
    ) {
        (self.fromMs, self.before, self.rows, self.isWhole) = (fromMs, before, rows, isWhole)
        (self.told, self.services) = (told, services)
    }
}

/// Everything that was read back for a batch so far.
public struct MachineHistories: Sendable {
    public var machines: [VehicleID: MachineHistory] = [:]
    /// The machines with a reading at or after a time.
    public var reportedSince: (ms: Int64, vehicles: Set<VehicleID>)?
    public init() {}
}

/// What must be read back before a batch can be taken.
public struct MachineNeeds: Equatable, Sendable {
    public var machines: [MachineQuery] = []
    /// The partition's machines with a reading at or after this time.
    public var reportedSinceMs: Int64?
    public init() {}
}

/// One record of a partition, in the order of the log.
public struct MachineEvent: Equatable, Sendable {
    public enum Fact: Equatable, Sendable {
        case reading(MachineReading)
        case tick(Int64)
        /// A person sets the clock back.
        case setBack(Int64)
        case rules(RuleTimeline.Entry)
        case action(Action)
    }
    public let fact: Fact
    public let offset: Int64
    /// The broker's time stamp.
    public let pushedMs: Int64
    public init(_ fact: Fact, offset: Int64, pushedMs: Int64) {
        (self.fact, self.offset, self.pushedMs) = (fact, offset, pushedMs)
    }
}

/// The rows that follow from a batch for one machine, as absolute values; only what changed.
public struct MachineChange: Equatable, Sendable {
    public let vehicle: VehicleID
    /// Model and time of the latest reading known here.
    public let model: String
    public let lastMs: Int64
    public let readings: [MachineRow]
    public let alerts: [ToldAlert]
    /// The machine's latest reading was judged, so `nextDeadlineMs` holds.
    public let isLatest: Bool
    /// When the clock opens the next alert; nil: never.
    public let nextDeadlineMs: Int64?

    package init(
        vehicle: VehicleID, model: String, lastMs: Int64, readings: [MachineRow], alerts: [ToldAlert], isLatest: Bool,
        nextDeadlineMs: Int64?
    ) {
        (self.vehicle, self.model, self.lastMs, self.readings) = (vehicle, model, lastMs, readings)
        (self.alerts, self.isLatest, self.nextDeadlineMs) = (alerts, isLatest, nextDeadlineMs)
    }
}

/// What follows from a batch of one partition.
public struct MachineChanges: Equatable, Sendable {
    /// By vehicle.
    public var machines: [MachineChange] = []
    /// To be told, in the order of the log.
    public var transitions: [AlertTransition] = []
    /// The rule sets of the batch, with their offsets.
    public var rules: [(entry: RuleTimeline.Entry, offset: Int64)] = []
    /// What people said, in the order of the log.
    public var actions: [Action] = []
    /// Machines judged again because a stored state could not be decoded.
    public var rebuilt = 0

    package init() {}

    public static func == (a: MachineChanges, b: MachineChanges) -> Bool {
        a.machines == b.machines && a.transitions == b.transitions && a.rebuilt == b.rebuilt && a.actions == b.actions
            && a.rules.elementsEqual(b.rules) { $0.entry == $1.entry && $0.offset == $1.offset }
    }
}

extension MachineChanges {
    public var rowCount: Int {
        machines.reduce(rules.count + actions.count) { $0 + $1.readings.count + $1.alerts.count }
    }
}
