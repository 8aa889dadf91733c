public import Fleet

/// A ride as people see it: an absolute row.
public struct RideRow: Equatable, Sendable {
    /// Where it begins is another place once its vehicle broke down or gave it away.
    public var pickup: RideRecord.Pickup
    public let requestedMs: Int64
    public var state: RideState
    /// Why it was cancelled or refused; nil: the rider or the driver said so himself.
    public var reason: String?
    public var vehicle: String?
    /// 1 is the next in line; nil: it is in none.
    public var placeInLine: Int?
    /// When it will be, or was, picked up and dropped off; nil: not known.
    public var pickupMs: Int64?
    public var dropoffMs: Int64?
    public var endedMs: Int64?
    /// The rider's last sign of life.
    public var signMs: Int64

    public init(pickup: RideRecord.Pickup, requestedMs: Int64, state: RideState, signMs: Int64) {
        (self.pickup, self.requestedMs, self.state, self.signMs) = (pickup, requestedMs, state, signMs)
    }
}

/// A ride vehicle as people see it: an absolute row.
public struct RideVehicleRow: Equatable, Sendable {
    public let vehicle: String
    public var driver: String
    public var person: RideRecord.Person
    public var capacity: Int
    public var place: Position
    public var placeMs: Int64
    public var state: RideVehicleState
    /// Silent with passengers on board: it stays so until its driver says something of the ride or service, or somebody ends
    /// or hands over these rides.
    public var isAlarmed = false
    /// Its last position is too old: nobody is planned on it until it is heard of.
    public var isSilent = false
    /// The driver's last sign of life.
    public var signMs: Int64
    /// `request p` or `request d`, in order.
    public var stops: [String] = []

    public init(_ entered: RideRecord.InService, atMs: Int64) {
        (vehicle, driver, person) = (entered.vehicle, entered.driver, entered.person)
        (capacity, place, placeMs) = (entered.capacity, entered.place, atMs)
        (state, signMs) = (.inService, atMs)
    }
}
