/// Plans for sets that are all known at once.
public struct ItineraryPlanner: Sendable {
    public var rules: DispatchRules
    public var travel: TravelTimes

    /// An itinerary that no other order beats.
    public struct Best: Equatable, Sendable {
        public var cost: Double
        public var stops: [Stop]
    }

    /// A value out of its range, not feasible at all, or too many combinations to say.
    public enum Fault: Error, Sendable { case invalid, infeasible, tooLarge }

    public init(rules: DispatchRules, travel: TravelTimes) { (self.rules, self.travel) = (rules, travel) }

    /// The best itinerary of one vehicle for `rides`, at time 0. Precondition: they are in order of rank.
    public func best(_ vehicle: RideVehicle, _ rides: [Ride]) throws(Fault) -> Best {
        guard rules.isValid, travel.isValid, vehicle.isValid, rides.count <= ExactItinerary.itemsMax,
            rides.allSatisfy({ $0.request.isValid })
        else { throw rides.count > ExactItinerary.itemsMax ? .tooLarge : .invalid }
        let search = FleetSearch(vehicles: [vehicle], rides: rides, rules: rules, travel: travel, nowMs: 0)
        guard let best = search.bestOrder(0, of: Array(rides.indices), bound: .infinity) else { throw .tooLarge }
        guard best.cost.isFinite else { throw .infeasible }
        return Best(
            cost: best.cost,
            stops: best.stops.map { Stop(rank: rides[Int($0) >> 1].rank, kind: $0 & 1 == 0 ? .pickup : .dropoff) })
    }
}

/// One itinerary that is solved again and again, for measuring.
public final class ExactItineraryTimer {
    private let search: FleetSearch
    private let items: [Int]

    /// Preconditions as for `ItineraryPlanner.best`.
    public init(vehicle: RideVehicle, rides: [Ride], rules: DispatchRules, travel: TravelTimes) {
        search = FleetSearch(vehicles: [vehicle], rides: rides, rules: rules, travel: travel, nowMs: 0)
        items = Array(rides.indices)
    }

    @discardableResult
    public func solve() -> Double? { search.bestOrder(0, of: items, bound: .infinity)?.cost }
}
