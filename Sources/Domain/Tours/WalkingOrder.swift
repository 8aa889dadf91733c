package import Fleet
internal import Routing

/// The length of a walk, and the shortest order of its waypoints.
///
/// Lengths are great circles from waypoint to waypoint (`Position.metres`, haversine on a sphere of 6,371,008.8 m). Paths wind:
/// what is walked is longer. Times are Naismith's rule (W. W. Naismith, Scottish Mountaineering Journal II, 1892) without the
/// heights, which are not known: 5 km in an hour, without stops.
package enum WalkingOrder {
    package static let kmh = 5.0
    /// Up to this many waypoints the order is proven to be the shortest.
    package static let exactMax = 12

    package struct Proposal: Equatable, Sendable {
        /// Indices of the places, in walking order; the first stays the first.
        package let order: [Int]
        package let metres: Double
        /// No order is shorter.
        package let isProven: Bool
    }

    /// In the order given, with `isRound` back to the first.
    package static func metres(_ places: [Position], isRound: Bool) -> Double {
        var sum = zip(places, places.dropFirst()).reduce(0) { $0 + $1.0.metres(to: $1.1) }
        if isRound, let first = places.first, let last = places.last { sum += last.metres(to: first) }
        return sum
    }

    /// Whole minutes, rounded up.
    package static func minutes(metres: Double) -> Int { Int((metres / (kmh * 1_000 / 60)).rounded(.up)) }

    /// The shortest walk that begins at the first place. Never longer than the order given.
    package static func propose(_ places: [Position], isRound: Bool) -> Proposal {
        let legs = places.map { from in places.map { from.metres(to: $0) } }
        func length(_ order: [Int]) -> Double {
            var sum = zip(order, order.dropFirst()).reduce(0) { $0 + legs[$1.0][$1.1] }
            if isRound, let first = order.first, let last = order.last { sum += legs[last][first] }
            return sum
        }
        let given = Array(places.indices)
        guard places.count > 2 else { return Proposal(order: given, metres: length(given), isProven: true) }
        let exact = shortest(legs, isRound: isRound)
        let found = exact ?? improved(given, legs, isRound: isRound)
        // Rounding must not change an order that is as good.
        let order = length(found) < length(given) - 1e-6 ? found : given
        return Proposal(order: order, metres: length(order), isProven: exact != nil)
    }

    /// By the exact search that orders the stops of ride vehicles: whoever is on board already is dropped at a waypoint, and
    /// nothing costs but the way. Nil: too many.
    private static func shortest(_ legs: [[Double]], isRound: Bool) -> [Int]? {
        let others = legs.count - 1
        // The way back is one more stop, which is never left again.
        let items = others + (isRound ? 1 : 0)
        guard items <= exactMax else { return nil }
        let sites = items + 1
        var measured = [Double](repeating: 0, count: sites * sites)
        for from in 0..<sites {
            for to in 0..<sites where from != to {
                let isLeavingHome = isRound && from == items
                let (a, b) = (from == legs.count ? 0 : from, to == legs.count ? 0 : to)
                // Tenths of metres would do; tens keep a whole walk below what leaving home costs.
                measured[from * sites + to] = isLeavingHome ? TravelTimes.longestS : legs[a][b] / 10
            }
        }
        guard let travel = TravelTimes(secondsPerMetre: 0, sites: sites, measuredS: measured) else { return nil }
        var rules = DispatchRules()
        rules.weights.wait = 0
        rules.weights.ride = 0
        rules.exactStatesMax = 1 << exactMax
        let rides = (1...items).map { site in
            Ride(
                request: RideRequest(
                    id: "w\(site)", passengers: 1, pickup: CampusPoint(site: 0), dropoff: CampusPoint(site: Int32(site))
                ),
                rank: Int64(site), requestedAtMs: 0, state: .onBoard(vehicle: "walker", sinceMs: 0))
        }
        let walker = RideVehicle(id: "walker", capacity: items, place: CampusPoint(site: 0))
        guard let best = try? ItineraryPlanner(rules: rules, travel: travel).best(walker, rides) else {
            // It refuses distances out of range; the search below accepts everything.
            return nil
        }
        let order = best.stops.map { Int($0.rank) }
        return [0] + (isRound ? order.filter { $0 != items } : order)
    }

    // MARK: Many waypoints

    /// The nearest next one first, then turning pieces round (2-opt, Croes 1958) and moving pieces of up to three (Or 1976)
    /// while that shortens the walk. Deterministic.
    private static func improved(_ given: [Int], _ legs: [[Double]], isRound: Bool) -> [Int] {
        var best = given
        var bestLength = Double.infinity
        for start in [given, nearestFirst(legs)] {
            var walk = Walk(order: start, legs: legs, isRound: isRound)
            walk.improve()
            if walk.length < bestLength - 1e-9 { (best, bestLength) = (walk.order, walk.length) }
        }
        return best
    }

    private static func nearestFirst(_ legs: [[Double]]) -> [Int] {
        var (order, left) = ([0], Array(1..<legs.count))
        while !left.isEmpty {
            let here = order.last!
            let next = left.min { (legs[here][$0], $0) < (legs[here][$1], $1) }!
            order.append(next)
            left.removeAll { $0 == next }
        }
        return order
    }
}

