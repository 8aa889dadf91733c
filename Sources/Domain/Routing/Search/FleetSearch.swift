/// All itineraries of a campus as flat numbers, for one event: trial moves are made, measured and undone here.
///
/// Ride r has the stops 2r (pickup) and 2r + 1 (drop-off). The route of vehicle v has `length[v]` stops at
/// `v * stride + 1 …`; place 0 of a route is the vehicle itself. Times are seconds from the event, costs weighted seconds.
package final class FleetSearch {
    let rules: DispatchRules
    let weights: Weights
    let travel: TravelTimes
    let rides: Int
    package let vehicles: Int
    /// Places of a route: one for the vehicle, and one a stop.
    let stride: Int
    /// Whether any ride has a time window or a ride limit: waiting then bends what is linear otherwise.
    let isTimed: Bool
    let hasLimits: Cells<Bool>
    /// How many rides with limits each route has.
    let limited: Cells<Int>

    // By ride.
    package let passengers: Cells<Double>
    let waitRate: Cells<Double>
    let rideRate: Cells<Double>
    let rank: Cells<Double>
    let rideLimitS: Cells<Double>
    /// When it was picked up, on board or not yet: negative or, while waiting, not a number.
    let boardedAtS: Cells<Double>
    package let vehicleOf: Cells<Int32>
    /// The vehicle and the arrival that the rider was told before this event; -1 and not a number when nothing was told.
    let toldVehicle: Cells<Int32>
    let toldArrivalS: Cells<Double>
    /// By ride and vehicle: whether it may not go there.
    let isBanned: Cells<Bool>

    // By stop.
    let stopX: Cells<Double>
    let stopY: Cells<Double>
    let stopSite: Cells<Int32>
    /// The price of a second of driving towards it.
    let multiplier: Cells<Double>
    let opensS: Cells<Double>
    let closesS: Cells<Double>

    // By vehicle.
    package let capacity: Cells<Double>
    let isServing: Cells<Bool>
    let length: Cells<Int>
    package let cost: Cells<Double>
    /// The price of the promises that its route changes.
    let promises: Cells<Double>

    // By vehicle and place of the route.
    let stops: Cells<Int32>
    let x: Cells<Double>
    let y: Cells<Double>
    let site: Cells<Int32>
    let departS: Cells<Double>
    let load: Cells<Double>
    /// The price of delaying everything after this place by a second.
    let rate: Cells<Double>
    let legS: Cells<Double>
    let legCost: Cells<Double>
    /// The latest start of this place that keeps all windows from here on.
    let latestS: Cells<Double>

    // Scratch of insertions, by place of the route.
    let toPickup: Cells<Double>
    let toDropoff: Cells<Double>
    let fromPickup: Cells<Double>
    let fromDropoff: Cells<Double>
    let sequence: Cells<Int32>
    let pickedUpAtS: Cells<Double>
    let exact: ExactItinerary

    private static let roomLeast = 16

    /// Precondition: `rides` are in order of rank, `vehicles` name only rides that are there.
    package init(
        vehicles fleet: [RideVehicle], rides all: [Ride], rules: DispatchRules, travel: TravelTimes, nowMs: Int64
    ) {
        self.rules = rules
        weights = rules.weights
        self.travel = travel
        rides = all.count
        vehicles = fleet.count
        let longest = fleet.reduce(0) { max($0, $1.stops.count) }
        // Room for four times the average, or some more stops than now: what lies unused must be cleared at each event.
        let serving = max(1, fleet.reduce(0) { $0 + ($1.takesRides ? 1 : 0) })
        let room = max(longest + FleetSearch.roomLeast, 8 * all.count / serving)
        stride = min(DispatchRules.stopsMax, max(longest, min(2 * all.count, room))) + 1
        isTimed = all.contains {
            $0.request.pickupWindow != nil || $0.request.dropoffWindow != nil || $0.request.rideMsMax != nil
        }
        hasLimits = Cells(all.count, false)
        limited = Cells(fleet.count, 0)
        let (r, v, cells) = (rides, vehicles, vehicles * stride)
        passengers = Cells(r, 0)
        waitRate = Cells(r, 0)
        rideRate = Cells(r, 0)
        rank = Cells(r, 0)
        rideLimitS = Cells(r, .infinity)
        boardedAtS = Cells(r, .nan)
        vehicleOf = Cells(r, -1)
        toldVehicle = Cells(r, -1)
        toldArrivalS = Cells(r, .nan)
        isBanned = Cells(r * v, false)
        stopX = Cells(2 * r, 0)
        stopY = Cells(2 * r, 0)
        stopSite = Cells(2 * r, -1)
        multiplier = Cells(2 * r, 0)
        opensS = Cells(2 * r, -.infinity)
        closesS = Cells(2 * r, .infinity)
        capacity = Cells(v, 0)
        isServing = Cells(v, false)
        length = Cells(v, 0)
        cost = Cells(v, 0)
        promises = Cells(v, 0)
        stops = Cells(cells, -1)
        x = Cells(cells, 0)
        y = Cells(cells, 0)
        site = Cells(cells, -1)
        departS = Cells(cells, 0)
        load = Cells(cells, 0)
        rate = Cells(cells, 0)
        legS = Cells(cells, 0)
        legCost = Cells(cells, 0)
        latestS = Cells(isTimed ? cells : 0, .infinity)
        toPickup = Cells(stride + 1, 0)
        toDropoff = Cells(stride + 1, 0)
        fromPickup = Cells(stride + 1, 0)
        fromDropoff = Cells(stride + 1, 0)
        sequence = Cells(stride + 2, 0)
        pickedUpAtS = Cells(r, 0)
        exact = ExactItinerary()
        for (index, ride) in all.enumerated() { put(ride, at: index, nowMs: nowMs) }
        for (index, vehicle) in fleet.enumerated() { put(vehicle, at: index, of: all) }
    }

    deinit {
        for cells in [
            passengers, waitRate, rideRate, rank, rideLimitS, boardedAtS, toldArrivalS, stopX, stopY, multiplier,
            opensS,
            closesS, capacity, cost, promises, x, y, departS, load, rate, legS, legCost, latestS, toPickup, toDropoff,
            fromPickup, fromDropoff, pickedUpAtS,
        ] { cells.free() }
        for cells in [vehicleOf, toldVehicle, stopSite, stops, site, sequence] { cells.free() }
        for cells in [isBanned, isServing, hasLimits] { cells.free() }
        for cells in [length, limited] { cells.free() }
    }

    private func put(_ ride: Ride, at r: Int, nowMs: Int64) {
        let request = ride.request
        passengers[r] = Double(request.passengers)
        waitRate[r] = weights.wait * Double(request.passengers)
        rideRate[r] = weights.ride * Double(request.passengers)
        rank[r] = Double(ride.rank)
        hasLimits[r] = request.pickupWindow != nil || request.dropoffWindow != nil || request.rideMsMax != nil
        if let limit = request.rideMsMax { rideLimitS[r] = Double(limit) / 1_000 }
        if case .onBoard(_, let sinceMs) = ride.state { boardedAtS[r] = Double(sinceMs - nowMs) / 1_000 }
        let driving = weights.surge * weights.travel
        put(request.pickup, request.pickupWindow, at: 2 * r, nowMs)
        put(request.dropoff, request.dropoffWindow, at: 2 * r + 1, nowMs)
        multiplier[2 * r] =
            driving * (1 + weights.cancel * request.cancelLikelihood + weights.override * request.overrideLikelihood)
        multiplier[2 * r + 1] = driving * (1 + weights.override * request.dropoffOverrideLikelihood)
    }

    private func put(_ place: CampusPoint, _ window: Window?, at stop: Int, _ nowMs: Int64) {
        (stopX[stop], stopY[stop], stopSite[stop]) = (place.xM, place.yM, place.site)
        guard let window else { return }
        opensS[stop] = Double(window.openMs - nowMs) / 1_000
        closesS[stop] = Double(window.closeMs - nowMs) / 1_000
    }

    private func put(_ vehicle: RideVehicle, at v: Int, of all: [Ride]) {
        (capacity[v], isServing[v]) = (Double(vehicle.capacity), vehicle.takesRides)
        let base = v * stride
        (x[base], y[base], site[base]) = (vehicle.place.xM, vehicle.place.yM, vehicle.place.site)
        length[v] = vehicle.stops.count
        for (k, stop) in vehicle.stops.enumerated() {
            let r = all.indexOfRank(stop.rank)
            stops[base + k + 1] = Int32(2 * r + (stop.kind == .pickup ? 0 : 1))
            vehicleOf[r] = Int32(v)
        }
        guard !refresh(v), limited[v] > 0 else { return }
        // A window that is missed by now is a broken promise, not a reason to plan nothing more for this vehicle.
        for k in 0..<length[v] {
            let stop = Int(stops[base + k + 1])
            (closesS[stop], rideLimitS[stop / 2]) = (.infinity, .infinity)
        }
        refresh(v)
    }

    /// Riders' present knowledge is the baseline for the next change of plan.
    func markTold() {
        for v in 0..<vehicles {
            for k in 1..<length[v] + 1 {
                let (stop, cell) = (Int(stops[v * stride + k]), v * stride + k)
                guard stop & 1 == 0 else { continue }
                toldVehicle[stop / 2] = Int32(v)
                toldArrivalS[stop / 2] = departS[cell] - rules.pickupServiceS
            }
        }
    }

    func isOnBoard(_ r: Int) -> Bool { !boardedAtS[r].isNaN }

    var totalCost: Double { (0..<vehicles).reduce(0) { $0 + cost[$1] } }

    /// The itinerary of a vehicle as it stands.
    package func itinerary(_ v: Int, of all: [Ride]) -> [Stop] {
        (0..<length[v]).map { k in
            let stop = Int(stops[v * stride + k + 1])
            return Stop(rank: all[stop / 2].rank, kind: stop & 1 == 0 ? .pickup : .dropoff)
        }
    }
}

extension [Ride] {
    /// Precondition: it is there. Rides are kept in order of rank.
    func indexOfRank(_ rank: Int64) -> Int {
        guard let index = firstIndex(ofRank: rank) else { preconditionFailure("no ride of rank \(rank)") }
        return index
    }

    func firstIndex(ofRank rank: Int64) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].rank < rank { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].rank == rank ? low : nil
    }
}
