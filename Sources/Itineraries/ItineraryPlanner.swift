/// Plans for sets that are all known at once.
public struct ItineraryPlanner: Sendable {
    public var rules: DispatchRules
    public var travel: TravelTimes

    /// An itinerary that no other order beats.
    public struct Best: Equatable, Sendable {
        public var cost: Double
        public var stops: [Stop]
    }

    /// Not feasible at all, or too many combinations to say.
    public enum Fault: Error, Sendable { case infeasible, tooLarge }

    public init(rules: DispatchRules, travel: TravelTimes) { (self.rules, self.travel) = (rules, travel) }

    /// The best itinerary of one vehicle for `rides`, at time 0. Precondition: they are in order of rank.
    public func best(_ vehicle: RideVehicle, _ rides: [Ride]) throws(Fault) -> Best {
        let search = FleetSearch(vehicles: [vehicle], rides: rides, rules: rules, travel: travel, nowMs: 0)
        guard let best = search.bestOrder(0, of: Array(rides.indices), bound: .infinity) else { throw .tooLarge }
        guard best.cost.isFinite else { throw .infeasible }
        return Best(
            cost: best.cost,
            stops: best.stops.map { Stop(rank: rides[Int($0) >> 1].rank, kind: $0 & 1 == 0 ? .pickup : .dropoff) })
    }
}
