internal import Glibc

/// Ruin and recreate by slack induction (Christiaens and Vanden Berghe, Transportation Science 54, 2020): takes strings
/// of neighbouring stops out of neighbouring routes, puts the requests back one by one where they cost least, and keeps
/// what comes of it by annealing. First as many routes as can be are closed, counting how often each request found no
/// place; then the distance is made short.
///
/// The same seed and the same calls give the same plan. It reads no clock: whoever calls decides when it is enough.
public final class DepotSolver {
    private let problem: DepotProblem
    private let settings: SearchSettings
    private let arena = Arena()
    private let network: Network
    private let insertion: Insertion
    private let rides: RideTimes
    /// What is tried, and what it is tried against; equal between two iterations.
    let routes: RouteTable
    private let kept: RouteTable
    private let best: RouteTable
    private let memory: PlaceMemory
    private let orders: RequestOrders

    /// Slot of a request; negative: in none.
    private let slotOf: Flat<Int32>
    /// Place of a node in its route.
    private let placeOf: Flat<Int32>
    /// How often a request was left over.
    private let absences: Flat<Int64>
    /// Requests in no route, now and of what is kept.
    private let absent: Flat<Int32>
    private var absentCount = 0
    private let keptAbsent: Flat<Int32>
    private var keptAbsentCount = 0
    /// Slots changed since the last decision.
    private let touched: Flat<Int32>
    private var touchedCount = 0
    private let isTouched: Flat<Bool>

    private var slots: Int
    private var cost = 0.0
    private var keptCost = 0.0
    private var bestSlots = 0
    private var bestCost = Double.infinity
    private var chance: Chance
    private var blinks: Blinks
    private var stamps: Int64 = 0
    private var temperature = 0.0
    /// What a request that is left out costs while the distance is made short.
    private var penalty = 0.0
    /// Iterations since nobody was left out.
    private var astray = 0
    private var isClosing: Bool
    private let routesLeast: Int
    public private(set) var iterations = 0

    /// - Precondition: there are 1 to `requestsMax` requests and no `unservable` ones.
    public init(_ problem: DepotProblem, seed: UInt64, settings: SearchSettings? = nil) {
        precondition((1...DepotProblem.requestsMax).contains(problem.requests.count))
        self.problem = problem
        self.settings = settings ?? SearchSettings(for: problem.objective)
        network = Network(problem, arena)
        let n = network.requests
        slots = min(problem.vehiclesMax, n)
        rides = RideTimes(network, stride: 2 * n + 2, arena)
        insertion = Insertion(network: network, rides: rides)
        routes = RouteTable(slots: slots, stride: 2 * n + 2, arena)
        kept = RouteTable(slots: slots, stride: 2 * n + 2, arena)
        best = RouteTable(slots: slots, stride: 2 * n + 2, arena)
        memory = PlaceMemory(requests: n, slots: slots, arena)
        orders = RequestOrders(network, arena)
        slotOf = arena.flat(n, Int32(-1))
        placeOf = arena.flat(network.nodes, Int32(0))
        absences = arena.flat(n, Int64(0))
        absent = arena.flat(n, Int32(0))
        keptAbsent = arena.flat(n, Int32(0))
        touched = arena.flat(slots, Int32(0))
        isTouched = arena.flat(slots, false)
        chance = Chance(seed: seed)
        blinks = Blinks(mean: self.settings.blinkMean, chance: Chance(seed: ~seed))
        isClosing = true
        routesLeast = problem.objective == .fewestRoutes ? FleetBound.routesLeast(network) : slots
        penalty = self.settings.penalty * network.step
        begin()
    }

    /// The best plan so far; nil while some request has found no place.
    public var plan: DepotPlan? {
        guard bestCost.isFinite else { return nil }
        var plan = DepotPlan(routes: [], distance: 0)
        for slot in 0..<bestSlots where best.length.int(slot) > 2 {
            let stops = best.node.from(slot * best.stride)
            plan.routes.append((1..<(best.length.int(slot) - 1)).map { network.id[stops.int($0)] })
        }
        plan.routes.sort { $0[0] < $1[0] }
        plan.distance = PlanCheck(problem).distance(plan.routes)
        return plan
    }

