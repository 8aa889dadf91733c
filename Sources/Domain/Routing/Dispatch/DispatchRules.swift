/// The prices of a second, an overtaken request and a likelihood, in seconds of driving.
///
/// A leg from stop i to stop j costs `surge * travel * T * (1 + cancel * p_cancel [pickups only] + override * p_override)
/// + order * max(0, rank i - rank j)`, the order term not on the first leg; a request costs
/// `passengers * (wait * start of pickup + ride * (start of drop-off - end of pickup))`.
public struct Weights: Equatable, Sendable {
    public var travel = 1.0
    public var wait = 1.0
    public var ride = 1.0
    /// Seconds for each rank that a later request is served before an older one.
    public var order = 0.0
    /// Factors on the likelihoods that a request is cancelled and that a driver refuses it.
    public var cancel = 0.0
    public var override = 0.0
    /// Weather times time of day.
    public var surge = 1.0

    public init() {}

    var isValid: Bool {
        [travel, wait, ride, order, cancel, override, surge].allSatisfy { (0...1_000_000).contains($0) }
    }
}

/// The dispatch rules of a campus.
public struct DispatchRules: Equatable, Sendable {
    public var weights = Weights()
    /// How long a vehicle stands at a stop.
    public var pickupServiceS = 0.0
    public var dropoffServiceS = 0.0
    /// The price of moving a request to another vehicle than its rider was told.
    public var otherVehiclePrice = 0.0
    /// The price per second and passenger by which a told arrival moves, either way.
    public var movedArrivalPrice = 0.0
    /// Itineraries with more combinations of waiting, on board and done than this are ordered by insertion.
    public var exactStatesMax = 2_187
    /// Labels of an exact itinerary with time windows or ride limits.
    public var exactLabelsMax = 3_000
    /// Rounds of the improvement pass after each event.
    public var iterations = 100
    /// The longest a request is tried while no vehicle is free.
    public var queuedMs: Int64 = 600_000
    /// The number of candidates in an explanation.
    var candidatesMax = 8

    public init() {}

    public static let vehiclesMax = 2_000
    public static let ridesMax = 20_000
    /// Open stops of a vehicle.
    public static let stopsMax = 120
    static let passengersMax = 100

    var isValid: Bool {
        weights.isValid
            && [pickupServiceS, dropoffServiceS, otherVehiclePrice, movedArrivalPrice].allSatisfy {
                (0...1_000_000).contains($0)
            }
            && (0...100_000).contains(exactStatesMax) && (1...10_000_000).contains(exactLabelsMax)
            && (0...100_000_000).contains(iterations) && (0...86_400_000).contains(queuedMs)
            && (1...1_000).contains(candidatesMax)
    }
}
