internal import Fleet
internal import Routing

/// Decisions on what riders and drivers say of rides.
extension CampusDispatcher {
    mutating func ask(_ pickup: RideRecord.Pickup, _ turn: inout Turn) throws(Undecided) {
        sign(rider: pickup.rider, turn)
        // Sent again: it is known, or was.
        guard rides[pickup.request] == nil, ended[pickup.request] == nil else { return }
        var row = RideRow(pickup: pickup, requestedMs: turn.nowMs, state: .queued, signMs: turn.nowMs)
        let (from, to) = (area.point(pickup.from), area.point(pickup.to))
        if let reason = refusal(pickup, from, to) {
            (row.state, row.reason, row.endedMs) = (.refused, reason, turn.nowMs)
            ended[pickup.request] = turn.nowMs
            changedRides.append(row)
            return
        }
        rides[pickup.request] = row
        var request = RideRequest(id: pickup.request, passengers: pickup.passengers, pickup: from, dropoff: to)
        let likelihoods = learned.likelihoods
        request.cancelLikelihood = likelihoods.cancel(at: from, nowMs: turn.nowMs)
        request.overrideLikelihood = likelihoods.override(at: from, nowMs: turn.nowMs)
        request.dropoffOverrideLikelihood = likelihoods.override(at: to, nowMs: turn.nowMs)
        let decision = try decide(.requested(request), "pickup", pickup.request, &turn)
        if case .ignored(let fault) = decision.outcome {
            rides[pickup.request] = nil
            (row.state, row.reason, row.endedMs) = (.refused, fault.rawValue, turn.nowMs)
            ended[pickup.request] = turn.nowMs
            changedRides.append(row)
        }
    }

    /// Checked at the gateway, too, which can tell the rider at once.
    func refusal(_ pickup: RideRecord.Pickup, _ from: CampusPoint, _ to: CampusPoint) -> String? {
        if rides.values.contains(where: { $0.pickup.rider == pickup.rider }) {
            return "another ride of this rider is outstanding"
        }
        guard area.allows(from, to, reachM: Double(settings[.reachM]) / 1_000) else {
            return "one end must lie on the campus, the other at most \(settings[.reachM] / 1_000) m outside"
        }
        return nil
    }

    mutating func reach(_ request: String, _ isPickup: Bool, _ turn: inout Turn) throws(Undecided) {
        guard var ride = rides[request] else { return }
        let event: DispatchEvent = isPickup ? .pickedUp(request: request) : .droppedOff(request: request)
        let place = campus.ride(request)?.request
        let decision = try decide(event, isPickup ? "picked_up" : "dropped_off", request, &turn)
        if case .ignored(let fault) = decision.outcome {
            // The driver has to be told, and so it is committed with the ride until it has another vehicle or rides.
            if fault == .noSeat, ride.reason != fault.rawValue {
                ride.reason = fault.rawValue
                put(ride)
            }
            return
        }
        if isPickup {
            if let place {
                learned.likelihoods.waited(at: place.pickup, cancelled: false, atMs: turn.nowMs)
                learned.offered(place, refused: false, turn.nowMs)
            }
            ride = rides[request]!
            (ride.state, ride.pickupMs, ride.placeInLine, ride.reason) = (.onBoard, turn.nowMs, nil, nil)
            rides[request] = ride
            changedRides.append(ride)
        } else {
            finish(request, .done, nil, turn)
        }
    }

    mutating func refuse(_ request: String, _ turn: inout Turn) throws(Undecided) {
        let place = campus.ride(request)?.request
        let decision = try decide(.overridden(request: request), "override", request, &turn)
        if case .ignored = decision.outcome { return }
        if let place { learned.offered(place, refused: true, turn.nowMs) }
    }

    mutating func end(
        _ request: String, _ state: RideState, reason: String?, _ name: String, _ turn: inout Turn
    ) throws(Undecided) {
        guard rides[request] != nil else { return }
        let place = campus.ride(request)?.request.pickup
        let decision = try decide(.cancelled(request: request), name, request, &turn)
        if case .ignored = decision.outcome { return }
        if let place { learned.likelihoods.waited(at: place, cancelled: true, atMs: turn.nowMs) }
        finish(request, state, reason, turn)
    }

    /// Ends a ride, as whoever rides, drives or watches says, and why.
    mutating func end(_ request: String, _ say: RideRecord.Say, _ turn: inout Turn) throws(Undecided) {
        guard let ride = rides[request] else { return }
        guard ride.state == .onBoard else {
            return try end(request, .cancelled, reason: say.text, "end", &turn)
        }
        let decision = try decide(.ended(request: request), "end", request, &turn, reason: say.text)
        if case .ignored = decision.outcome { return }
        finish(request, .ended, say.text, turn)
    }

    /// Another vehicle takes it. The reason is told until then, and stays with the decision.
    mutating func handOver(_ request: String, _ say: RideRecord.Say, _ turn: inout Turn) throws(Undecided) {
        guard let ride = rides[request] else { return }
        let place = campus.ride(request)?.request
        let decision = try decide(.handedOver(request: request), "hand_over", request, &turn, reason: say.text)
        if case .ignored = decision.outcome { return }
        if ride.state == .assigned, say.role == .rideDriver, let place {
            learned.offered(place, refused: true, turn.nowMs)
        }
    }

    mutating func finish(_ request: String, _ state: RideState, _ reason: String?, _ turn: Turn) {
        guard var ride = rides.removeValue(forKey: request) else { return }
        (ride.state, ride.reason, ride.endedMs, ride.placeInLine) = (state, reason, turn.nowMs, nil)
        switch state {
        case .done: ride.dropoffMs = turn.nowMs
        // It was picked up, and never dropped off.
        case .ended: ride.dropoffMs = nil
        case .queued, .assigned, .onBoard, .cancelled, .expired, .refused: (ride.pickupMs, ride.dropoffMs) = (nil, nil)
        }
        ended[request] = turn.nowMs
        changedRides.append(ride)
    }
}