    /// Goes on searching. `progress` says which part of the whole search this is, within 0...1: it sets the temperature
    /// and when closing routes ends.
    public func run(iterations count: Int, progress: ClosedRange<Double>) {
        for step in 0..<count {
            let part = progress.lowerBound + (progress.upperBound - progress.lowerBound) * Double(step) / Double(count)
            if isClosing { closeOrMoveOn(part) }
            heat(part)
            ruin()
            recreate()
            decide()
            iterations += 1
        }
    }

    // MARK: Closing routes

    /// All requests into as many routes as it takes.
    private func begin() {
        for r in 0..<network.requests { absent[r] = Int32(r) }
        absentCount = network.requests
        for slot in 0..<slots {
            stamps += 1
            routes.stamp[slot] = stamps
            refresh(slot)
            kept.take(slot, from: routes, slot: slot)
        }
        recreate()
        keep()
        countAbsences()
        if absentCount == 0 { foundPlan() }
    }

    private func closeOrMoveOn(_ progress: Double) {
        if progress > settings.fleetShare, bestCost.isFinite {
            isClosing = false
            restoreBest()
        } else if absentCount == 0 {
            if slots <= routesLeast { isClosing = false } else { closeRoute() }
        }
    }

    /// Closes the route whose requests were left over least often.
    private func closeRoute() {
        var (least, chosen) = (Int64.max, 0)
        for slot in 0..<slots {
            var sum: Int64 = 0
            forRequests(of: slot) { sum += absences[$0] + 1 }
            if sum < least { (least, chosen) = (sum, slot) }
        }
        forRequests(of: chosen) { leaveOut($0) }
        cost -= routes.distance[chosen]
        slots -= 1
        if chosen != slots {
            routes.take(chosen, from: routes, slot: slots)
            index(chosen)
        }
        kept.take(chosen, from: routes, slot: chosen)
        keep()
    }

    private func forRequests(of slot: Int, _ body: (Int) -> Void) {
        for place in 1..<(routes.length.int(slot) - 1) {
            let node = routes.node.int(slot * routes.stride + place)
            if node <= network.requests { body(node - 1) }
        }
    }

    private func leaveOut(_ r: Int) {
        slotOf[r] = -1
        absent[absentCount] = Int32(r)
        absentCount += 1
    }

    private func countAbsences() {
        for index in 0..<absentCount { absences[absent.int(index)] += 1 }
    }

    private func sumOfAbsences(_ list: Flat<Int32>, _ count: Int) -> Int64 {
        var sum: Int64 = 0
        for index in 0..<count { sum += absences[list.int(index)] }
        return sum
    }

    // MARK: Ruin

    private func ruin() {
        var filled = 0
        var stops = 0
        for slot in 0..<slots where routes.length[slot] > 2 {
            filled += 1
            stops += routes.length.int(slot) - 2
        }
        guard filled > 0 else { return }
        let stringMax = min(settings.stringMax, Double(stops) / Double(filled))
        let stringsMax = max(1, 4 * settings.removedMean / (1 + stringMax) - 1)
        let strings = min(filled, Int(1 + chance.fraction() * stringsMax))
        let seed = 1 + chance.below(network.nodes - 1)
        let table = chance.fraction() < settings.soonShare ? network.soon : network.near
        let near = table.from(seed * network.nearCount)
        for index in 0..<network.nearCount {
            let node = near.int(index)
            let slot = slotOf.int(network.request(of: node))
            if slot < 0 || isTouched[slot] { continue }
            let longest = min(Double(routes.length.int(slot) - 2), stringMax)
            removeString(slot, around: placeOf.int(node), length: Int(1 + chance.fraction() * longest))
            if touchedCount >= strings { break }
        }
    }

