internal import Basics
public import Fleet

/// Machines of a partition that are to be judged again because something of all of them changed: other rules, or a clock that
/// is set back. They are noted a piece at a time (`RejudgingQueue`), in the order of their names: the first at the record that
/// asks for it, one more at each tick.
public struct MachineSpread: Equatable, Sendable {
    /// The span that is asked for of each machine.
    public var span: Rejudging.Span
    /// A machine whose latest reading is older has nothing to judge.
    public var sinceMs: Int64
    public let askedOffset: Int64
    /// Up to this machine they are noted; nil: none is.
    public var after: VehicleID?

    public init(_ span: Rejudging.Span, sinceMs: Int64, askedOffset: Int64, after: VehicleID? = nil) {
        self.span = span
        self.sinceMs = min(max(sinceMs, UTC.plausible.lowerBound), UTC.plausible.upperBound)
        (self.askedOffset, self.after) = (askedOffset, after)
    }

    /// It has not come to this machine yet.
    func comes(to vehicle: VehicleID, lastMs: Int64) -> Bool {
        after.map { vehicle > $0 } ?? true && lastMs >= sinceMs
    }

    func rejudging(askedOffset: Int64) -> Rejudging { Rejudging(span, askedOffset: askedOffset, isLate: false) }

    /// With what a machine waits for already.
    func added(to asked: Rejudging?) -> Rejudging {
        guard var asked else { return rejudging(askedOffset: askedOffset) }
        asked.extend(to: rejudging(askedOffset: askedOffset))
        return asked
    }
}

/// Sweeps that are not noted of all machines yet: the one that goes on, and all that was asked for meanwhile as one. So it is bounded, and
/// what comes again and again keeps none from its end.
public struct MachineSpreads: Equatable, Sendable {
    /// In the order in which they go on, two at most.
    public private(set) var all: [MachineSpread]

    public init(_ all: [MachineSpread] = []) { self.all = all.sorted { $0.askedOffset < $1.askedOffset } }

    public var isEmpty: Bool { all.isEmpty }
    var first: MachineSpread? { all.first }

    /// The rejudging that a machine waits for when all that has not come to it yet is noted of it at once.
    public func noted(of vehicle: VehicleID, lastMs: Int64, waiting asked: Rejudging?) -> Rejudging? {
        all.filter { $0.comes(to: vehicle, lastMs: lastMs) }.reduce(asked) { $1.added(to: $0) }
    }

    mutating func add(_ spread: MachineSpread) {
        guard all.count > 1 else { return all.append(spread) }
        let (before, last) = (all[1], all.count - 1)
        all[last] = MachineSpread(
            before.span.union(spread.span), sinceMs: min(before.sinceMs, spread.sinceMs),
            askedOffset: before.askedOffset, after: earlier(before.after, spread.after))
    }

    private func earlier(_ a: VehicleID?, _ b: VehicleID?) -> VehicleID? {
        guard let a, let b else { return nil }
        return min(a, b)
    }

    /// The first one is noted up to this machine.
    mutating func advance(to vehicle: VehicleID) { all[0].after = vehicle }

    /// The first one is noted of all machines.
    mutating func finish() { all.removeFirst() }
}

/// Which of a partition's machines are asked for, in the order of their names.
public struct MachinePageQuery: Equatable, Sendable {
    public let after: VehicleID?
    public let countMax: Int
    public init(after: VehicleID?, countMax: Int) { (self.after, self.countMax) = (after, countMax) }
}

/// A page of a partition's machines.
public struct MachinePage: Equatable, Sendable {
    public let query: MachinePageQuery
    /// In order, those that are meant, with the times of their latest readings.
    public let machines: [(vehicle: VehicleID, lastMs: Int64)]
    /// The last one that was looked at; nil: there are no more.
    public let last: VehicleID?

    public init(_ query: MachinePageQuery, machines: [(vehicle: VehicleID, lastMs: Int64)], last: VehicleID?) {
        (self.query, self.machines, self.last) = (query, machines, last)
    }

    public static func == (a: MachinePage, b: MachinePage) -> Bool {
        a.query == b.query && a.last == b.last && a.machines.elementsEqual(b.machines) { $0 == $1 }
    }

    /// Rejudgings to be noted of these machines, as a record or tick asks for it.
    func noted(_ spread: MachineSpread, askedOffset: Int64) -> [(VehicleID, Rejudging)] {
        machines.filter { $0.lastMs >= spread.sinceMs }.map { ($0.vehicle, spread.rejudging(askedOffset: askedOffset)) }
    }
}
