/// Exact itineraries of one vehicle of a fleet, with or without one more ride.
extension FleetSearch {
    /// A vehicle's proven best itinerary.
    struct BestOrder {
        var cost: Double
        /// Stops in order, empty when there is no feasible one.
        var stops: [Int32]
    }

    /// The rides that a vehicle has, in order of rank, with `r` among them when it is not negative.
    private func ridesOf(_ v: Int, and r: Int) -> [Int] {
        var found: [Int] = []
        for k in 0..<length[v] {
            let stop = Int(stops[v * stride + k + 1])
            if stop & 1 == 1 { found.append(stop >> 1) }
        }
        if r >= 0 { found.append(r) }
        found.sort()
        return found
    }

    /// The best order; nil when there are too many combinations to be sure. An infeasible one costs infinitely much.
    ///
    /// Without limits the search does not need `bound`; with them, what costs more is not looked at.
    func bestOrder(_ v: Int, with r: Int = -1, bound: Double = .infinity) -> BestOrder? {
        bestOrder(v, of: ridesOf(v, and: r), bound: bound)
    }

    /// The same for any rides, in order of rank.
    func bestOrder(_ v: Int, of items: [Int], bound: Double) -> BestOrder? {
        guard items.count <= ExactItinerary.itemsMax else { return nil }
        let boarded = items.reduce(0) { $0 + (isOnBoard($1) ? 1 : 0) }
        guard
            ExactItinerary.states(waiting: items.count - boarded, boarded: boarded) <= max(1, rules.exactStatesMax)
        else { return nil }
        describe(v, items)
        if !items.contains(where: { hasLimits[$0] }) {
            guard let cost = exact.solve() else { return BestOrder(cost: .infinity, stops: []) }
            return BestOrder(cost: cost, stops: found(items))
        }
        switch exact.solveTimed(bound: bound + 1e-9 * bound.magnitude, labelsMax: rules.exactLabelsMax) {
        case .best(let cost): return BestOrder(cost: cost, stops: found(items))
        case .infeasible: return BestOrder(cost: .infinity, stops: [])
        case .tooMany: return nil
        }
    }

    private func found(_ items: [Int]) -> [Int32] {
        (0..<exact.stops).map { k in
            let node = Int(exact.order[k])
            return Int32(2 * items[node >> 1] + (node & 1))
        }
    }

    private func describe(_ v: Int, _ items: [Int]) {
        exact.clear()
        exact.capacity = capacity[v]
        exact.pickupServiceS = rules.pickupServiceS
        exact.dropoffServiceS = rules.dropoffServiceS
        for r in items {
            let i = exact.add(
                isBoarded: isOnBoard(r), passengers: passengers[r], waitRate: waitRate[r], rideRate: rideRate[r])
            guard isTimed else { continue }
            exact.rideLimitS[i] = rideLimitS[r]
            exact.boardedAtS[i] = isOnBoard(r) ? boardedAtS[r] : 0
            for kind in 0...1 {
                exact.opensS[2 * i + kind] = opensS[2 * r + kind]
                exact.closesS[2 * i + kind] = closesS[2 * r + kind]
            }
        }
        for (i, r) in items.enumerated() {
            for kind in (isOnBoard(r) ? 1 : 0)...1 {
                describeLegs(v, items, to: 2 * r + kind, node: 2 * i + kind)
            }
        }
    }

    /// The legs from everywhere to one stop.
    private func describeLegs(_ v: Int, _ items: [Int], to stop: Int, node: Int) {
        let nodes = ExactItinerary.nodes
        let fromVehicle = secondsTo(stop, from: v * stride)
        exact.seconds[ExactItinerary.start * nodes + node] = fromVehicle
        exact.legCost[ExactItinerary.start * nodes + node] = multiplier[stop] * fromVehicle
        for (i, r) in items.enumerated() {
            let overtaken = overtaking(rank[r], rank[stop >> 1])
            for kind in (isOnBoard(r) ? 1 : 0)...1 where 2 * r + kind != stop {
                let drive = secondsBetween(2 * r + kind, stop)
                exact.seconds[(2 * i + kind) * nodes + node] = drive
                exact.legCost[(2 * i + kind) * nodes + node] = multiplier[stop] * drive + overtaken
            }
        }
    }

    /// Gives a vehicle an order of its stops.
    func setStops(_ v: Int, _ order: [Int32]) {
        length[v] = order.count
        for (k, stop) in order.enumerated() {
            stops[v * stride + k + 1] = stop
            vehicleOf[Int(stop) >> 1] = Int32(v)
        }
        refresh(v)
    }

    func stopsOf(_ v: Int) -> [Int32] { (0..<length[v]).map { stops[v * stride + $0 + 1] } }

    /// Makes a vehicle's order as good as it can be made: exactly where that is possible, else by taking each waiting ride
    /// out and putting it back where it is cheapest until nothing improves. Never makes it dearer.
    package func optimise(_ v: Int) {
        guard length[v] > 1 else { return }
        let standing = cost[v]
        if let best = bestOrder(v, bound: standing) {
            guard best.cost.isFinite else { return }
            // A gain within rounding is no reason to change what people were told.
            if !standing.isFinite || best.cost < standing - 1e-9 * (1 + standing.magnitude) { setStops(v, best.stops) }
            return
        }
        if !standing.isFinite { rebuild(v) }
        if cost[v].isFinite { relocate(v) }
    }

    /// An order that became impossible, because a stop was reached out of turn: those on board first, the others where they
    /// cost least.
    private func rebuild(_ v: Int) {
        let standing = stopsOf(v)
        let waiting = ridesOf(v, and: -1).filter { !isOnBoard($0) }
        for r in waiting { removeStops(of: r) }
        refresh(v)
        for r in waiting {
            guard cost[v].isFinite, let place = cheapest(r, in: v, below: .infinity, isBounded: false) else {
                return setStops(v, standing)
            }
            insert(r, into: v, place)
        }
    }

    private func relocate(_ v: Int) {
        var isImproved = true
        var rounds = 0
        while isImproved, rounds < 10 {
            isImproved = false
            rounds = rounds + 1
            for r in ridesOf(v, and: -1) where !isOnBoard(r) {
                let (order, standing) = (stopsOf(v), cost[v])
                removeStops(of: r)
                refresh(v)
                if let place = cheapest(r, in: v, below: .infinity, isBounded: false) { insert(r, into: v, place) }
                if vehicleOf[r] == Int32(v), cost[v] < standing - 1e-9 * (1 + standing) {
                    isImproved = true
                } else {
                    setStops(v, order)
                }
            }
        }
    }
}