    /// Takes a string of stops that holds one place, and the partners of these stops; in half of the cases some stops in
    /// the middle of a longer string stay.
    private func removeString(_ slot: Int, around place: Int, length: Int) {
        touch(slot)
        let stops = routes.length.int(slot) - 2
        var (length, spared) = (min(length, stops), 0)
        if length > 1, length < stops, chance.fraction() < 0.5 {
            spared = 1
            while length + spared < stops, chance.fraction() < 0.01 { spared += 1 }
        }
        let taken = length + spared
        let first = max(1, place - taken + 1)
        let start = first + chance.below(min(place, stops - taken + 1) - first + 1)
        let sparedFrom = spared == 0 ? Int.max : start + chance.below(length + 1)
        let nodes = routes.node.from(slot * routes.stride)
        for offset in 0..<taken {
            let at = start + offset
            if at >= sparedFrom && at < sparedFrom + spared { continue }
            let r = network.request(of: nodes.int(at))
            if slotOf[r] >= 0 { leaveOut(r) }
        }
        length = 1
        for at in 1...stops {
            let node = nodes[at]
            if slotOf[network.request(of: Int(node))] < 0 { continue }
            nodes[length] = node
            length += 1
        }
        nodes[length] = 0
        routes.length[slot] = Int32(length + 1)
        refreshCounted(slot)
    }

    private func touch(_ slot: Int) {
        if isTouched[slot] { return }
        isTouched[slot] = true
        touched[touchedCount] = Int32(slot)
        touchedCount += 1
    }

    private func refreshCounted(_ slot: Int) {
        cost -= routes.distance[slot]
        refresh(slot)
        cost += routes.distance[slot]
    }

    private func refresh(_ slot: Int) {
        stamps += 1
        routes.stamp[slot] = stamps
        routes.refresh(slot, network, rides)
        index(slot)
    }

    private func index(_ slot: Int) {
        for place in 1..<(routes.length.int(slot) - 1) {
            let node = routes.node.int(slot * routes.stride + place)
            placeOf[node] = Int32(place)
            slotOf[network.request(of: node)] = Int32(slot)
        }
    }

    // MARK: Recreate

    private func recreate() {
        orders.sort(absent, absentCount, absences: keptAbsentCount > 0 ? absences : nil, &chance)
        var left = 0
        for index in 0..<absentCount {
            let r = absent.int(index)
            if !insert(r) {
                absent[left] = Int32(r)
                left += 1
            }
        }
        absentCount = left
    }

    private func insert(_ r: Int) -> Bool {
        var (chosen, place) = (-1, Place(cost: .infinity))
        var empty = -1
        for slot in 0..<slots {
            if routes.length[slot] == 2 {
                if empty < 0 { empty = slot }
                continue
            }
            let found: Place
            if isTouched[slot] {
                found = insertion.best(of: r, in: slot, of: routes, below: place.cost, blinks: &blinks)
            } else {
                if blinks.now() { continue }
                found = memory.best(of: r, in: slot, of: routes, below: place.cost, insertion)
            }
            if found.pickup >= 0 { (chosen, place) = (slot, found) }
        }
        // Where routes count, an empty one is opened only for what fits nowhere else.
        if empty >= 0, chosen < 0 || problem.objective == .distance {
            var never = Blinks.never
            let found = insertion.best(of: r, in: empty, of: routes, below: place.cost, blinks: &never)
            if found.pickup >= 0 { (chosen, place) = (empty, found) }
        }
        guard chosen >= 0 else { return false }
        put(r, in: chosen, place)
        return true
    }

    private func put(_ r: Int, in slot: Int, _ place: Place) {
        touch(slot)
        let nodes = routes.node.from(slot * routes.stride)
        let length = routes.length.int(slot)
        nodes.from(place.dropoff + 3).take(nodes.from(place.dropoff + 1), count: length - place.dropoff - 1)
        nodes.from(place.pickup + 2).take(nodes.from(place.pickup + 1), count: place.dropoff - place.pickup)
        nodes[place.pickup + 1] = Int32(r + 1)
        nodes[place.dropoff + 2] = Int32(r + 1 + network.requests)
        routes.length[slot] = Int32(length + 2)
        refreshCounted(slot)
    }

