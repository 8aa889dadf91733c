/// The effects of an event before anything is decided.
extension Campus {
    struct Effect {
        /// The request that the event asked for.
        var asked: Int64?
        /// Vehicles whose order may not be the best any more; nil means all.
        var disturbed: [String]? = []
        /// True when there is nothing to decide.
        var isQuiet = false
    }

    mutating func absorb(_ event: DispatchEvent, atMs: Int64) throws(DispatchFault) -> Effect {
        let effect = try checked(event, atMs: max(atMs, nowMs))
        nowMs = max(atMs, nowMs)
        return effect
    }

    private mutating func checked(_ event: DispatchEvent, atMs: Int64) throws(DispatchFault) -> Effect {
        switch event {
        case .requested(let request): return try requested(request, atMs)
        case .cancelled(let id):
            let vehicle = try unassign(id)
            rides.removeAll { $0.request.id == id }
            return Effect(disturbed: vehicle.map { [$0] } ?? [])
        case .overridden(let id): return try overridden(id, atMs)
        case .pickedUp(let id): return try pickedUp(id, atMs)
        case .droppedOff(let id): return try droppedOff(id)
        case .entered(let vehicle, let capacity, let place): return try entered(vehicle, capacity, place)
        case .left(let id): return try left(id, atMs)
        case .brokeDown(let id): return try brokeDown(id, atMs)
        case .fellSilent(let id): return try fellSilent(id, atMs)
        case .ended(let id): return try ended(id)
        case .handedOver(let id): return try handedOver(id, atMs)
        case .moved(let id, let place):
            guard place.isValid else { throw .invalid }
            let v = try index(ofVehicle: id)
            (vehicles[v].place, vehicles[v].isSilent) = (sited(vehicle: place), false)
            return Effect(isQuiet: true)
        case .rulesChanged(let rules):
            guard rules.isValid else { throw .invalid }
            self.rules = rules
        case .surgeChanged(let surge):
            var changed = rules
            changed.weights.surge = surge
            guard changed.isValid else { throw .invalid }
            rules = changed
        case .travelTimesChanged(let travel):
            guard travel.isValid else { throw .invalid }
            self.travel = travel
        case .timesMeasured(let table):
            absorb(table, atMs)
            return Effect(isQuiet: true)
        // Without anybody in line nothing can have come of it.
        case .timePassed: return Effect(isQuiet: queue.isEmpty)
        }
        return Effect(disturbed: nil)
    }

    private mutating func requested(_ request: RideRequest, _ atMs: Int64) throws(DispatchFault) -> Effect {
        guard request.isValid else { throw .invalid }
        guard ride(request.id) == nil else { throw .repeated }
        guard rides.count < DispatchRules.ridesMax else { throw .tooMany }
        var request = request
        request.pickup = sited(stop: request.pickup)
        request.dropoff = sited(stop: request.dropoff)
        rides.append(Ride(request: request, rank: nextRank, requestedAtMs: atMs, state: .queued(sinceMs: atMs)))
        nextRank += 1
        return Effect(asked: nextRank - 1)
    }

    /// Removes a waiting rider's stops from their itinerary and returns the vehicle.
    private mutating func unassign(_ id: String) throws(DispatchFault) -> String? {
        let ride = rides[try index(ofRide: id)]
        switch ride.state {
        case .queued: return nil
        case .onBoard: throw .onBoard
        case .assigned(let vehicle):
            vehicles[try index(ofVehicle: vehicle)].stops.removeAll { $0.rank == ride.rank }
            return vehicle
        }
    }

    private mutating func overridden(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        guard let vehicle = try unassign(id) else { throw .notAssigned }
        let index = try index(ofRide: id)
        rides[index].state = .queued(sinceMs: atMs)
        rides[index].refusedBy.append(vehicle)
        return Effect(asked: rides[index].rank, disturbed: [vehicle])
    }

    private mutating func pickedUp(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        let index = try index(ofRide: id)
        switch rides[index].state {
        case .queued: throw .notAssigned
        case .onBoard: throw .onBoard
        case .assigned(let vehicle):
            let seats = vehicles[try self.index(ofVehicle: vehicle)].capacity
            guard onBoard(vehicle) + rides[index].request.passengers <= seats else { throw .noSeat }
            let disturbed = try reach(Stop(rank: rides[index].rank, kind: .pickup), vehicle)
            rides[index].state = .onBoard(vehicle: vehicle, sinceMs: atMs)
            return Effect(disturbed: disturbed)
        }
    }

    private mutating func droppedOff(_ id: String) throws(DispatchFault) -> Effect {
        let index = try index(ofRide: id)
        guard case .onBoard(let vehicle, _) = rides[index].state else { throw .notOnBoard }
        let disturbed = try reach(Stop(rank: rides[index].rank, kind: .dropoff), vehicle)
        rides.remove(at: index)
        vehicles.removeAll { !$0.inService && $0.stops.isEmpty }
        return Effect(disturbed: disturbed)
    }

