public import Alerts
internal import Basics
public import Fleet

/// A reading with the alert engine's state after it. The state is nil while the reading waits to be judged, and where it
/// could not be decoded.
public struct MachineRow: Equatable, Sendable {
    public var reading: MachineReading
    /// Where its record stands in the partition: of two that say the same the first that was taken.
    public var offset: Int64
    public var state: AlertFold?
    public init(reading: MachineReading, offset: Int64, state: AlertFold?) {
        (self.reading, self.offset, self.state) = (reading, offset, state)
    }
}

/// Readings of one machine that wait to be judged again, a piece at each tick of the partition (decision 22).
///
/// All readings before a span's `fromMs` are judged. From `untilMs` on each stored state follows from the one before it, so
/// that the first of them that comes out as stored ends it.
public struct Rejudging: Equatable, Sendable {
    public struct Span: Equatable, Sendable {
        public var fromMs: Int64
        public var untilMs: Int64

        public init(fromMs: Int64, untilMs: Int64) {
            let known = UTC.plausible
            self.fromMs = min(max(fromMs, known.lowerBound), known.upperBound)
            self.untilMs = min(max(untilMs, known.lowerBound), known.upperBound)
        }

        public static let all = Span(fromMs: .min, untilMs: .max)

        func union(_ other: Span) -> Span {
            Span(fromMs: min(fromMs, other.fromMs), untilMs: max(untilMs, other.untilMs))
        }
    }

    public var span: Span
    /// Its place in the queue: the record that asked for it, or the tick of its last piece.
    public var askedOffset: Int64
    /// Readings came late: they may say that the machine was not silent.
    public var isLate: Bool
    /// A piece of it was judged.
    public var hasBegun: Bool
    /// The span that was asked for meanwhile before the place that the pieces had come to. It is judged after them: else something
    /// late at each tick would keep them there for ever.
    public var again: Span?

    public init(_ span: Span, askedOffset: Int64, isLate: Bool, hasBegun: Bool = false, again: Span? = nil) {
        (self.span, self.askedOffset, self.isLate) = (span, askedOffset, isLate)
        (self.hasBegun, self.again) = (hasBegun, again)
    }

    /// Keeps the place in the queue.
    mutating func extend(to other: Rejudging) {
        isLate = isLate || other.isLate
        guard hasBegun, other.span.fromMs < span.fromMs else {
            span = span.union(other.span)
            return
        }
        again = again?.union(other.span) ?? other.span
        // The pieces to come meet it, too.
        if other.span.untilMs >= span.fromMs { span.untilMs = max(span.untilMs, other.span.untilMs) }
    }
}

/// A question to the store about one machine: its readings from a time on, the state before them and the alerts that they
/// can touch.
public struct MachineQuery: Equatable, Sendable {
    public let vehicle: VehicleID
    public let fromMs: Int64
    public let rowsMax: Int
    public init(vehicle: VehicleID, fromMs: Int64, rowsMax: Int) {
        (self.vehicle, self.fromMs, self.rowsMax) = (vehicle, fromMs, rowsMax)
    }

    /// The state after the latest reading.
    public static func end(_ vehicle: VehicleID) -> MachineQuery {
        MachineQuery(vehicle: vehicle, fromMs: UTC.plausible.upperBound, rowsMax: 0)
    }
}

/// A machine as the store knows it from a time on.
public struct MachineHistory: Equatable, Sendable {
    public enum Before: Equatable, Sendable {
        case nothing
        case state(AlertFold)
        /// There is a reading, and its state is not known.
        case unknown(lastMs: Int64)
    }

    /// The last reading before that time.
    public var before: Before
    /// The stored readings from that time on, by time, up to as many as were asked for.
    public var rows: [MachineRow]
    public var rowsMax: Int
    /// The rows reach to the machine's latest reading.
    public var isWhole: Bool
    /// Those that readings after that state can touch (`ToldAlert.isReached`).
    public var told: ToldAlerts
    /// All that are on record.
    public var services: ServiceLog

