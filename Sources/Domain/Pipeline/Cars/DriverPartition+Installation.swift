public import Alerts
public import Fleet

/// The installation's own limits come to a partition's cars: some at each tick, by their names. What a car is judged by changes when they
/// come to it, and nothing else; what was judged of their time until then is judged again like all that waits.
extension DriverPartition {
    /// How many cars a record comes to at one tick, at most.
    public struct SpreadSize: Sendable {
        /// Cars that are looked at.
        public let cars: Int
        /// Cars of which something is judged again, as long as less of the partition waits for that.
        public let waiting: Int
        /// But at least so many.
        public let least: Int

        public init(cars: Int, waiting: Int, least: Int) {
            (self.cars, self.waiting, self.least) = (cars, waiting, least)
        }
    }

    /// A car of the partition, as it is stored.
    public struct StoredCar: Sendable {
        public let vehicle: VehicleID
        /// The time of its latest reading; `.min`: there is none.
        let lastMs: Int64
        let isAlwaysOwned: Bool
        /// It said which trouble codes it has, at a time at which the limits are in force.
        let hasScans: Bool
        /// Somebody has driven or owned it, or has been said to.
        let isWatched: Bool

        public init(
            _ vehicle: VehicleID, lastMs: Int64, isAlwaysOwned: Bool = false, hasScans: Bool = false,
            isWatched: Bool = false
        ) {
            (self.vehicle, self.lastMs) = (vehicle, lastMs)
            (self.isAlwaysOwned, self.hasScans, self.isWatched) = (isAlwaysOwned, hasScans, isWatched)
        }
    }

    /// Takes in limits that the installation set with a record. They count for no car yet.
    mutating func apply(limits text: String, _ action: Action, fromMs: Int64, offset: Int64) {
        // The worker refuses what is none.
        let settings = (try? DriverSettings(text: text)) ?? .off
        let entry = InstallationLimits.Entry(
            inForceMs: action.ts, id: action.id, settings: settings, offset: offset, fromMs: fromMs)
        if installation.add(entry) { changedLimits.insert(entry.inForceMs) }
    }

    /// The record on its way, and the car that it came to last.
    public var spreading: (limits: InstallationLimits.Entry, after: VehicleID?)? {
        guard let limits = installation.spreading, case .upTo(let last) = limits.reach else { return nil }
        return (limits, last)
    }

    /// Those of the cars that follow in the order of their names to which it comes now, and which of them must be in memory.
    public func next(
        of cars: [StoredCar], _ carPartition: borrowing CarPartition, _ room: inout SpreadRoom, _ tick: Tick
    ) -> (cars: ArraySlice<StoredCar>, recalled: [VehicleID]) {
        guard let fromMs = spreading?.limits.fromMs else { return ([], []) }
        var (count, recalled): (Int, [VehicleID]) = (0, [])
        for car in cars {
            let number = carPartition.number(of: car.vehicle)
            let lastMs = number.map { carPartition.lastMs($0) } ?? car.lastMs
            let isAsked = judgedFromMs(car, number, lastMs: lastMs, fromMs: fromMs, tick) != nil
            if isAsked || car.hasScans {
                guard room.letIn() else { break }
                if isAsked, number == nil { recalled.append(car.vehicle) }
            }
            count += 1
        }
        return (cars.prefix(count), recalled)
    }

    /// Since when the car is judged again: it has readings of the limits' time, for which nobody may have answered; or it drives and is not
    /// in memory, as nobody's, so that its next reading would have to wait. Nil: it is not.
    private func judgedFromMs(
        _ car: StoredCar, _ number: Int?, lastMs: Int64, fromMs: Int64, _ tick: Tick
    ) -> Int64? {
        guard lastMs != .min, !car.isAlwaysOwned else { return nil }
        if lastMs >= fromMs { return fromMs }
        let isKnown = number.map { lives[$0] != nil || waiting[$0] != nil } ?? false
        return !isKnown && lastMs >= tick.clockMs - DriverAlertFold.reachMs ? lastMs : nil
    }

    /// It comes to these cars. Those of which something is judged again are in memory.
    ///
    /// - Parameter isAll: none is left.
    public mutating func spread(
        to cars: ArraySlice<StoredCar>, isAll: Bool, _ carPartition: borrowing CarPartition, _ tick: Tick
    ) {
        guard let (_, after) = spreading else { return }
        let reach = isAll ? InstallationLimits.Reach.all(offset: tick.offset) : .upTo(cars.last?.vehicle ?? after)
        guard let limits = installation.spread(to: reach) else { return }
        changedLimits.insert(limits.inForceMs)
        for car in cars {
            if car.hasScans { askCodes(car.vehicle, offset: tick.offset) }
            if let number = carPartition.number(of: car.vehicle) {
                spread(limits, to: car, number, carPartition.lastMs(number), tick)
            }
        }
    }

    private mutating func spread(
        _ limits: InstallationLimits.Entry, to car: StoredCar, _ number: Int, _ lastMs: Int64, _ tick: Tick
    ) {
        // Marks alone are nothing to judge.
        guard lastMs != .min else { return }
        know(number, lastMs: lastMs)
        if let fromMs = judgedFromMs(car, number, lastMs: lastMs, fromMs: limits.fromMs, tick) {
            ask(number, fromMs: fromMs, untilMs: .max, offset: tick.offset, isLate: lastMs >= limits.fromMs)
        } else {
            // What was judged stands.
            lives[number]?.watch.apply(installation: installation.rules(of: car.vehicle))
        }
    }

    /// Notes the trouble codes of a car that reports for the first time: those that it said before may be judged by the installation's limits,
    /// came only to cars which have reported.
    mutating func askCodesOfNew(_ number: Int, _ vehicle: VehicleID, offset: Int64) {
        guard cars[number].lastMs == .min, scanned.contains(vehicle), installation.rules(of: vehicle) != nil else {
            return
        }
        askCodes(vehicle, offset: offset)
    }

    /// Those that the database knows and to which limits have come.
    mutating func watchAll(_ carPartition: borrowing CarPartition, from first: Int) {
        guard !installation.entries.isEmpty else { return }
        for number in first..<max(first, carPartition.count)
        where installation.rules(of: carPartition.name(number)) != nil {
            (cars[number].standing, cars[number].lastMs) = (.watched, carPartition.lastMs(number))
        }
    }

    /// When the partition is taken over, before its cars are.
    ///
    /// - Parameters:
    ///   - spreads: of records before `offset`.
    ///   - offset: of a vehicle that is taken up again alone: it knows nothing from there on, and what had not come to all by then comes
    ///     to it again.
    public mutating func restore(
        installation entries: [InstallationLimits.Entry], _ spreads: CarSpreads, before offset: Int64? = nil
    ) {
        self.spreads = spreads
        isWhole = offset == nil
        guard let offset else { return installation = InstallationLimits(entries) }
        installation = InstallationLimits(
            entries.filter { $0.offset < offset }.map { entry in
                var entry = entry
                if case .all(let atOffset) = entry.reach, atOffset < offset { return entry }
                entry.reach = .upTo(nil)
                return entry
            })
    }
}
