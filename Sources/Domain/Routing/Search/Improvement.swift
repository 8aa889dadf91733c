internal import Basics

/// Ruin and recreate over rides that still wait (Schrimpf et al. 2000; strings and blinks after Christiaens and Vanden Berghe 2020):
/// related rides are removed and reinserted where they cost least, and the outcome is kept when it is better or, early on, not much worse.
/// Passengers on board never change their vehicle. The search ends with the best plan found.
final class Improvement {
    private let search: FleetSearch
    private var chance: SearchChance
    private let movable: [Int]
    private var value: Double
    private var bestValue: Double
    private let startTemperature: Double

    // The best routes, and which vehicles have changed since.
    private let bestStops: Cells<Int32>
    private let bestLength: Cells<Int>
    private let isStale: Cells<Bool>
    private var stale: [Int] = []
    // The routes before the present round.
    private let savedStops: Cells<Int32>
    private let savedLength: Cells<Int>
    private let isTouched: Cells<Bool>
    private var touched: [Int] = []

    private var neighbours: [[Int32]]
    private var nearest: [[Near]]
    private var removed: [Int] = []
    private let isRemoved: Cells<Bool>

    private struct Near {
        var bound: Double
        var vehicle: Int32
    }

    static let removedMax = 10
    private static let neighboursMax = 40
    /// One vehicle in so many is passed over when a ride is put back.
    private static let blink = 50

    /// How much worse a round may make things at first, as a part of the cost of a ride. Fitted to the seeded streams (few rounds from a
    /// good plan) and to whole sets (many from a rough one).
    enum Heat: Double { case stream = 0.3, wholeSet = 0.8 }

    init(_ search: FleetSearch, seed: UInt64, heat: Heat) {
        self.search = search
        chance = SearchChance(seed: seed)
        movable = (0..<search.rides).filter { !search.isOnBoard($0) && search.vehicleOf[$0] >= 0 }
        let (v, r) = (search.vehicles, search.rides)
        bestStops = Cells(v * search.stride, -1)
        bestLength = Cells(v, 0)
        isStale = Cells(v, false)
        savedStops = Cells(v * search.stride, -1)
        savedLength = Cells(v, 0)
        isTouched = Cells(v, false)
        isRemoved = Cells(r, false)
        neighbours = Array(repeating: [], count: r)
        nearest = Array(repeating: [], count: r)
        value = (0..<v).reduce(0) { $0 + search.cost[$1] + search.promises[$1] }
        bestValue = value
        startTemperature = heat.rawValue * value / Double(max(1, movable.count))
        for vehicle in 0..<v { keep(vehicle) }
    }

    deinit {
        for cells in [bestStops, savedStops] { cells.free() }
        for cells in [bestLength, savedLength] { cells.free() }
        for cells in [isStale, isTouched, isRemoved] { cells.free() }
    }

    /// Runs rounds of a search that is `from` to `to` of its whole length, 0 to 1, and ends on the best routes when it is over.
    func run(rounds: Int, from: Double = 0, to: Double = 1) {
        if movable.count > 0, value.isFinite {
            for round in 0..<rounds {
                let left = 1 - (from + (to - from) * Double(round) / Double(rounds))
                self.round(temperature: startTemperature * left * left)
            }
        }
        if to >= 1 { finish() }
    }

    private func round(temperature: Double) {
        ruin()
        let isWhole = recreate()
        var change = 0.0
        for v in touched { change += search.cost[v] + search.promises[v] }
        change -= savedValue
        if isWhole, change < temperature * chance.exponential() {
            value += change
            for v in touched where !isStale[v] {
                isStale[v] = true
                stale.append(v)
            }
            if value < bestValue - 1e-7 {
                bestValue = value
                for v in stale { keep(v) }
                stale.removeAll(keepingCapacity: true)
            }
        } else {
            for r in removed { search.vehicleOf[r] = -1 }
            for v in touched { restore(v, savedStops, savedLength) }
        }
        for v in touched { isTouched[v] = false }
        for r in removed { isRemoved[r] = false }
        touched.removeAll(keepingCapacity: true)
        removed.removeAll(keepingCapacity: true)
        savedValue = 0
    }

    private var savedValue = 0.0

    /// Back to the best; exact orders where that is possible.
    private func finish() {
        for v in stale { restore(v, bestStops, bestLength) }
        stale.removeAll(keepingCapacity: true)
        for v in 0..<search.vehicles where search.length[v] > 1 {
            let (before, order) = (search.cost[v] + search.promises[v], search.stopsOf(v))
            search.optimise(v)
            if search.cost[v] + search.promises[v] > before { search.setStops(v, order) }
        }
    }

    private func keep(_ v: Int) {
        bestLength[v] = search.length[v]
        let base = v * search.stride
        for k in 1..<search.length[v] + 1 { bestStops[base + k] = search.stops[base + k] }
        isStale[v] = false
    }

    private func restore(_ v: Int, _ from: Cells<Int32>, _ lengths: Cells<Int>) {
        let base = v * search.stride
        search.length[v] = lengths[v]
        for k in 1..<lengths[v] + 1 {
            search.stops[base + k] = from[base + k]
            search.vehicleOf[Int(from[base + k]) >> 1] = Int32(v)
        }
        search.refresh(v)
    }