    public init(
        before: Before, rows: [MachineRow] = [], rowsMax: Int, isWhole: Bool = true, told: ToldAlerts = ToldAlerts(),
        services: ServiceLog = .none
    ) {
        (self.before, self.rows, self.rowsMax, self.isWhole) = (before, rows, rowsMax, isWhole)
        (self.told, self.services) = (told, services)
    }
}

/// One reading's place.
public struct MachinePlace: Hashable, Sendable {
    public let vehicle: VehicleID
    public let ts: Int64
    public init(vehicle: VehicleID, ts: Int64) { (self.vehicle, self.ts) = (vehicle, ts) }
}

/// Everything that was read back so far.
public struct MachineHistories: Sendable {
    public var machines: [VehicleID: MachineHistory] = [:]
    /// The reading that is stored at each place that was asked for.
    public var places: [MachinePlace: MachineRow?] = [:]
    public var page: MachinePage?
    public init() {}
}

/// Rows that must be read back before records can be taken.
public struct MachineNeeds: Equatable, Sendable {
    public var machines: [MachineQuery] = []
    public var places: [MachinePlace] = []
    public var page: MachinePageQuery?
    public init() {}

    var isEmpty: Bool { machines.isEmpty && places.isEmpty && page == nil }
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

/// The rows that follow for one machine, as absolute values; only what changed.
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
    /// A reading that told the machine's ID gave its place to one that does not: what was said before counts again.
    public let isMachineIDLost: Bool

    package init(
        vehicle: VehicleID, model: String, lastMs: Int64, readings: [MachineRow], alerts: [ToldAlert], isLatest: Bool,
        nextDeadlineMs: Int64?, isMachineIDLost: Bool = false
    ) {
        (self.vehicle, self.model, self.lastMs, self.readings) = (vehicle, model, lastMs, readings)
        (self.alerts, self.isLatest, self.nextDeadlineMs) = (alerts, isLatest, nextDeadlineMs)
        self.isMachineIDLost = isMachineIDLost
    }

    /// The ID that the box gave the machine last, of the readings that are written.
    public var machineID: (text: String, readMs: Int64)? {
        readings.lazy.map(\.reading).filter { $0.machineID?.isEmpty == false }.max { $0.ts < $1.ts }
            .flatMap { reading in reading.machineID.map { ($0, reading.ts) } }
    }
}

extension MachineChange {
    /// - Parameter other: what followed later.
    func merged(with other: MachineChange) -> MachineChange {
        let later = Set(other.alerts.map(\.id))
        let alerts = alerts.filter { !later.contains($0.id) } + other.alerts
        return MachineChange(
            vehicle: vehicle, model: other.model, lastMs: other.lastMs, readings: readings + other.readings,
            alerts: alerts.sorted { $0.id < $1.id }, isLatest: other.isLatest, nextDeadlineMs: other.nextDeadlineMs,
            isMachineIDLost: isMachineIDLost || other.isMachineIDLost)
    }
}

/// Changes that follow from records of one partition.
public struct MachineChanges: Equatable, Sendable {
    /// By vehicle.
    public var machines: [MachineChange] = []
    /// Nil: judged again to the end.
    public var rejudging: [VehicleID: Rejudging?] = [:]
    /// All that are under way now; nil: they are as they were.
    public var spreads: MachineSpreads?
    /// To be told, in the order of the log.
    public var transitions: [AlertTransition] = []
    /// The rule sets, with their offsets.
    public var rules: [(entry: RuleTimeline.Entry, offset: Int64)] = []
    /// People's actions, in the order of the log.
    public var actions: [Action] = []
    /// Machines judged again because a stored state could not be decoded.
    public var rebuilt = 0

    package init() {}

    public static func == (a: MachineChanges, b: MachineChanges) -> Bool {
        a.machines == b.machines && a.transitions == b.transitions && a.rebuilt == b.rebuilt && a.actions == b.actions
            && a.rejudging == b.rejudging && a.spreads == b.spreads
            && a.rules.elementsEqual(b.rules) { $0.entry == $1.entry && $0.offset == $1.offset }
    }
}

extension MachineChanges {
    public var rowCount: Int {
        machines.reduce(rules.count + actions.count + rejudging.count) { $0 + $1.readings.count + $1.alerts.count }
    }
}
