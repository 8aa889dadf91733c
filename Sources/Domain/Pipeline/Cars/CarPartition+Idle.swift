internal import Basics
public import Fleet
internal import Trips

/// A car that has long been silent is in the database alone. Its next record, and a clock that is set back to its time, bring
/// it into memory again; what becomes of it is the same as if it had been there all along (docs/decisions/0026).
extension CarPartition {
    /// For so long by the partition's clock a car is held after all that it said.
    public static let idleMs: Int64 = 2 * UTC.msPerDay

    /// Cars whose last reading is older may be left out of memory; `.min`: none may. A tick can end none of their trips.
    public var idleBeforeMs: Int64 { clockMs == 0 ? .min : clockMs - max(idleMs, rules.longestGapMs) }

    /// All cars whose last reading is not older are in memory now; `.min`: all are.
    public mutating func holds(since ms: Int64) { heldSinceMs = ms }

    /// So many are remembered.
    private static let newVehiclesMax = 65_536

    /// The database has been asked for these, and has no readings of them.
    public mutating func knowsNew(_ vehicles: Set<VehicleID>) {
        if newVehicles.count > CarPartition.newVehiclesMax { newVehicles = [] }
        newVehicles.formUnion(vehicles)
    }

    /// With what drivers' alerts know of those that never reported (`forgetScanned`): it is asked for again.
    public mutating func forgetNew() { newVehicles = [] }

    /// It is not in memory, and the database has not been asked for it. Also of one that never reported more may be stored.
    public func mayBeStored(_ vehicle: VehicleID) -> Bool {
        number(of: vehicle) == nil && !newVehicles.contains(vehicle)
    }

    /// Before the clock is set back to `ms`, all cars since then must be in memory: it opens trips and alerts of a day again. Nil: they
    /// are.
    public func neededSince(clockMs ms: Int64) -> Int64? {
        let sinceMs = ms - max(idleMs, UTC.msPerDay, rules.longestGapMs)
        return sinceMs < heldSinceMs ? sinceMs : nil
    }

    /// Nothing but a record of its own, or a clock that is set back, can change it, and nothing of it is in memory only.
    private func isIdle(_ number: Int) -> Bool {
        let car = cars[number]
        guard car.openMs == .min, car.firstOffset == .max, !car.isOpen, late[number] == nil else { return false }
        return max(car.lastMs == .max ? .min : car.lastMs, car.sinceMs) < idleBeforeMs
    }

    /// The cars that are left when the others are forgotten; nil: too few would be to be worth it.
    ///
    /// - Parameter isNeeded: who has a use for it elsewhere.
    public func leavingIdle(unless isNeeded: (Int) -> Bool) -> Leaving? {
        let kept = cars.indices.filter { !isIdle($0) || isNeeded($0) }
        let gone = cars.count - kept.count
        return gone > 0 && gone >= cars.count / 8 ? Leaving(kept, of: cars.count) : nil
    }

    /// Which cars stay, and the numbers that they get.
    public struct Leaving: Sendable {
        /// By their old numbers, in order.
        let kept: [Int]
        private let numbers: [Int32]

        init(_ kept: [Int], of count: Int) {
            self.kept = kept
            var numbers = [Int32](repeating: -1, count: count)
            for (new, old) in kept.enumerated() { numbers[old] = Int32(new) }
            self.numbers = numbers
        }

        /// Nil: it is gone.
        public func number(of old: Int) -> Int? {
            numbers.indices.contains(old) && numbers[old] >= 0 ? Int(numbers[old]) : nil
        }

        public func renumbered<Value>(_ values: [Int: Value]) -> [Int: Value] {
            var renumbered: [Int: Value] = [:]
            for (old, value) in values { if let new = number(of: old) { renumbered[new] = value } }
            return renumbered
        }
    }

    /// Forgets all others, and gives their memory back. Precondition: the rows were handed over.
    public mutating func keep(_ leaving: Leaving) {
        precondition(rows.isEmpty)
        heldSinceMs = max(heldSinceMs, idleBeforeMs)
        var (held, heldKeys, heldChains) = ([Car](), KeyIndex(), ByteChains())
        held.reserveCapacity(leaving.kept.count)
        func moved(_ chain: ByteChains.Chain) -> ByteChains.Chain {
            var new = ByteChains.Chain()
            chains.read(chain, into: &scratch)
            heldChains.append(scratch, to: &new)
            return new
        }
        for number in leaving.kept {
            unsafe keys.key(number).withUnsafeBytes { _ = unsafe heldKeys.add($0) }
            var car = cars[number]
            (car.state, car.bag.chain) = (moved(car.state), moved(car.bag.chain))
            held.append(car)
        }
        (cars, keys, chains) = (held, heldKeys, heldChains)
        (late, cuts) = (leaving.renumbered(late), leaving.renumbered(cuts))
    }
}

extension DriverPartition {
    /// Something of it is in memory only, or the clock may change it.
    public func needs(_ number: Int) -> Bool {
        lives[number] != nil || waiting[number] != nil || loading[number] != nil || changed.contains(number)
    }

    /// Precondition: none of those that leave is needed.
    public mutating func keep(_ leaving: CarPartition.Leaving, _ carPartition: borrowing CarPartition) {
        cars = leaving.kept.prefix { $0 < cars.count }.map { cars[$0] }
        (lives, waiting, loading) = (
            leaving.renumbered(lives), leaving.renumbered(waiting), leaving.renumbered(loading)
        )
        changed = Set(changed.compactMap { leaving.number(of: $0) })
        forgetScanned(carPartition)
    }

    /// Forgets scans of cars that are not in memory. Precondition: `CarPartition.forgetNew` was called.
    public mutating func forgetScanned(_ carPartition: borrowing CarPartition) {
        scanned = scanned.filter { carPartition.number(of: $0) != nil }
    }
}
