/// The cheapest place for a request in a route: the pickup after place `pickup`, the drop-off after place `dropoff`, both
/// counted in the route as it is (equal places: one behind the other).
package struct Place {
    package var cost: Double
    /// Negative: there is none below the limit that was asked for.
    package var pickup = -1
    package var dropoff = -1
}

/// Looks for places. Each pair of places costs constant time by what stands beside the stops.
package struct Insertion {
    let network: Network
    let rides: RideTimes

    package init(network: Network, rides: RideTimes) { (self.network, self.rides) = (network, rides) }

    /// Leaves pairs out now and then (`blinks`), so that a search does not always get the same answer.
    package func best(
        of r: Int, in slot: Int, of routes: RouteTable, below limit: Double, blinks: inout Blinks
    ) -> Place {
        let at = slot * routes.stride
        let (node, departure) = (routes.node.from(at), routes.departure.from(at))
        let (latest, load, leg) = (routes.latest.from(at), routes.load.from(at), routes.leg.from(at))
        let last = routes.length.int(slot) - 1
        let (pickup, dropoff) = (r + 1, r + 1 + network.requests)
        let fromPickup = network.distance.from(pickup * network.nodes)
        let fromDropoff = network.distance.from(dropoff * network.nodes)
        let (earliest, service) = (network.earliest, network.service)
        let (pickupEarliest, pickupLatest) = (earliest[pickup], network.latest[pickup])
        let (dropoffEarliest, dropoffLatest) = (earliest[dropoff], network.latest[dropoff])
        let (pickupService, dropoffService) = (service[pickup], service[dropoff])
        let between = fromPickup[dropoff]
        let room = network.capacity - network.load[pickup]
        var best = Place(cost: limit)

        for i in 0..<last {
            let (a, b) = (node.int(i), node.int(i + 1))
            let reached = departure[i] + fromPickup[a]
            if reached > pickupLatest { break }  // Later places are reached later still.
            if load[i] > room { continue }
            let (toB, legHere) = (fromPickup[b], leg[i])
            let detour = fromPickup[a] + toB - legHere
            if detour >= best.cost || blinks.now() { continue }
            let left = max(reached, pickupEarliest) + pickupService

            let direct = max(left + between, dropoffEarliest)
            let cost = fromPickup[a] + between + fromDropoff[b] - legHere
            if cost < best.cost, direct <= dropoffLatest,
                direct + dropoffService + fromDropoff[b] <= latest[i + 1],
                !network.isRideLimited
                    || rides.allow(r, after: i, i, node: node, departure: departure, leg: leg, last: last)
            {
                best = Place(cost: cost, pickup: i, dropoff: i)
            }

            var time = left + toB
            if time > latest[i + 1] { continue }
            var j = i + 1
            while j < last {
                let here = node.int(j)
                // Time is when this stop is reached; from here on it is when it is left.
                time = max(time, earliest[here]) + service[here]
                if load[j] > room { break }
                let toDropoff = fromDropoff[here]
                let arrival = time + toDropoff
                if arrival > dropoffLatest { break }
                let next = node.int(j + 1)
                let cost = detour + toDropoff + fromDropoff[next] - leg[j]
                if cost < best.cost,
                    max(arrival, dropoffEarliest) + dropoffService + fromDropoff[next] <= latest[j + 1],
                    !network.isRideLimited
                        || rides.allow(r, after: i, j, node: node, departure: departure, leg: leg, last: last)
                {
                    best = Place(cost: cost, pickup: i, dropoff: j)
                }
                time += leg[j]
                if time > latest[j + 1] { break }
                j += 1
            }
        }
        return best
    }
}

/// Says yes once in a while: counts down to the next time, which costs less than asking chance each time.
package struct Blinks {
    package static let never = Blinks(mean: .infinity, chance: Chance(seed: 0))
    private let mean: Double
    private var left: Int
    private var chance: Chance

    /// Once in `mean` questions.
    init(mean: Double, chance: Chance) {
        self.mean = mean
        self.chance = chance
        left = 0
        left = gap()
    }

    @inline(__always) mutating func now() -> Bool {
        left &-= 1
        if left > 0 { return false }
        left = gap()
        return true
    }

    private mutating func gap() -> Int {
        mean.isFinite ? 1 + chance.below(Int(2 * mean)) : Int.max
    }
}