    private func touch(_ v: Int) {
        guard !isTouched[v] else { return }
        isTouched[v] = true
        touched.append(v)
        savedValue += search.cost[v] + search.promises[v]
        savedLength[v] = search.length[v]
        let base = v * search.stride
        for k in 1..<search.length[v] + 1 { savedStops[base + k] = search.stops[base + k] }
    }

    // MARK: Ruin

    private func ruin() {
        let seed = movable[chance.below(movable.count)]
        if chance.below(2) == 0 { removeRelated(seed) } else { removeStrings(seed) }
        for v in touched { search.refresh(v) }
    }

    private func remove(_ r: Int) {
        guard !isRemoved[r] else { return }
        touch(Int(search.vehicleOf[r]))
        search.removeStops(of: r)
        isRemoved[r] = true
        removed.append(r)
    }

    /// The seed and some of those that start and end near it.
    private func removeRelated(_ seed: Int) {
        let wanted = 1 + chance.below(min(Improvement.removedMax, movable.count))
        remove(seed)
        for r in near(seed) {
            if removed.count >= wanted { return }
            if chance.below(5) > 0 { remove(Int(r)) }
        }
    }

    /// Neighbours in the routes of vehicles near the seed.
    private func removeStrings(_ seed: Int) {
        let strings = 1 + chance.below(3)
        var cut = 0
        for r in [Int32(seed)] + near(seed) {
            if cut >= strings || removed.count >= Improvement.removedMax { return }
            let v = Int(search.vehicleOf[Int(r)])
            if v < 0 || isTouched[v] { continue }
            cut += 1
            let waiting = waitingOf(v)
            let length = 1 + chance.below(min(Improvement.removedMax / strings + 1, waiting.count))
            let at = waiting.firstIndex(of: Int(r)) ?? 0
            let low = max(0, at - length + 1)
            let first = low + chance.below(min(at, waiting.count - length) - low + 1)
            for taken in waiting[first..<first + length] { remove(taken) }
        }
    }

    /// Waiting rides of a route in order of pickup.
    private func waitingOf(_ v: Int) -> [Int] {
        var found: [Int] = []
        for k in 1..<search.length[v] + 1 {
            let stop = Int(search.stops[v * search.stride + k])
            if stop & 1 == 0 { found.append(stop >> 1) }
        }
        return found
    }

    private func near(_ seed: Int) -> [Int32] {
        if !neighbours[seed].isEmpty { return neighbours[seed] }
        var all = movable.filter { $0 != seed }.map { r in
            (search.secondsBetween(2 * seed, 2 * r) + 0.5 * search.secondsBetween(2 * seed + 1, 2 * r + 1), Int32(r))
        }
        all.sort { $0 < $1 }
        neighbours[seed] = all.prefix(Improvement.neighboursMax).map(\.1)
        return neighbours[seed]
    }

    // MARK: Recreate

    private func recreate() -> Bool {
        switch chance.below(4) {
        case 0: removed.sort()
        case 1: removed.sort { (search.passengers[$0], $1) > (search.passengers[$1], $0) }
        default: shuffle()
        }
        for r in removed {
            guard let (v, place) = cheapestVehicle(r) else { return false }
            touch(v)
            search.insert(r, into: v, place)
        }
        return true
    }

    private func shuffle() {
        for last in stride(from: removed.count - 1, to: 0, by: -1) {
            removed.swapAt(last, chance.below(last + 1))
        }
    }

    private func cheapestVehicle(_ r: Int) -> (Int, Insertion)? {
        var (best, found): (Double, (Int, Insertion)?) = (.infinity, nil)
        let told = search.toldVehicle[r]
        let isBounded = search.travel.obeysTriangle
        for near in vehicles(for: r) {
            if near.bound >= best { break }
            let v = Int(near.vehicle)
            guard search.length[v] + 2 < search.stride, chance.below(Improvement.blink) > 0 else { continue }
            let price = told >= 0 && told != near.vehicle ? search.rules.otherVehiclePrice : 0
            guard let place = search.cheapest(r, in: v, below: best - price, isBounded: isBounded) else { continue }
            best = place.change + price
            found = (v, place)
        }
        return found
    }

    /// Vehicles that may take a ride, by what its own waiting and riding costs at least.
    private func vehicles(for r: Int) -> [Near] {
        if !nearest[r].isEmpty { return nearest[r] }
        let isBounded = search.travel.obeysTriangle
        var found: [Near] = []
        for v in 0..<search.vehicles where canEverTake(r, v) {
            let bound = isBounded ? search.waitRate[r] * search.secondsTo(2 * r, from: v * search.stride) : 0
            let own = isBounded ? search.rideRate[r] * search.secondsBetween(2 * r, 2 * r + 1) : 0
            found.append(Near(bound: bound + own, vehicle: Int32(v)))
        }
        found.sort { ($0.bound, $0.vehicle) < ($1.bound, $1.vehicle) }
        nearest[r] = found
        return found
    }

    private func canEverTake(_ r: Int, _ v: Int) -> Bool {
        search.isServing[v] && search.passengers[r] <= search.capacity[v] && !search.isBanned[r * search.vehicles + v]
    }
}
