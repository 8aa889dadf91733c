/// The best order of a vehicle's stops, by dynamic programming over who is waiting, on board or done, and the last stop
/// (Psaraftis 1980, Transportation Science 14(2)).
///
/// Item i is a ride: waiting (0 waiting, 1 on board, 2 done) or already on board (0 on board, 1 done); a state is their mixed radix
/// number. The last stop of item i follows from its digit, so it takes no room of its own. Without time windows the remaining cost does
/// not depend on the clock: states are filled from the last one down, each from those above it.
///
/// Ties go to the stop of the item that comes first; items are put in order of rank, so the oldest request is served first.
final class ExactItinerary {
    static let itemsMax = 12

    // Node of the vehicle, then 2i and 2i + 1 for pickup and drop-off of item i.
    static let start = 2 * itemsMax
    static let nodes = 2 * itemsMax + 1

    private(set) var items = 0
    var capacity = 0.0
    var pickupServiceS = 0.0
    var dropoffServiceS = 0.0
    let isBoarded = Cells(itemsMax, false)
    let passengers = Cells(itemsMax, 0.0)
    let waitRate = Cells(itemsMax, 0.0)
    let rideRate = Cells(itemsMax, 0.0)
    /// From node (row) to stop (column).
    let seconds = Cells(nodes * nodes, 0.0)
    let legCost = Cells(nodes * nodes, 0.0)
    // Only when limits are there.
    let opensS = Cells(nodes, -Double.infinity)
    let closesS = Cells(nodes, Double.infinity)
    let rideLimitS = Cells(itemsMax, Double.infinity)
    let boardedAtS = Cells(itemsMax, 0.0)

    /// The result of the last search: nodes in order.
    let order = Cells(2 * itemsMax, Int32(0))
    private(set) var stops = 0

    private var table = Cells(0, 0.0)
    private let step = Cells(itemsMax, 0)
    private let digit = Cells(itemsMax, Int8(0))
    private let nextItem = Cells(itemsMax, 0)
    private let nextNode = Cells(itemsMax, 0)
    private let nextCost = Cells(itemsMax, 0.0)

    deinit {
        for cells in [
            passengers, waitRate, rideRate, seconds, legCost, opensS, closesS, rideLimitS, boardedAtS, table, nextCost,
        ] { cells.free() }
        for cells in [step, nextItem, nextNode] { cells.free() }
        isBoarded.free()
        order.free()
        digit.free()
    }

    func clear() { items = 0 }

    /// Adds an item; nodes' legs and windows are the caller's to fill. Precondition: there is room.
    func add(isBoarded boarded: Bool, passengers count: Double, waitRate wait: Double, rideRate ride: Double) -> Int {
        precondition(items < ExactItinerary.itemsMax)
        (isBoarded[items], passengers[items]) = (boarded, count)
        (waitRate[items], rideRate[items]) = (wait, ride)
        items += 1
        return items - 1
    }

    func keep(_ found: [Int32]) {
        stops = found.count
        for (k, node) in found.enumerated() { order[k] = node }
    }

    /// How many states so many waiting and boarded rides have; large numbers stop at `Int.max`.
    static func states(waiting: Int, boarded: Int) -> Int {
        guard waiting <= 12, boarded <= 20 else { return .max }
        var states = 1 << boarded
        for _ in 0..<waiting { states *= 3 }
        return states
    }

    /// The least cost without time windows; nil when the vehicle is too small. The order is then in `order`.
    func solve() -> Double? {
        var states = 1
        for i in 0..<items {
            step[i] = states
            digit[i] = isBoarded[i] ? 1 : 2
            states *= isBoarded[i] ? 2 : 3
        }
        stops = 0
        guard items > 0 else { return 0 }
        if table.count < states * items {
            table.free()
            table = Cells(states * items, 0)
        }
        let (table, items) = (table, items)
        var state = states - 1
        for i in 0..<items { table[state * items + i] = 0 }
        while state > 0 {
            stepDown()
            state -= 1
            fill(state, table, items)
        }
        guard firstCost.isFinite else { return nil }
        follow(table, items)
        return firstCost
    }

    private var firstCost = Double.infinity

    /// The digits of the state below.
    @inline(__always)
    private func stepDown() {
        var i = 0
        while digit[i] == 0 {
            digit[i] = isBoarded[i] ? 1 : 2
            i += 1
        }
        digit[i] -= 1
    }

    /// A lower bound of the remaining cost of a state, for each last stop that it can have.
    @inline(__always)
    private func fill(_ state: Int, _ table: Cells<Double>, _ items: Int) {
        let (rate, nexts) = gather(state, table, items)
        let base = state * items
        if rate.isNaN {
            for i in 0..<items { table[base + i] = .infinity }
            firstCost = .infinity
            return
        }
        if state == 0 {
            firstCost = least(from: ExactItinerary.start, rate, nexts).cost
            return
        }
        var i = 0
        while i < items {
            let at = lastNode(i)
            if at >= 0 { table[base + i] = least(from: at, rate, nexts).cost }
            i += 1
        }
    }

    /// Item i's stop that may have been the last one; -1 when it has none yet.
    @inline(__always)
    private func lastNode(_ i: Int) -> Int {
        let value = digit[i]
        if value == 0 { return -1 }
        return value == 2 || isBoarded[i] ? 2 * i + 1 : 2 * i
    }

    /// The possible next stops with the remaining cost after them, and the price of a second until then. Not a number: the vehicle is too
    /// full.
    @inline(__always)
    private func gather(_ state: Int, _ table: Cells<Double>, _ items: Int) -> (rate: Double, nexts: Int) {
        var (load, rate, nexts, i) = (0.0, 0.0, 0, 0)
        while i < items {
            let (value, boarded) = (digit[i], isBoarded[i])
            if value == 0, !boarded {
                rate += waitRate[i]
                (nextItem[nexts], nextNode[nexts]) = (i, 2 * i)
                nexts += 1
            } else if value == (boarded ? 0 : 1) {
                rate += rideRate[i]
                load += passengers[i]
                (nextItem[nexts], nextNode[nexts]) = (i, 2 * i + 1)
                nexts += 1
            }
            i += 1
        }
        if load > capacity { return (.nan, 0) }
        i = 0
        while i < nexts {
            let item = nextItem[i]
            let isPickup = nextNode[i] & 1 == 0
            let standing =
                isPickup ? (rate - waitRate[item]) * pickupServiceS : (rate - rideRate[item]) * dropoffServiceS
            nextCost[i] = standing + table[(state + step[item]) * items + item]
            i += 1
        }
        return (rate, nexts)
    }

    @inline(__always)
    private func least(from node: Int, _ rate: Double, _ nexts: Int) -> (cost: Double, next: Int) {
        let row = node * ExactItinerary.nodes
        var (best, chosen, i) = (Double.infinity, -1, 0)
        while i < nexts {
            let leg = row + nextNode[i]
            let cost = legCost[leg] + rate * seconds[leg] + nextCost[i]
            if cost < best { (best, chosen) = (cost, i) }
            i += 1
        }
        return (best, chosen)
    }

    /// Walks the table from the start along the cheapest stops.
    private func follow(_ table: Cells<Double>, _ items: Int) {
        var (state, node) = (0, ExactItinerary.start)
        for i in 0..<items { digit[i] = 0 }
        while true {
            let (rate, nexts) = gather(state, table, items)
            let chosen = least(from: node, rate, nexts).next
            guard chosen >= 0 else { return }
            node = nextNode[chosen]
            order[stops] = Int32(node)
            stops += 1
            state += step[nextItem[chosen]]
            digit[nextItem[chosen]] += 1
        }
    }
}
