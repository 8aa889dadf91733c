/// A whole set of requests that are all known now, planned in slices: the caller looks at the clock between them.
public final class FleetPlan {
    private let rides: [Ride]
    private let vehicles: [RideVehicle]
    private let search: FleetSearch
    private let improvement: Improvement
    /// Ranks of those who fit into no vehicle.
    public let unassigned: [Int64]

    /// Puts every ride where it is cheapest, the oldest first. Nil when a value is out of its range.
    ///
    /// Preconditions: `rides` are in order of rank; `vehicles` have no stops but the drop-offs of who is on board.
    public init?(vehicles: [RideVehicle], rides: [Ride], rules: DispatchRules, travel: TravelTimes, seed: UInt64) {
        guard rules.isValid, travel.isValid, rides.count <= DispatchRules.ridesMax,
            vehicles.count <= DispatchRules.vehiclesMax, vehicles.allSatisfy(\.isValid),
            rides.allSatisfy({ $0.request.isValid })
        else { return nil }
        self.rides = rides
        self.vehicles = vehicles
        search = FleetSearch(vehicles: vehicles, rides: rides, rules: rules, travel: travel, nowMs: 0)
        var left: [Int64] = []
        for r in rides.indices where search.vehicleOf[r] < 0 {
            guard let (v, place) = search.cheapestVehicle(r) else {
                left.append(rides[r].rank)
                continue
            }
            search.insert(r, into: v, place)
        }
        unassigned = left
        improvement = Improvement(search, seed: seed, heat: .wholeSet)
    }

    /// Runs rounds of a search that is `from` to `to` of its whole length, 0 to 1.
    public func improve(rounds: Int, from: Double, to: Double) { improvement.run(rounds: rounds, from: from, to: to) }

    public var cost: Double { search.totalCost }

    public var itineraries: [Decision.Itinerary] {
        vehicles.indices.map { Decision.Itinerary(vehicle: vehicles[$0].id, stops: search.itinerary($0, of: rides)) }
    }
}

extension FleetSearch {
    /// The vehicle and places where one more ride costs least by insertion; the other stops keep their order.
    func cheapestVehicle(_ r: Int) -> (Int, Insertion)? {
        var (best, found): (Double, (Int, Insertion)?) = (.infinity, nil)
        for v in 0..<vehicles where mayTake(r, v) {
            guard let place = cheapest(r, in: v, below: best, isBounded: travel.obeysTriangle) else { continue }
            best = place.change
            found = (v, place)
        }
        return found
    }
}