    // MARK: Decide

    private func heat(_ progress: Double) {
        if isClosing {
            temperature = settings.fleetHeat * network.step
        } else {
            temperature = settings.warm * pow(settings.cold / settings.warm, progress) * network.step
        }
    }

    private func decide() {
        if isClosing { return decideWhileClosing() }
        let drop = -temperature * log(1 - chance.fraction())
        let (now, before) = (cost + penalty * Double(absentCount), keptCost + penalty * Double(keptAbsentCount))
        if now < before + drop {
            keep()
            if absentCount == 0, cost < bestCost - 1e-9 || slots < bestSlots { foundPlan() }
        } else {
            undo()
        }
        astray = keptAbsentCount > 0 ? astray + 1 : 0
        if astray > settings.astrayMax, bestCost.isFinite {
            restoreBest()
            astray = 0
        }
        // Rises while somebody is left out, sinks while nobody is: the search walks along the border of the possible.
        penalty *= keptAbsentCount > 0 ? 1 + settings.penaltyStep : 1 - settings.penaltyStep
        penalty = min(max(penalty, network.step), 1000 * network.step)
    }

    private func decideWhileClosing() {
        let drop = -temperature * log(1 - chance.fraction())
        if absentCount == 0 {
            if keptAbsentCount > 0 || cost < keptCost + drop {
                let isNew = keptAbsentCount > 0
                keep()
                if isNew || cost < bestCost - 1e-9 || slots < bestSlots { foundPlan() }
            } else {
                undo()
            }
            return
        }
        let (now, before) = (sumOfAbsences(absent, absentCount), sumOfAbsences(keptAbsent, keptAbsentCount))
        let isBetter = keptAbsentCount > 0 && now < before
        let isEqual = absentCount == keptAbsentCount && now <= before && cost < keptCost + drop
        if keptAbsentCount > 0 { countAbsences() }
        if isBetter || isEqual { keep() } else { undo() }
    }

    /// What was tried becomes what is kept.
    private func keep() {
        for index in 0..<touchedCount {
            let slot = touched.int(index)
            kept.take(slot, from: routes, slot: slot)
            isTouched[slot] = false
        }
        touchedCount = 0
        keptAbsent.take(absent, count: absentCount)
        (keptAbsentCount, keptCost) = (absentCount, cost)
    }

    private func undo() {
        for index in 0..<touchedCount {
            let slot = touched.int(index)
            routes.take(slot, from: kept, slot: slot)
            isTouched[slot] = false
            self.index(slot)
        }
        touchedCount = 0
        absent.take(keptAbsent, count: keptAbsentCount)
        (absentCount, cost) = (keptAbsentCount, keptCost)
        for index in 0..<absentCount { slotOf[absent.int(index)] = -1 }
    }

    /// A whole plan that is better than the best one. Where routes count, empty slots are given up.
    private func foundPlan() {
        if problem.objective == .fewestRoutes {
            for slot in stride(from: slots - 1, through: 0, by: -1) where routes.length[slot] == 2 {
                slots -= 1
                if slot == slots { continue }
                routes.take(slot, from: routes, slot: slots)
                kept.take(slot, from: kept, slot: slots)
                index(slot)
            }
        }
        // Sums of differences drift; each plan that counts begins with an exact sum.
        cost = (0..<slots).reduce(0) { $0 + routes.distance[$1] }
        (keptCost, bestCost, bestSlots) = (cost, cost, slots)
        for slot in 0..<slots where best.stamp[slot] != routes.stamp[slot] { best.take(slot, from: routes, slot: slot) }
    }

    private func restoreBest() {
        slots = bestSlots
        for slot in 0..<slots {
            routes.take(slot, from: best, slot: slot)
            kept.take(slot, from: best, slot: slot)
            index(slot)
        }
        (absentCount, cost) = (0, bestCost)
        keep()
    }
}
