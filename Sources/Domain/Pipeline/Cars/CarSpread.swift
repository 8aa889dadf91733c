internal import Alerts
internal import Basics
public import Fleet

/// The cars of a partition that are judged again because its clock was set back: what it ended of the last day. They are noted as waiting
/// in the order of their names: some with the record that asks for it, the others at the ticks after it.
public struct CarSpread: Equatable, Sendable {
    /// The time of the earliest latest reading that counts: of a car that was silent before, the clock has ended nothing that is judged again.
    public let sinceMs: Int64
    public let askedOffset: Int64
    /// Up to this car they are noted; nil: none is.
    public var after: VehicleID?

    public init(sinceMs: Int64, askedOffset: Int64, after: VehicleID? = nil) {
        self.sinceMs = min(max(sinceMs, UTC.plausible.lowerBound), UTC.plausible.upperBound)
        (self.askedOffset, self.after) = (askedOffset, after)
    }

    init(clockMs: Int64, askedOffset: Int64) {
        self.init(sinceMs: clockMs - UTC.msPerDay + 1, askedOffset: askedOffset)
    }

    /// It has not come to this car yet, and has something of it judged again.
    func comes(to car: DriverPartition.StoredCar, _ limits: InstallationLimits) -> Bool {
        isBefore(car) && isAbout(car, lastMs: car.lastMs, limits)
    }

    /// By its name.
    func isBefore(_ car: DriverPartition.StoredCar) -> Bool { after.map { car.vehicle > $0 } ?? true }

    /// Somebody is told of it, and it has reported since. By what is stored: who holds it in memory and who does not must say the same.
    func isAbout(_ car: DriverPartition.StoredCar, lastMs: Int64, _ limits: InstallationLimits) -> Bool {
        lastMs != .max && lastMs >= sinceMs && (car.isWatched || limits.rules(of: car.vehicle) != nil)
    }
}

/// Spreads that are not noted of all cars yet: the one that goes on, and all that was asked for meanwhile as one. So it is bounded, and clocks
/// that are set back again and again keep none from its end.
public struct CarSpreads: Equatable, Sendable {
    /// In the order in which they go on, two at most.
    public private(set) var all: [CarSpread]

    public init(_ all: [CarSpread] = []) { self.all = all.sorted { $0.askedOffset < $1.askedOffset } }

    public var isEmpty: Bool { all.isEmpty }
    public var first: CarSpread? { all.first }

    mutating func add(_ spread: CarSpread) {
        guard let before = all.dropFirst().first else { return all.append(spread) }
        var after: VehicleID?
        if let one = before.after, let other = spread.after { after = min(one, other) }
        all[1] = CarSpread(
            sinceMs: min(before.sinceMs, spread.sinceMs), askedOffset: before.askedOffset, after: after)
    }

    /// - Parameter rest: what is left of the first one.
    mutating func advance(to rest: CarSpread) { all[0] = rest }

    /// Nothing is left of the first one.
    mutating func finish() { all.removeFirst() }
}

/// How far something may come to a partition's cars at one tick. Cars are looked at a page at a time: no more of them than may be let in are
/// read for nothing, and where none waits the pages grow.
public struct SpreadRoom: Sendable {
    private var cars: Int
    private var page: Int
    /// The number of further cars that may be let in to be judged again.
    private(set) var waiting: Int

    init(cars: Int, waiting: Int) { (self.cars, page, self.waiting) = (cars, 2 * waiting, waiting) }

    /// How many cars are read next; nil: no more at this tick.
    public mutating func nextPage() -> Int? {
        let next = min(page, cars)
        (page, cars) = (4 * page, cars - next)
        return next > 0 ? next : nil
    }

    /// Lets one more in. False: it must wait for another tick.
    mutating func letIn() -> Bool {
        guard waiting > 0 else { return false }
        waiting -= 1
        return true
    }
}
