/// Hard limits for the start of a stop, in epoch milliseconds: an early vehicle waits, a late one breaks the itinerary.
public struct Window: Equatable, Sendable {
    public var openMs: Int64
    public var closeMs: Int64
    public init(openMs: Int64, closeMs: Int64) { (self.openMs, self.closeMs) = (openMs, closeMs) }
}

public enum StopKind: UInt8, Sendable { case pickup, dropoff }

/// A stop of an itinerary. `rank` names the request: 1 is the campus's first, and no two are alike.
public struct Stop: Equatable, Sendable {
    public var rank: Int64
    public var kind: StopKind
    public init(rank: Int64, kind: StopKind) { (self.rank, self.kind) = (rank, kind) }
}

/// A rider's request.
public struct RideRequest: Equatable, Sendable {
    public var id: String
    public var passengers: Int
    public var pickup: CampusPoint
    public var dropoff: CampusPoint
    /// 0 to 1, learned by place.
    public var cancelLikelihood = 0.0
    /// The likelihoods of the pickup and of the drop-off.
    public var overrideLikelihood = 0.0
    public var dropoffOverrideLikelihood = 0.0
    public var pickupWindow: Window?
    public var dropoffWindow: Window?
    /// The longest from the end of the pickup to the start of the drop-off.
    public var rideMsMax: Int64?

    public init(id: String, passengers: Int, pickup: CampusPoint, dropoff: CampusPoint) {
        self.id = id
        self.passengers = passengers
        self.pickup = pickup
        self.dropoff = dropoff
    }

    var isValid: Bool {
        let windows = [pickupWindow, dropoffWindow].compactMap { $0 }
        return !id.isEmpty && id.utf8.count <= 64 && (1...DispatchRules.passengersMax).contains(passengers)
            && pickup.isValid && dropoff.isValid && (0...1).contains(cancelLikelihood)
            && (0...1).contains(overrideLikelihood) && (0...1).contains(dropoffOverrideLikelihood)
            && windows.allSatisfy { $0.openMs <= $0.closeMs }
            && (rideMsMax ?? 0) >= 0
    }
}

/// An outstanding request and how far it is.
public struct Ride: Equatable, Sendable {
    public enum State: Equatable, Sendable {
        /// No vehicle could take it yet.
        case queued(sinceMs: Int64)
        case assigned(vehicle: String)
        case onBoard(vehicle: String, sinceMs: Int64)
    }

    public var request: RideRequest
    /// Its place in the order of all requests of the campus, from 1.
    public var rank: Int64
    public var requestedAtMs: Int64
    public var state: State
    /// Vehicles whose drivers refused it: it never goes back to them.
    public var refusedBy: [String] = []

    public init(request: RideRequest, rank: Int64, requestedAtMs: Int64, state: State) {
        self.request = request
        self.rank = rank
        self.requestedAtMs = requestedAtMs
        self.state = state
    }

    public var vehicle: String? {
        switch state {
        case .queued: nil
        case .assigned(let vehicle), .onBoard(let vehicle, _): vehicle
        }
    }

    public var isOnBoard: Bool { if case .onBoard = state { true } else { false } }
}

/// A vehicle, where it was last seen, and its open stops in order.
public struct RideVehicle: Equatable, Sendable {
    public var id: String
    public var capacity: Int
    public var place: CampusPoint
    /// False: it drops those on board and gets no others.
    public var inService = true
    /// Silent for too long: it drops those on board, and is not planned with until it is heard of.
    public package(set) var isSilent = false
    public package(set) var stops: [Stop] = []

    public init(id: String, capacity: Int, place: CampusPoint) {
        self.id = id
        self.capacity = capacity
        self.place = place
    }

    var takesRides: Bool { inService && !isSilent }

    var isValid: Bool {
        !id.isEmpty && id.utf8.count <= 64 && (1...DispatchRules.passengersMax).contains(capacity) && place.isValid
    }
}
