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
        let (stops, on) = (RequestStops(r, network), RouteView(slot, of: routes))
        let (fromPickup, fromDropoff) = (stops.fromPickup, stops.fromDropoff)
        let (earliest, service) = (network.earliest, network.service)
        let room = network.capacity - network.load[stops.pickup]
        var best = Place(cost: limit)

        for i in 0..<on.last {
            let (a, b) = (on.node.int(i), on.node.int(i + 1))
            let reached = on.departure[i] + fromPickup[a]
            if reached > stops.pickupLatest { break }  // Later places are reached later still.
            if on.load[i] > room { continue }
            let (toB, legHere) = (fromPickup[b], on.leg[i])
            let detour = fromPickup[a] + toB - legHere
            if detour >= best.cost || blinks.now() { continue }
            let left = max(reached, stops.pickupEarliest) + stops.pickupService

            let direct = max(left + stops.between, stops.dropoffEarliest)
            let cost = fromPickup[a] + stops.between + fromDropoff[b] - legHere
            if cost < best.cost, direct <= stops.dropoffLatest,
                direct + stops.dropoffService + fromDropoff[b] <= on.latest[i + 1],
                allows(r, after: i, i, on)
            {
                best = Place(cost: cost, pickup: i, dropoff: i)
            }

            var time = left + toB
            if time > on.latest[i + 1] { continue }
            var j = i + 1
            while j < on.last {
                let here = on.node.int(j)
                // Time is when this stop is reached; from here on it is when it is left.
                time = max(time, earliest[here]) + service[here]
                if on.load[j] > room { break }
                let toDropoff = fromDropoff[here]
                let arrival = time + toDropoff
                if arrival > stops.dropoffLatest { break }
                let next = on.node.int(j + 1)
                let cost = detour + toDropoff + fromDropoff[next] - on.leg[j]
                if cost < best.cost,
                    max(arrival, stops.dropoffEarliest) + stops.dropoffService + fromDropoff[next] <= on.latest[j + 1],
                    allows(r, after: i, j, on)
                {
                    best = Place(cost: cost, pickup: i, dropoff: j)
                }
                time += on.leg[j]
                if time > on.latest[j + 1] { break }
                j += 1
            }
        }
        return best
    }

    @inline(__always) private func allows(_ r: Int, after i: Int, _ j: Int, _ on: RouteView) -> Bool {
        !network.isRideLimited
            || rides.allow(r, after: i, j, node: on.node, departure: on.departure, leg: on.leg, last: on.last)
    }
}

/// The two stops of a request that is to be placed.
private struct RequestStops {
    let pickup: Int
    let fromPickup, fromDropoff: Flat<Double>
    let pickupEarliest, pickupLatest, pickupService: Double
    let dropoffEarliest, dropoffLatest, dropoffService: Double
    /// From the one to the other.
    let between: Double

    @inline(__always) init(_ r: Int, _ network: Network) {
        pickup = r + 1
        let dropoff = r + 1 + network.requests
        fromPickup = network.distance.from(pickup * network.nodes)
        fromDropoff = network.distance.from(dropoff * network.nodes)
        pickupEarliest = network.earliest[pickup]
        pickupLatest = network.latest[pickup]
        pickupService = network.service[pickup]
        dropoffEarliest = network.earliest[dropoff]
        dropoffLatest = network.latest[dropoff]
        dropoffService = network.service[dropoff]
        between = fromPickup[dropoff]
    }
}

/// One route of a table, place by place.
private struct RouteView {
    let node: Flat<Int32>
    let departure, latest: Flat<Double>
    let load: Flat<Int32>
    let leg: Flat<Double>
    let last: Int

    @inline(__always) init(_ slot: Int, of routes: RouteTable) {
        let at = slot * routes.stride
        node = routes.node.from(at)
        departure = routes.departure.from(at)
        latest = routes.latest.from(at)
        load = routes.load.from(at)
        leg = routes.leg.from(at)
        last = routes.length.int(slot) - 1
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
