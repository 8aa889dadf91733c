/// The vehicle whose best itinerary grows least by one more ride.
package struct Candidate {
    package var vehicle: Int
    /// Cost of the best itinerary without and with the ride.
    var before: Double
    var after: Double
    /// The price of the arrivals that move for those who were told theirs.
    var promises: Double
    /// Whether both are proven to be the best.
    var isProven: Bool
    /// The orders that `before` and `after` cost.
    var stopsBefore: [Int32]
    var stops: [Int32]

    package var growth: Double { after - before + promises }
}

extension FleetSearch {
    package struct Choice {
        /// By growth, the smallest first; ties by who has been in service longest.
        package var candidates: [Candidate] = []
        /// Vehicles that could take the ride but cannot beat the first candidate, by their lower bound.
        package var boundedOut = 0
    }

    /// Tries vehicles in order of a lower bound of their growth until the bound of the next one is no better.
    package func leastChange(_ r: Int) -> Choice {
        var queue: [(bound: Double, vehicle: Int)] = []
        queue.reserveCapacity(vehicles)
        let isBounded = travel.obeysTriangle && !isTimed
        for v in 0..<vehicles where mayTake(r, v) {
            queue.append((isBounded ? lowerBound(r, v) : -.infinity, v))
        }
        queue.sort { ($0.bound, $0.vehicle) < ($1.bound, $1.vehicle) }

        // Insertions are cheap and give a first growth to beat.
        let isExactBound = isBounded && weights.cancel == 0 && weights.override == 0
        var reach = Double.infinity
        if rules.movedArrivalPrice == 0 {
            for (bound, v) in queue {
                if bound >= reach { break }
                if let place = cheapest(r, in: v, below: reach, isBounded: isExactBound) { reach = place.change }
            }
            reach += 1e-6 * (1 + reach.magnitude)
        }
        var choice = Choice()
        for (index, entry) in queue.enumerated() {
            if entry.bound >= reach {
                choice.boundedOut = queue.count - index
                break
            }
            guard let candidate = candidate(r, entry.vehicle, isExactBound) else { continue }
            choice.candidates.append(candidate)
            reach = min(reach, candidate.growth + 1e-9 * (1 + candidate.growth.magnitude))
        }
        choice.candidates.sort { a, b in
            let isTie = (a.growth - b.growth).magnitude <= 1e-9 * (1 + a.growth.magnitude)
            return isTie ? a.vehicle < b.vehicle : a.growth < b.growth
        }
        return choice
    }

    /// Serving a ride costs at least its own waiting and riding, because removing it from the best itinerary leaves one that is no longer
    /// than before. A stop behind it may cost more to drive to than its own: that much is subtracted.
    private func lowerBound(_ r: Int, _ v: Int) -> Double {
        let (pickup, dropoff, base) = (2 * r, 2 * r + 1, v * stride)
        let direct = secondsBetween(pickup, dropoff)
        let own = waitRate[r] * secondsTo(pickup, from: base) + rideRate[r] * direct
        guard weights.cancel > 0 || weights.override > 0 else { return own }
        var (dearest, farPickup, farDropoff) = (0.0, 0.0, direct)
        for k in 0...length[v] {
            if k > 0 { dearest = max(dearest, multiplier[Int(stops[base + k])]) }
            farPickup = max(farPickup, secondsTo(pickup, from: base + k))
            farDropoff = max(farDropoff, secondsTo(dropoff, from: base + k))
        }
        return own - farPickup * max(0, dearest - multiplier[pickup])
            - farDropoff * max(0, max(dearest, multiplier[pickup]) - multiplier[dropoff])
    }

    private func candidate(_ r: Int, _ v: Int, _ isExactBound: Bool) -> Candidate? {
        guard cost[v].isFinite else { return nil }
        let (standing, broken) = (stopsOf(v), promises[v])
        // Best with the ride: exactly, or by insertion and by moving the others in the route.
        if let best = bestOrder(v, with: r) {
            guard best.cost.isFinite else { return nil }
            let other = standing.isEmpty ? nil : bestOrder(v)
            let isBetter = (other?.cost ?? .infinity) < cost[v]
            let before = isBetter ? other!.cost : cost[v]
            let price = rules.movedArrivalPrice > 0 ? promisePrice(v, best.stops, standing) - broken : 0
            return Candidate(
                vehicle: v, before: before, after: best.cost, promises: price, isProven: true,
                stopsBefore: isBetter ? other!.stops : standing, stops: best.stops)
        }
        let before = cost[v]
        guard let place = cheapest(r, in: v, below: .infinity, isBounded: false) else { return nil }
        insert(r, into: v, place)
        if rules.exactStatesMax > 1 { optimise(v) }
        let candidate = Candidate(
            vehicle: v, before: before, after: cost[v], promises: promises[v] - broken, isProven: false,
            stopsBefore: standing, stops: stopsOf(v))
        vehicleOf[r] = -1
        setStops(v, standing)
        return candidate
    }

    /// The price in promises of another order of a vehicle's stops.
    private func promisePrice(_ v: Int, _ order: [Int32], _ standing: [Int32]) -> Double {
        setStops(v, order)
        let price = promises[v]
        for stop in order where !standing.contains(stop) { vehicleOf[Int(stop) >> 1] = -1 }
        setStops(v, standing)
        return price
    }
}
