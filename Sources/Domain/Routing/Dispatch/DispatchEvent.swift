/// An event on a campus.
public enum DispatchEvent: Equatable, Sendable {
    case requested(RideRequest)
    /// Taken back by the rider; without effect on board.
    case cancelled(request: String)
    /// Refused by the driver who has it; without effect on board.
    case overridden(request: String)
    case pickedUp(request: String)
    case droppedOff(request: String)
    /// In service, for the first time or again.
    case entered(vehicle: String, capacity: Int, place: CampusPoint)
    /// It gets no more riders and drops those on board; riders who wait for it are dispatched anew.
    case left(vehicle: String)
    /// It stands: riders on board wait there for another vehicle.
    case brokeDown(vehicle: String)
    /// The vehicle was silent for too long: it gets no riders, and those who wait for it are dispatched anew. A place ends that.
    case fellSilent(vehicle: String)
    /// The ride is over, also on board.
    case ended(request: String)
    /// Another vehicle shall take it, and never this one again; who is on board waits where it was seen last.
    case handedOver(request: String)
    /// Seen at a place: arrival times follow, nothing is decided.
    case moved(vehicle: String, place: CampusPoint)
    case rulesChanged(DispatchRules)
    case surgeChanged(Double)
    case travelTimesChanged(TravelTimes)
    /// New measured times; nothing is decided.
    case timesMeasured(MeasuredTable)
    /// Requests that found no vehicle are tried again, or given up.
    case timePassed
}

/// Why an event had no effect. The state is as before.
public enum DispatchFault: String, Error, Sendable {
    case invalid = "a value is out of its range"
    case unknownRequest = "this request is not outstanding"
    case unknownVehicle = "this vehicle is not here"
    case repeated = "this request is outstanding already"
    case onBoard = "the rider is on board already"
    case notOnBoard = "the rider is not on board"
    case notAssigned = "no vehicle has this request"
    case tooMany = "the campus is full"
    case noSeat = "more passengers would be on board than seats: somebody must be dropped first"
    case capacityBelowLoad = "more passengers are on board than that"
}

/// The decision on an event, and its reasons.
public struct Decision: Equatable, Sendable {
    public enum Outcome: Equatable, Sendable {
        /// The event was taken; it asked for no vehicle.
        case done
        case ignored(DispatchFault)
        case assigned(vehicle: String)
        /// No vehicle can take it now; 1 is the next in line.
        case queued(place: Int)
    }

    /// A vehicle that was tried for a request.
    public struct Option: Equatable, Sendable {
        public var vehicle: String
        /// Cost of its best itinerary without and with the request.
        public var before: Double
        public var after: Double
        /// The terms of `after - before`.
        public var terms: CostTerms
        /// The price of arrivals that move for people who were told theirs.
        public var promises: Double
        /// False: too many stops to prove that there is no better order.
        public var isProven: Bool
        /// The way through the stops with the request, in order, and how long each leg takes.
        public var legs: [Leg] = []

        public var growth: Double { after - before + promises }
    }

    /// The drive to a stop.
    public struct Leg: Equatable, Sendable {
        public var stop: Stop
        public var seconds: Double
        /// False: by distance and speed.
        public var isMeasured: Bool
    }

    /// How a request was placed: the first option was chosen, the second is the runner-up. Who has it after the improvement pass is in the
    /// outcome and in the itineraries.
    public struct Choice: Equatable, Sendable {
        public var request: String
        public var options: [Option]
        /// Vehicles with room that were left out because they cannot beat the first option, and those tried but not listed.
        public var boundedOut: Int
        public var unlisted: Int
    }

    /// A rider who was told a vehicle and an arrival and now has another.
    public struct MovedPromise: Equatable, Sendable {
        public var request: String
        public var vehicleBefore: String
        public var vehicleAfter: String
        public var arrivalBeforeMs: Int64
        public var arrivalAfterMs: Int64
    }

    public struct Itinerary: Equatable, Sendable {
        public var vehicle: String
        public var stops: [Stop]
        public init(vehicle: String, stops: [Stop]) { (self.vehicle, self.stops) = (vehicle, stops) }
    }

    public var outcome: Outcome
    public var choices: [Choice] = []
    public var moved: [MovedPromise] = []
    /// Requests that were given up: nobody could take them for `queuedMs`.
    public var expired: [String] = []
    /// The itineraries that are not as before; with the event, all that a replay needs.
    public var itineraries: [Itinerary] = []
    /// Cost of all itineraries after the request was placed, before and after the improvement pass.
    public var costPlaced = 0.0
    public var costAfter = 0.0

    package init(outcome: Outcome) { self.outcome = outcome }
}