    private func onBoard(_ vehicle: String) -> Int {
        rides.reduce(0) { $0 + ($1.isOnBoard && $1.vehicle == vehicle ? $1.request.passengers : 0) }
    }

    /// The rest of a best itinerary is a best itinerary: only a stop out of turn asks for another order.
    private mutating func reach(_ stop: Stop, _ vehicle: String) throws(DispatchFault) -> [String] {
        let v = try index(ofVehicle: vehicle)
        let isNext = vehicles[v].stops.first == stop
        vehicles[v].stops.removeAll { $0 == stop }
        return isNext ? [] : [vehicle]
    }

    private mutating func entered(
        _ id: String, _ capacity: Int, _ place: CampusPoint
    ) throws(DispatchFault) -> Effect {
        let entering = RideVehicle(id: id, capacity: capacity, place: sited(vehicle: place))
        guard entering.isValid else { throw .invalid }
        guard let v = vehicles.firstIndex(where: { $0.id == id }) else {
            guard vehicles.count < DispatchRules.vehiclesMax else { throw .tooMany }
            vehicles.append(entering)
            return Effect()
        }
        var changed = vehicles[v]
        changed.capacity = capacity
        changed.place = entering.place
        changed.inService = true
        changed.isSilent = false
        // A group that needs more seats than are left must not be promised them.
        guard fits(changed) else { throw .capacityBelowLoad }
        vehicles[v] = changed
        return Effect(disturbed: [id])
    }

    private func fits(_ vehicle: RideVehicle) -> Bool {
        let schedule = Schedule(
            vehicle, stops: vehicle.stops, rides: rides.map { $0.withoutLimits }, rules: rules, travel: travel,
            nowMs: nowMs)
        return schedule.isFeasible
    }

    private mutating func left(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        let v = try index(ofVehicle: id)
        vehicles[v].inService = false
        release(v, atMs)
        if vehicles[v].stops.isEmpty { vehicles.remove(at: v) }
        return Effect(disturbed: [id])
    }

    private mutating func brokeDown(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        let v = try index(ofVehicle: id)
        release(v, atMs)
        for stop in vehicles[v].stops {
            let index = rides.indexOfRank(stop.rank)
            rides[index].state = .queued(sinceMs: atMs)
            rides[index].request.pickup = sited(stop: vehicles[v].place)
            // They were picked up in time once; now it only counts that a vehicle comes.
            rides[index].request.pickupWindow = nil
        }
        vehicles.remove(at: v)
        return Effect()
    }

    private mutating func fellSilent(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        let v = try index(ofVehicle: id)
        guard !vehicles[v].isSilent else { return Effect(isQuiet: true) }
        vehicles[v].isSilent = true
        release(v, atMs)
        return Effect(disturbed: [id])
    }

    private mutating func ended(_ id: String) throws(DispatchFault) -> Effect {
        if rides[try index(ofRide: id)].isOnBoard { return try droppedOff(id) }
        let vehicle = try unassign(id)
        rides.removeAll { $0.request.id == id }
        return Effect(disturbed: vehicle.map { [$0] } ?? [])
    }

    private mutating func handedOver(_ id: String, _ atMs: Int64) throws(DispatchFault) -> Effect {
        let index = try index(ofRide: id)
        guard case .onBoard(let vehicle, _) = rides[index].state else { return try overridden(id, atMs) }
        let v = try self.index(ofVehicle: vehicle)
        vehicles[v].stops.removeAll { $0.rank == rides[index].rank }
        rides[index].state = .queued(sinceMs: atMs)
        rides[index].refusedBy.append(vehicle)
        // As after a breakdown.
        rides[index].request.pickup = sited(stop: vehicles[v].place)
        rides[index].request.pickupWindow = nil
        vehicles.removeAll { !$0.inService && $0.stops.isEmpty }
        return Effect(asked: rides[index].rank, disturbed: [vehicle])
    }

    /// Riders who wait for the vehicle become unassigned again.
    private mutating func release(_ v: Int, _ atMs: Int64) {
        let waiting = vehicles[v].stops.filter { $0.kind == .pickup }.map(\.rank)
        vehicles[v].stops.removeAll { waiting.contains($0.rank) }
        for rank in waiting { rides[rides.indexOfRank(rank)].state = .queued(sinceMs: atMs) }
    }

    private func index(ofVehicle id: String) throws(DispatchFault) -> Int {
        guard let index = vehicles.firstIndex(where: { $0.id == id }) else { throw .unknownVehicle }
        return index
    }

    private func index(ofRide id: String) throws(DispatchFault) -> Int {
        guard let index = rides.firstIndex(where: { $0.request.id == id }) else { throw .unknownRequest }
        return index
    }
}

extension Ride {
    var queuedSinceMs: Int64? { if case .queued(let sinceMs) = state { sinceMs } else { nil } }

    fileprivate var withoutLimits: Ride {
        var ride = self
        ride.request.pickupWindow = nil
        ride.request.dropoffWindow = nil
        ride.request.rideMsMax = nil
        return ride
    }
}
