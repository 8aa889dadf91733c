internal import Fleet
internal import Routing

/// Signs of life, and what becomes of those who give none.
extension CampusDispatcher {
    mutating func sign(rider: String?, _ turn: Turn) {
        guard let rider else { return }
        for (request, ride) in rides where ride.pickup.rider == rider {
            rides[request]!.signMs = turn.nowMs
            changedRides.append(rides[request]!)
        }
    }

    mutating func sign(vehicle: String?, _ turn: Turn) {
        guard let vehicle, vehicles[vehicle] != nil else { return }
        vehicles[vehicle]!.signMs = turn.nowMs
        changedVehicles.insert(vehicle)
    }

    /// Its driver does something: whoever was silent with passengers on board looks after them again. That the app listens, or
    /// where it is, does not say so.
    mutating func attend(_ vehicle: String?, _ turn: Turn) {
        sign(vehicle: vehicle, turn)
        guard let vehicle, vehicles[vehicle] != nil else { return }
        vehicles[vehicle]!.isAlarmed = false
    }

    mutating func sign(_ role: PersonRole, of request: String, _ turn: Turn) {
        switch role {
        case .rider: sign(rider: rides[request]?.pickup.rider, turn)
        case .rideDriver: attend(rides[request]?.vehicle, turn)
        case .dispatcher: break
        }
    }

    mutating func giveUpSilent(_ turn: inout Turn) throws(Undecided) {
        let silenceMs = settings[.silenceS]
        for (request, ride) in rides.sorted(by: { $0.key < $1.key })
        where ride.state != .onBoard && turn.nowMs - ride.signMs > silenceMs {
            try end(request, .cancelled, reason: "no sign of life of the rider", "silence", &turn)
        }
        for (id, vehicle) in vehicles.sorted(by: { $0.key < $1.key })
        where vehicle.state == .inService && turn.nowMs - vehicle.signMs > silenceMs {
            guard let stops = campus.vehicle(id)?.stops, !stops.isEmpty else { continue }
            try decide(.left(vehicle: id), "silence", nil, &turn)
            // With passengers on board it is still there, and somebody must ask after it.
            guard campus.vehicle(id) != nil else { continue }
            alarm(id)
        }
        for (id, vehicle) in vehicles where vehicle.state == .leaving && turn.nowMs - vehicle.signMs > silenceMs {
            alarm(id)
        }
        try passOverStale(&turn)
    }

    mutating func alarm(_ id: String) {
        guard !vehicles[id]!.isAlarmed, hasPassengers(id) else { return }
        vehicles[id]!.isAlarmed = true
        changedVehicles.insert(id)
    }

    func hasPassengers(_ vehicle: String) -> Bool {
        campus.rides.contains { $0.isOnBoard && $0.vehicle == vehicle }
    }

    /// Decides that vehicles not seen for long fell silent: they may be anywhere, and nobody is told that one comes.
    mutating func passOverStale(_ turn: inout Turn) throws(Undecided) {
        guard let staleMs = settings.staleMs else { return }
        for (id, vehicle) in vehicles.sorted(by: { $0.key < $1.key })
        where vehicle.state != .out && turn.nowMs - vehicle.placeMs > staleMs && campus.vehicle(id)?.isSilent == false {
            try decide(.fellSilent(vehicle: id), "fell_silent", nil, &turn)
        }
    }
}
