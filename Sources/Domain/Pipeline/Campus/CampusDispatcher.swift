public import Fleet
public import Routing

/// One campus: what is said of it in, what becomes of its rides and vehicles out. Time is the log's.
public struct CampusDispatcher: Equatable, Sendable {
    /// A decision is needed and none is given: nothing was changed.
    struct Undecided: Error {}

    /// The decision at one step of a record, with what it was about.
    public struct Step: Equatable, Sendable {
        public let event: String
        public let request: String?
        public let decision: Decision
        /// The weather that a change of surge or speed was taken from, as JSON.
        public var weather: String?
        /// The vehicle that it happened to.
        public var vehicle: String?
        /// The reason that somebody gave, with who gave it.
        public var reason: String?
        /// The log had a decision that does not fit what is here: this one was made in its place.
        var isAnew = false
    }

    /// Things that were learned beside the campus itself, for the decisions that follow.
    public struct Learned: Equatable, Sendable {
        public var likelihoods: Likelihoods
        /// The hour that speed and surge were said for last; nil: none was.
        public var hourMs: Int64?
        /// In thousandths; nil: the campus's own.
        public var speedKmh: Int64?

        public init(likelihoods: Likelihoods) { self.likelihoods = likelihoods }
        init(_ settings: CampusSettings) { self.init(likelihoods: Likelihoods(halfLifeMs: settings.halfLifeMs)) }
    }

    /// Where decisions come from.
    enum Source {
        /// Made here and now.
        case here
        /// Made before, and read from the log.
        case record([Decision])
        /// Not known yet.
        case none
    }

    /// This near and this slow a vehicle has reached its stop.
    static let reachedM = 30.0
    static let reachedMmPerS: Int64 = 2_000
    /// So long an ended ride's id is remembered: apps repeat a request for minutes, not for days.
    static let rememberedMs: Int64 = 86_400_000
    /// Clocks of gateways may be off by less than that.
    static let aheadMsMax: Int64 = 300_000

    public let id: String
    public internal(set) var settings: CampusSettings
    public internal(set) var campus: Campus
    public internal(set) var learned: Learned
    /// The offset of the last record that it took.
    public private(set) var offset: Int64 = -1
    public internal(set) var rides: [String: RideRow] = [:]
    public internal(set) var vehicles: [String: RideVehicleRow] = [:]
    /// Ended rides by request, with the time of their end.
    var ended: [String: Int64] = [:]
    var area: CampusArea

    // What the record at hand has led to so far.
    var steps: [Step] = []
    var changedRides: [RideRow] = []
    var changedVehicles: Set<String> = []

    /// Nil: the settings make no campus.
    init?(id: String, _ settings: CampusSettings) {
        guard let area = CampusArea(boundary: settings.boundary),
            let campus = Campus(rules: settings.rules(surge: 1), travel: settings.travel(speedKmh: nil))
        else { return nil }
        (self.id, self.settings, self.area, self.campus) = (id, settings, area, campus)
        self.settings.placesBase = nil
        learned = Learned(settings)
    }

    /// As the database knows it; `learned` nil: nothing yet. Nil: the state does not fit the rows.
    public init?(
        id: String, _ settings: CampusSettings, campus: Campus, offset: Int64, rides: [RideRow],
        vehicles: [RideVehicleRow], ended: [String: Int64], learned: Learned?
    ) {
        guard let area = CampusArea(boundary: settings.boundary) else { return nil }
        (self.id, self.settings, self.area, self.campus) = (id, settings, area, campus)
        (self.offset, self.ended, self.learned) = (offset, ended, learned ?? Learned(settings))
        for ride in rides { self.rides[ride.pickup.request] = ride }
        for vehicle in vehicles { self.vehicles[vehicle.vehicle] = vehicle }
        guard campus.rides.allSatisfy({ self.rides[$0.request.id] != nil }), campus.rides.count == rides.count,
            campus.vehicles.allSatisfy({ self.vehicles[$0.id] != nil })
        else { return nil }
    }

    // MARK: Records

    /// Takes a record; what follows is in `steps`, `changedRides` and `changedVehicles` until the next one.
    mutating func accept(_ kind: RideRecord.Kind, offset: Int64, atMs: Int64, _ source: Source) throws(Undecided) {
        var next = begun(offset)
        var turn = Turn(offset: offset, nowMs: max(atMs, campus.nowMs), source: source)
        if next.settings.goesByRecordTime { try next.passTime(&turn) }
        try next.apply(kind, &turn)
        next.follow(turn)
        self = next
    }