private struct Walk {
    private(set) var order: [Int]
    let legs: [[Double]]
    let isRound: Bool

    private static let roundsMax = 200

    init(order: [Int], legs: [[Double]], isRound: Bool) {
        self.order = order
        self.legs = legs
        self.isRound = isRound
    }

    var length: Double {
        (0..<order.count).reduce(0) { $0 + leg(order[$1], after: $1) }
    }

    /// The leg from a place to the one at `index` + 1; past the end the way home, or nothing.
    private func leg(_ from: Int, after index: Int) -> Double {
        if index + 1 < order.count { return legs[from][order[index + 1]] }
        return isRound ? legs[from][order[0]] : 0
    }

    mutating func improve() {
        var rounds = 0
        while rounds < Walk.roundsMax, turnOne() || moveOne() { rounds += 1 }
    }

    /// Turns the first best piece round; false: none shortens the walk.
    private mutating func turnOne() -> Bool {
        var (gainMost, piece) = (1e-6, 0..<0)
        for first in 1..<order.count {
            for last in first..<order.count where last > first {
                let before = legs[order[first - 1]][order[first]] + leg(order[last], after: last)
                let after = legs[order[first - 1]][order[last]] + leg(order[first], after: last)
                if before - after > gainMost { (gainMost, piece) = (before - after, first..<(last + 1)) }
            }
        }
        if piece.isEmpty { return false }
        order[piece].reverse()
        return true
    }

    /// Moves a piece of one to three to where it shortens the walk most, either way round.
    private mutating func moveOne() -> Bool {
        var (gainMost, best) = (1e-6, order)
        for count in 1...3 where order.count > count + 1 {
            for first in 1...(order.count - count) {
                let (before, last) = (order[first - 1], first + count - 1)
                let piece = Array(order[first...last])
                var rest = Walk(order: order, legs: legs, isRound: isRound)
                rest.order.removeSubrange(first...last)
                let freed =
                    legs[before][piece[0]] + leg(piece[count - 1], after: last) - rest.leg(before, after: first - 1)
                for place in 1...rest.order.count {
                    let from = rest.order[place - 1]
                    let open = rest.leg(from, after: place - 1)
                    for turned in [piece, piece.reversed()] {
                        let added = legs[from][turned[0]] + rest.leg(turned[count - 1], after: place - 1) - open
                        guard freed - added > gainMost else { continue }
                        gainMost = freed - added
                        best = rest.order
                        best.insert(contentsOf: turned, at: place)
                    }
                }
            }
        }
        if gainMost <= 1e-6 { return false }
        order = best
        return true
    }
}
