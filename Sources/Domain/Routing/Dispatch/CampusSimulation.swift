/// Drives the vehicles of a campus along straight lines, exactly as planned: they divert at once when the plan changes, stand
/// at a stop as long as the rules say, and stay where they are when they have none.
///
/// The caller takes events in order of time: those that `next` returns on the way, then its own.
public struct CampusSimulation: Sendable {
    /// One request from its beginning to its end.
    public struct Trip: Equatable, Sendable {
        public var passengers: Int
        public var requestedS: Double
        public var pickedUpS: Double?
        public var droppedOffS: Double?
    }

    public private(set) var campus: Campus
    public private(set) var nowS = 0.0
    /// Driving of all vehicles together.
    public private(set) var driveS = 0.0
    public private(set) var trips: [String: Trip] = [:]
    /// Requests that were told another vehicle than before.
    public private(set) var otherVehicles = 0
    /// Sum of the seconds by which told arrivals moved, either way, by decisions.
    public private(set) var movedArrivalS = 0.0
    /// Events of each kind that were taken, for the seed of the next.
    private var taken: UInt64 = 0
    private let seed: UInt64
    /// The campus clock's second 0, in epoch milliseconds.
    private let startMs: Int64
    /// When vehicles that stand at a stop go on, by vehicle.
    private var standsUntilS: [String: Double] = [:]

    public init(campus: Campus, seed: UInt64, startMs: Int64 = 0) {
        self.campus = campus
        self.seed = seed
        self.startMs = startMs
    }

    /// Changes how the campus decides from here on.
    public mutating func setRules(_ rules: DispatchRules) {
        var changed = rules
        changed.weights.surge = campus.rules.weights.surge
        campus.rules = changed
    }

    /// Drives on to the next stop that is reached before `untilS` and returns that event, or to `untilS` and returns nil.
    public mutating func next(untilS: Double) -> DispatchEvent? {
        var (first, arrivalS): (Int?, Double) = (nil, untilS)
        for (v, vehicle) in campus.vehicles.enumerated() {
            guard let stop = vehicle.stops.first else { continue }
            let atS =
                max(nowS, standsUntilS[vehicle.id] ?? 0)
                + campus.travel.seconds(from: vehicle.place, to: place(of: stop))
            if atS <= arrivalS { if first == nil || atS < arrivalS { (first, arrivalS) = (v, atS) } }
        }
        drive(to: max(arrivalS, nowS))
        guard let first else { return nil }
        let stop = campus.vehicles[first].stops[0]
        campus.vehicles[first].place = place(of: stop)
        let rules = campus.rules
        let standsS = stop.kind == .pickup ? rules.pickupServiceS : rules.dropoffServiceS
        if standsS > 0 { standsUntilS[campus.vehicles[first].id] = nowS + standsS }
        let id = campus.rides[campus.rides.indexOfRank(stop.rank)].request.id
        return stop.kind == .pickup ? .pickedUp(request: id) : .droppedOff(request: id)
    }

    /// Takes an event at the present time and keeps the books.
    public mutating func apply(_ event: DispatchEvent) -> Decision {
        note(event)
        taken += 1
        let decision = campus.apply(
            event, atMs: startMs + Int64((nowS * 1_000).rounded()), seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ taken)
        for moved in decision.moved {
            if moved.vehicleBefore != moved.vehicleAfter { otherVehicles += 1 }
            movedArrivalS += Double((moved.arrivalAfterMs - moved.arrivalBeforeMs).magnitude) / 1_000
        }
        for id in decision.expired { trips[id] = nil }
        return decision
    }

    private mutating func note(_ event: DispatchEvent) {
        switch event {
        case .requested(let request):
            if trips[request.id] == nil { trips[request.id] = Trip(passengers: request.passengers, requestedS: nowS) }
        case .cancelled(let id):
            if let ride = campus.ride(id), !ride.isOnBoard { trips[id] = nil }
        case .pickedUp(let id):
            if trips[id]?.pickedUpS == nil { trips[id]?.pickedUpS = nowS }
        case .droppedOff(let id): trips[id]?.droppedOffS = nowS
        case .ended(let id): trips[id] = nil
        case .overridden, .handedOver, .entered, .left, .brokeDown, .fellSilent, .moved, .rulesChanged, .surgeChanged,
            .travelTimesChanged,
            .timesMeasured, .timePassed:
            break
        }
    }

    private func place(of stop: Stop) -> CampusPoint {
        let request = campus.rides[campus.rides.indexOfRank(stop.rank)].request
        return stop.kind == .pickup ? request.pickup : request.dropoff
    }

    /// Nobody reaches a stop before `untilS`.
    private mutating func drive(to untilS: Double) {
        let beganS = nowS
        nowS = untilS
        guard untilS > beganS else { return }
        for v in campus.vehicles.indices {
            guard let stop = campus.vehicles[v].stops.first else { continue }
            let (from, target) = (campus.vehicles[v].place, place(of: stop))
            let seconds = max(0, untilS - max(beganS, standsUntilS[campus.vehicles[v].id] ?? 0))
            let whole = campus.travel.seconds(from: from, to: target)
            driveS += min(seconds, whole)
            let share = whole > 0 ? min(1, seconds / whole) : 1
            campus.vehicles[v].place = CampusPoint(
                xM: from.xM + (target.xM - from.xM) * share, yM: from.yM + (target.yM - from.yM) * share)
        }
    }
}