    /// When a record counts; nil: it does not. Time that records make does not go back: a day that comes again changes
    /// nothing, and what is said of the campus itself is of no time.
    public func time(of record: RideRecord, pushedMs: Int64) -> Int64? {
        guard settings.goesByRecordTime else { return pushedMs }
        if case .campus = record.kind { return campus.nowMs }
        return record.ts >= campus.nowMs ? record.ts : nil
    }

    /// Time passes: who is silent is given up, who waits in line is tried again.
    mutating func tick(offset: Int64, atMs: Int64, _ source: Source) throws(Undecided) {
        var next = begun(offset)
        var turn = Turn(offset: offset, nowMs: max(atMs, campus.nowMs), source: source)
        try next.passTime(&turn)
        next.follow(turn)
        self = next
    }

    /// The clock was moved wrongly. Signs of life that were dated by it count from where it goes on.
    mutating func setBack(_ ms: Int64, offset: Int64) {
        self = begun(offset)
        campus.setBack(ms)
        for (id, ride) in rides where ride.signMs > ms {
            rides[id]!.signMs = ms
            changedRides.append(rides[id]!)
        }
        for (id, vehicle) in vehicles where max(vehicle.signMs, vehicle.placeMs) > ms {
            vehicles[id]!.signMs = min(vehicle.signMs, ms)
            vehicles[id]!.placeMs = min(vehicle.placeMs, ms)
            changedVehicles.insert(id)
        }
        changedRides.sort { $0.pickup.request < $1.pickup.request }
        ended = ended.mapValues { min($0, ms) }
    }

    private mutating func passTime(_ turn: inout Turn) throws(Undecided) {
        try giveUpSilent(&turn)
        if rides.values.contains(where: { $0.state == .queued }) {
            try decide(.timePassed, "time", nil, &turn)
        }
        ended = ended.filter { turn.nowMs - $0.value < CampusDispatcher.rememberedMs }
        campus.forgetMeasured(nowMs: turn.nowMs)
    }

    private func begun(_ offset: Int64) -> CampusDispatcher {
        var next = self
        (next.steps, next.changedRides, next.changedVehicles, next.offset) = ([], [], [], offset)
        return next
    }

    /// Nothing that is stored differs: only ticks went by.
    func isSame(as other: CampusDispatcher) -> Bool {
        campus == other.campus && settings == other.settings && learned == other.learned
    }

    struct Turn {
        let offset: Int64
        let nowMs: Int64
        let source: Source
        var step = 0
        /// Vehicles whose arrivals are told anew.
        var touched: Set<String> = []
    }

    private mutating func apply(_ kind: RideRecord.Kind, _ turn: inout Turn) throws(Undecided) {
        switch kind {
        case .campus(let settings): try change(settings, &turn)
        case .pickup(let pickup): try ask(pickup, &turn)
        case .cancel(let request):
            sign(rider: rides[request]?.pickup.rider, turn)
            try end(request, .cancelled, reason: nil, "cancel", &turn)
        case .override(let request):
            attend(rides[request]?.vehicle, turn)
            try refuse(request, &turn)
        case .done(let request, let isPickup):
            attend(rides[request]?.vehicle, turn)
            try reach(request, isPickup, &turn)
        case .inService(let entered): try enter(entered, &turn)
        case .outOfService(let vehicle):
            attend(vehicle, turn)
            try decide(.left(vehicle: vehicle), "out_of_service", nil, &turn)
        case .breakdown(let vehicle):
            attend(vehicle, turn)
            try decide(.brokeDown(vehicle: vehicle), "breakdown", nil, &turn)
        case .end(let request, let say):
            sign(say.role, of: request, turn)
            try end(request, say, &turn)
        case .handOver(let request, let say):
            sign(say.role, of: request, turn)
            try handOver(request, say, &turn)
        case .position(let vehicle, let place, let speed): try move(vehicle, place, speed, &turn)
        case .riderSign(let rider): sign(rider: rider, turn)
        case .vehicleSign(let vehicle): sign(vehicle: vehicle, turn)
        case .surge(let thousandths):
            try change(surge: thousandths, weather: nil, &turn)
        case .hour(let hour): try change(hour, &turn)
        case .travel(let travel): measure(travel, &turn)
        case .profile, .clock, .decision: break
        }
    }
}
