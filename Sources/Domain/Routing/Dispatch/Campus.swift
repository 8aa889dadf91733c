/// The ride vehicles of a campus and who asked for a ride: events in, decisions out.
///
/// A value: what follows from it depends on the events, their times and their seeds alone. Vehicles are kept in the order
/// in which they came, rides in the order in which they were asked for; ties of cost go to the vehicle that came first.
public struct Campus: Equatable, Sendable {
    public internal(set) var rules: DispatchRules
    public internal(set) var travel: TravelTimes
    /// The places of the measured times in `travel`.
    var measured = MeasuredPlaces()
    public package(set) var vehicles: [RideVehicle] = []
    public internal(set) var rides: [Ride] = []
    /// The rank that the next request gets.
    public internal(set) var nextRank: Int64 = 1
    /// The greatest time of an event; an earlier one counts as this one.
    public internal(set) var nowMs: Int64 = .min

    /// Nil when a rule is out of its range.
    public init?(rules: DispatchRules, travel: TravelTimes) {
        guard rules.isValid, travel.isValid else { return nil }
        self.rules = rules
        self.travel = travel
    }

    /// The times of events were wrong: from here on they go on from this one.
    public mutating func setBack(_ ms: Int64) { nowMs = min(nowMs, ms) }

    public func vehicle(_ id: String) -> RideVehicle? { vehicles.first { $0.id == id } }
    public func ride(_ id: String) -> Ride? { rides.first { $0.request.id == id } }

    /// When a vehicle is at each of its stops, and what its itinerary costs.
    public func schedule(_ vehicle: RideVehicle, nowMs: Int64) -> Schedule {
        Schedule(vehicle, stops: vehicle.stops, rides: rides, rules: rules, travel: travel, nowMs: nowMs)
    }

    /// Takes an event and decides. `seed` makes the improvement pass repeatable: on the log it is the event's offset.
    public mutating func apply(_ event: DispatchEvent, atMs: Int64, seed: UInt64) -> Decision {
        let standing = vehicles
        let effect: Effect
        do {
            effect = try absorb(event, atMs: atMs)
        } catch let fault {
            return Decision(outcome: .ignored(fault))
        }
        guard !effect.isQuiet else { return Decision(outcome: .done) }
        var decision = Decision(outcome: .done)
        decision.expired = expire()
        decide(effect, seed, &decision)
        if let asked = effect.asked { decision.outcome = outcome(of: asked) }
        let before = Dictionary(uniqueKeysWithValues: standing.map { ($0.id, $0.stops) })
        decision.itineraries = vehicles.filter { before[$0.id] ?? [] != $0.stops }.map {
            Decision.Itinerary(vehicle: $0.id, stops: $0.stops)
        }
        return decision
    }

    /// Applies an event with its recorded decision; nothing is decided anew. False, and nothing changed, when the decision does not fit
    /// the state.
    public mutating func replay(_ event: DispatchEvent, atMs: Int64, _ decision: Decision) -> Bool {
        if case .ignored = decision.outcome { return true }
        var next = self
        guard let effect = try? next.absorb(event, atMs: atMs) else { return false }
        guard !effect.isQuiet else {
            self = next
            return true
        }
        guard next.expire() == decision.expired, next.adopt(decision.itineraries) else { return false }
        self = next
        return true
    }

    private func outcome(of rank: Int64) -> Decision.Outcome {
        guard let index = rides.firstIndex(ofRank: rank) else { return .done }
        if let vehicle = rides[index].vehicle { return .assigned(vehicle: vehicle) }
        return .queued(place: queue.firstIndex(of: index)! + 1)
    }

    /// Indices of the rides that no vehicle has, the oldest first.
    var queue: [Int] { rides.indices.filter { if case .queued = rides[$0].state { true } else { false } } }

    /// Gives up who has waited too long for any vehicle.
    private mutating func expire() -> [String] {
        var expired: [String] = []
        rides.removeAll { ride in
            guard case .queued(let sinceMs) = ride.state, nowMs - sinceMs > rules.queuedMs else { return false }
            expired.append(ride.request.id)
            return true
        }
        return expired
    }

    /// Sets itineraries that were decided before. Each must have the stops of its riders and no others.
    private mutating func adopt(_ itineraries: [Decision.Itinerary]) -> Bool {
        for itinerary in itineraries {
            guard let v = vehicles.firstIndex(where: { $0.id == itinerary.vehicle }),
                itinerary.stops.count <= DispatchRules.stopsMax
            else { return false }
            vehicles[v].stops = itinerary.stops
        }
        for index in rides.indices where !rides[index].isOnBoard {
            rides[index].state = .queued(sinceMs: rides[index].queuedSinceMs ?? nowMs)
        }
        for vehicle in vehicles {
            for stop in vehicle.stops where stop.kind == .pickup {
                guard let index = rides.firstIndex(ofRank: stop.rank), rides[index].vehicle == nil else { return false }
                rides[index].state = .assigned(vehicle: vehicle.id)
            }
        }
        return fault == nil
    }
}
