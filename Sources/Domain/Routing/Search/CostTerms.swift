/// The terms of an itinerary's cost, in weighted seconds.
public struct CostTerms: Equatable, Sendable {
    /// Driving, with weather and time of day.
    public var travel = 0.0
    /// Later requests served before older ones.
    public var order = 0.0
    /// Driving to pickups that may be cancelled, and to stops that a driver may refuse.
    public var cancel = 0.0
    public var override = 0.0
    public var wait = 0.0
    public var ride = 0.0

    public init() {}

    public static func - (a: CostTerms, b: CostTerms) -> CostTerms {
        var difference = CostTerms()
        difference.travel = a.travel - b.travel
        difference.order = a.order - b.order
        difference.cancel = a.cancel - b.cancel
        difference.override = a.override - b.override
        difference.wait = a.wait - b.wait
        difference.ride = a.ride - b.ride
        return difference
    }
}

/// When each stop of an itinerary begins, and what it costs, straight from the definition in `Weights`.
public struct Schedule: Equatable, Sendable {
    public var terms = CostTerms()
    /// Seconds from now, a stop each.
    public var startS: [Double] = []
    /// False: a window, a ride limit, the capacity or the order of pickup and drop-off is broken.
    public var isFeasible = true
    public var driveS = 0.0

    /// Precondition: `rides` are in order of rank and hold those of the vehicle's stops.
    public init(
        _ vehicle: RideVehicle, stops: [Stop], rides: [Ride], rules: DispatchRules, travel: TravelTimes, nowMs: Int64
    ) {
        let weights = rules.weights
        var (clock, place, lastRank): (Double, CampusPoint, Int64?) = (0, vehicle.place, nil)
        var pickedUpS: [Int64: Double] = [:]
        var load = 0
        for stop in stops where stop.kind == .dropoff {
            let ride = rides[rides.indexOfRank(stop.rank)]
            guard case .onBoard(_, let sinceMs) = ride.state else { continue }
            pickedUpS[stop.rank] = Double(sinceMs - nowMs) / 1_000
            load += ride.request.passengers
        }
        if load > vehicle.capacity { isFeasible = false }
        for stop in stops {
            let ride = rides[rides.indexOfRank(stop.rank)]
            let (request, isPickup) = (ride.request, stop.kind == .pickup)
            let target = isPickup ? request.pickup : request.dropoff
            let seconds = travel.seconds(from: place, to: target)
            let driving = weights.surge * weights.travel * seconds
            terms.travel += driving
            if isPickup { terms.cancel += driving * weights.cancel * request.cancelLikelihood }
            let refusal = isPickup ? request.overrideLikelihood : request.dropoffOverrideLikelihood
            terms.override += driving * weights.override * refusal
            if let lastRank { terms.order += weights.order * Double(max(0, lastRank - stop.rank)) }
            var start = clock + seconds
            if let window = isPickup ? request.pickupWindow : request.dropoffWindow {
                start = max(start, Double(window.openMs - nowMs) / 1_000)
                if start > Double(window.closeMs - nowMs) / 1_000 { isFeasible = false }
            }
            let passengers = Double(request.passengers)
            if isPickup {
                load += request.passengers
                if load > vehicle.capacity { isFeasible = false }
                terms.wait += passengers * weights.wait * start
                clock = start + rules.pickupServiceS
                pickedUpS[stop.rank] = clock
            } else {
                load -= request.passengers
                let since = pickedUpS[stop.rank] ?? .nan
                if since.isNaN { isFeasible = false }
                if let limit = request.rideMsMax, start - since > Double(limit) / 1_000 { isFeasible = false }
                // Time already ridden is past and the same in every order.
                terms.ride += passengers * weights.ride * (start - (ride.isOnBoard ? 0 : since))
                clock = start + rules.dropoffServiceS
            }
            startS.append(start)
            driveS += seconds
            place = target
            lastRank = stop.rank
        }
    }
}
