public import Fleet
public import Routing

/// One campus: what is said of it in, what becomes of its rides and vehicles out. Time is the log's.
public struct CampusDesk: Equatable, Sendable {
    /// A decision is needed and none is given: nothing was changed.
    struct Undecided: Error {}

    /// What was decided at one step of a record, with what it was about.
    public struct Step: Equatable, Sendable {
        public let event: String
        public let request: String?
        public let decision: Decision
        /// What a change of surge or speed was taken from, as JSON.
        public var weather: String?
        /// The vehicle that it happened to.
        public var vehicle: String?
        /// What somebody said of it, with who.
        public var reason: String?
        /// The log had a decision that does not fit what is here: this one was made in its place.
        public var isAnew = false
    }

    /// What is known beside the campus itself, for the decisions that follow.
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
    public private(set) var settings: CampusSettings
    public private(set) var campus: Campus
    public private(set) var learned: Learned
    /// Of the last record that it took.
    public private(set) var offset: Int64 = -1
    public private(set) var rides: [String: RideRow] = [:]
    public private(set) var vehicles: [String: RideVehicleRow] = [:]
    /// Ended rides by request, with the time of their end.
    private var ended: [String: Int64] = [:]
    private var area: CampusArea

    // What the record at hand has led to so far.
    private(set) var steps: [Step] = []
    private(set) var changedRides: [RideRow] = []
    private(set) var changedVehicles: Set<String> = []

    /// Nil: the settings make no campus.
    init?(id: String, _ settings: CampusSettings) {
        guard let area = CampusArea(boundary: settings.boundary),
            let campus = Campus(rules: settings.rules(surge: 1), travel: settings.travel(speedKmh: nil))
        else { return nil }
        (self.id, self.settings, self.area, self.campus) = (id, settings, area, campus)
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
    mutating func take(_ kind: RideRecord.Kind, offset: Int64, atMs: Int64, _ source: Source) throws(Undecided) {
        var next = begun(offset)
        var turn = Turn(offset: offset, nowMs: max(atMs, campus.nowMs), source: source)
        if next.settings.goesByRecordTime { try next.passTime(&turn) }
        try next.take(kind, &turn)
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
        ended = ended.filter { turn.nowMs - $0.value < CampusDesk.rememberedMs }
        campus.forgetMeasured(nowMs: turn.nowMs)
    }

    private func begun(_ offset: Int64) -> CampusDesk {
        var next = self
        (next.steps, next.changedRides, next.changedVehicles, next.offset) = ([], [], [], offset)
        return next
    }

    /// Nothing that is stored differs: only ticks went by.
    func isSame(as other: CampusDesk) -> Bool {
        campus == other.campus && settings == other.settings && learned == other.learned
    }

    private struct Turn {
        let offset: Int64
        let nowMs: Int64
        let source: Source
        var step = 0
        /// Vehicles whose arrivals are told anew.
        var touched: Set<String> = []
    }

    private mutating func take(_ kind: RideRecord.Kind, _ turn: inout Turn) throws(Undecided) {
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

    private mutating func change(_ settings: CampusSettings, _ turn: inout Turn) throws(Undecided) {
        guard settings != self.settings, let area = CampusArea(boundary: settings.boundary) else { return }
        let moved = { [old = self.area] (point: CampusPoint) in area.point(old.position(point)) }
        // Another boundary is another plane: what stands in it would be elsewhere.
        guard
            moved(CampusPoint(xM: 0, yM: 0)) == CampusPoint(xM: 0, yM: 0)
                || campus.rides.isEmpty && campus.vehicles.isEmpty
        else { return }
        // The grid of what was learned has another middle.
        if moved(CampusPoint(xM: 0, yM: 0)) != CampusPoint(xM: 0, yM: 0) { learned = Learned(settings) }
        learned.likelihoods.setHalfLife(settings.halfLifeMs, nowMs: turn.nowMs)
        (self.settings, self.area) = (settings, area)
        try decide(.travelTimesChanged(travel), "campus", nil, &turn)
        try decide(.rulesChanged(settings.rules(surge: campus.rules.weights.surge)), "campus", nil, &turn)
    }

    /// Times by distance for the speed of the hour; measured ones stay.
    private var travel: TravelTimes {
        var travel = campus.travel
        travel.secondsPerMetre = settings.travel(speedKmh: learned.speedKmh).secondsPerMetre
        return travel
    }

    /// What holds already is nothing to decide on: several may say it.
    private mutating func change(_ hour: RideRecord.Hour, _ turn: inout Turn) throws(Undecided) {
        // Somebody was late, or his clock is: an hour to come would make all until then too late.
        guard hour.startMs >= learned.hourMs ?? .min, hour.startMs <= turn.nowMs + CampusDesk.aheadMsMax else { return }
        (learned.hourMs, learned.speedKmh) = (hour.startMs, hour.speedKmh)
        if travel.secondsPerMetre != campus.travel.secondsPerMetre {
            try decide(.travelTimesChanged(travel), "speed", nil, &turn)
        }
        try change(surge: hour.surge, weather: hour.weather, &turn)
    }

    private mutating func change(surge: Int64, weather: String?, _ turn: inout Turn) throws(Undecided) {
        let surge = Double(surge) / 1_000
        guard surge != campus.rules.weights.surge else { return }
        try decide(.surgeChanged(surge), "surge", nil, &turn)
        if !steps.isEmpty { steps[steps.count - 1].weather = weather }
    }

    private mutating func measure(_ travel: RideRecord.Travel, _ turn: inout Turn) {
        let table = MeasuredTable(
            by: travel.source, from: travel.from.map(area.point), to: travel.to.map(area.point),
            seconds: travel.ms.map { $0.map { Double($0) / 1_000 } })
        // Places beyond what a campus can be are nobody's here.
        guard let table else { return }
        _ = campus.take(.timesMeasured(table), atMs: turn.nowMs, seed: 0)
        turn.touched.formUnion(campus.vehicles.map(\.id))
    }

    private mutating func ask(_ pickup: RideRecord.Pickup, _ turn: inout Turn) throws(Undecided) {
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
    private func refusal(_ pickup: RideRecord.Pickup, _ from: CampusPoint, _ to: CampusPoint) -> String? {
        if rides.values.contains(where: { $0.pickup.rider == pickup.rider }) {
            return "another ride of this rider is outstanding"
        }
        guard area.allows(from, to, reachM: Double(settings[.reachM]) / 1_000) else {
            return "one end must lie on the campus, the other at most \(settings[.reachM] / 1_000) m outside"
        }
        return nil
    }

    private mutating func reach(_ request: String, _ isPickup: Bool, _ turn: inout Turn) throws(Undecided) {
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

    private mutating func refuse(_ request: String, _ turn: inout Turn) throws(Undecided) {
        let place = campus.ride(request)?.request
        let decision = try decide(.overridden(request: request), "override", request, &turn)
        if case .ignored = decision.outcome { return }
        if let place { learned.offered(place, refused: true, turn.nowMs) }
    }

    private mutating func end(
        _ request: String, _ state: RideState, reason: String?, _ name: String, _ turn: inout Turn
    ) throws(Undecided) {
        guard rides[request] != nil else { return }
        let place = campus.ride(request)?.request.pickup
        let decision = try decide(.cancelled(request: request), name, request, &turn)
        if case .ignored = decision.outcome { return }
        if let place { learned.likelihoods.waited(at: place, cancelled: true, atMs: turn.nowMs) }
        finish(request, state, reason, turn)
    }

    /// Whoever rides, drives or watches says that it is over, and why.
    private mutating func end(_ request: String, _ say: RideRecord.Say, _ turn: inout Turn) throws(Undecided) {
        guard let ride = rides[request] else { return }
        guard ride.state == .onBoard else {
            return try end(request, .cancelled, reason: say.text, "end", &turn)
        }
        let decision = try decide(.ended(request: request), "end", request, &turn, reason: say.text)
        if case .ignored = decision.outcome { return }
        finish(request, .ended, say.text, turn)
    }

    /// Another vehicle takes it. The reason is told until then, and stays with the decision.
    private mutating func handOver(_ request: String, _ say: RideRecord.Say, _ turn: inout Turn) throws(Undecided) {
        guard let ride = rides[request] else { return }
        let place = campus.ride(request)?.request
        let decision = try decide(.handedOver(request: request), "hand_over", request, &turn, reason: say.text)
        if case .ignored = decision.outcome { return }
        if ride.state == .assigned, say.role == .rideDriver, let place {
            learned.offered(place, refused: true, turn.nowMs)
        }
    }

    private mutating func finish(_ request: String, _ state: RideState, _ reason: String?, _ turn: Turn) {
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

    // MARK: Vehicles

    private mutating func enter(_ entered: RideRecord.InService, _ turn: inout Turn) throws(Undecided) {
        var row = RideVehicleRow(entered, atMs: turn.nowMs)
        row.stops = vehicles[entered.vehicle]?.stops ?? []
        let decision = try decide(
            .entered(vehicle: entered.vehicle, capacity: entered.capacity, place: area.point(entered.place)),
            "in_service", nil, &turn)
        if case .ignored = decision.outcome { return sign(vehicle: entered.vehicle, turn) }
        vehicles[entered.vehicle] = row
        changedVehicles.insert(entered.vehicle)
        turn.touched.insert(entered.vehicle)
    }

    private mutating func move(
        _ vehicle: String, _ place: Position, _ speed: Int64?, _ turn: inout Turn
    ) throws(Undecided) {
        guard let before = vehicles[vehicle], before.state != .out else { return }
        sign(vehicle: vehicle, turn)
        let point = area.point(place)
        _ = campus.take(.moved(vehicle: vehicle, place: point), atMs: turn.nowMs, seed: 0)
        (vehicles[vehicle]!.place, vehicles[vehicle]!.placeMs) = (place, turn.nowMs)
        turn.touched.insert(vehicle)
        guard (speed ?? CampusDesk.speed(before, place, turn.nowMs) ?? .max) < CampusDesk.reachedMmPerS,
            let stop = campus.vehicle(vehicle)?.stops.first,
            let ride = campus.rides.first(where: { $0.rank == stop.rank })
        else { return }
        let target = stop.kind == .pickup ? ride.request.pickup : ride.request.dropoff
        let (dx, dy) = (target.xM - point.xM, target.yM - point.yM)
        guard (dx * dx + dy * dy).squareRoot() <= CampusDesk.reachedM else { return }
        try reach(ride.request.id, stop.kind == .pickup, &turn)
    }

    /// From the last place, in thousandths of m/s; nil: too long ago to tell.
    private static func speed(_ before: RideVehicleRow, _ place: Position, _ nowMs: Int64) -> Int64? {
        let elapsedMs = nowMs - before.placeMs
        guard (500...60_000).contains(elapsedMs) else { return nil }
        return Int64(before.place.metres(to: place) * 1e6 / Double(elapsedMs))
    }

    // MARK: Signs of life

    private mutating func sign(rider: String?, _ turn: Turn) {
        guard let rider else { return }
        for (request, ride) in rides where ride.pickup.rider == rider {
            rides[request]!.signMs = turn.nowMs
            changedRides.append(rides[request]!)
        }
    }

    private mutating func sign(vehicle: String?, _ turn: Turn) {
        guard let vehicle, vehicles[vehicle] != nil else { return }
        vehicles[vehicle]!.signMs = turn.nowMs
        changedVehicles.insert(vehicle)
    }

    /// Its driver does something: whoever was silent with passengers on board looks after them again. That the app listens, or
    /// where it is, does not say so.
    private mutating func attend(_ vehicle: String?, _ turn: Turn) {
        sign(vehicle: vehicle, turn)
        guard let vehicle, vehicles[vehicle] != nil else { return }
        vehicles[vehicle]!.isAlarmed = false
    }

    private mutating func sign(_ role: PersonRole, of request: String, _ turn: Turn) {
        switch role {
        case .rider: sign(rider: rides[request]?.pickup.rider, turn)
        case .rideDriver: attend(rides[request]?.vehicle, turn)
        case .dispatcher: break
        }
    }

    private mutating func giveUpSilent(_ turn: inout Turn) throws(Undecided) {
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

    private mutating func alarm(_ id: String) {
        guard !vehicles[id]!.isAlarmed, hasPassengers(id) else { return }
        vehicles[id]!.isAlarmed = true
        changedVehicles.insert(id)
    }

    private func hasPassengers(_ vehicle: String) -> Bool {
        campus.rides.contains { $0.isOnBoard && $0.vehicle == vehicle }
    }

    /// Who was not seen for long is anywhere: nobody is told that such a vehicle comes.
    private mutating func passOverStale(_ turn: inout Turn) throws(Undecided) {
        guard let staleMs = settings.staleMs else { return }
        for (id, vehicle) in vehicles.sorted(by: { $0.key < $1.key })
        where vehicle.state != .out && turn.nowMs - vehicle.placeMs > staleMs && campus.vehicle(id)?.isSilent == false {
            try decide(.fellSilent(vehicle: id), "fell_silent", nil, &turn)
        }
    }

    // MARK: Deciding

    @discardableResult
    private mutating func decide(
        _ event: DispatchEvent, _ name: String, _ request: String?, _ turn: inout Turn, reason: String? = nil
    ) throws(Undecided) -> Decision {
        guard campus.isDecided(event, atMs: turn.nowMs) else {
            return campus.take(event, atMs: turn.nowMs, seed: 0)
        }
        // Whose ride it was.
        let carrier = reason == nil ? nil : request.flatMap { campus.ride($0)?.vehicle }
        let decision: Decision
        var isAnew = false
        switch turn.source {
        case .none: throw Undecided()
        case .here: decision = take(event, turn)
        case .record(let given):
            if turn.step < given.count, campus.replay(event, atMs: turn.nowMs, given[turn.step]) {
                decision = given[turn.step]
            } else {
                // It was made by rules that are no more: what is here now decides.
                (decision, isAnew) = (take(event, turn), true)
            }
        }
        turn.step += 1
        var step = Step(event: name, request: request, decision: decision)
        (step.vehicle, step.reason, step.isAnew) = (event.vehicle ?? carrier, reason, isAnew)
        steps.append(step)
        turn.touched.formUnion(decision.itineraries.map(\.vehicle))
        for expired in decision.expired { finish(expired, .expired, "no vehicle had room in time", turn) }
        return decision
    }

    private mutating func take(_ event: DispatchEvent, _ turn: Turn) -> Decision {
        // Sixteen steps an offset are more than a record takes; each has chance of its own.
        campus.take(event, atMs: turn.nowMs, seed: UInt64(bitPattern: turn.offset &* 16 &+ Int64(turn.step)))
    }

    // MARK: What people see

    /// Brings the rows up to what the campus says.
    private mutating func follow(_ turn: Turn) {
        var place = 0
        for ride in campus.rides {
            var row = rides[ride.request.id]!
            if row.vehicle != ride.vehicle { (row.vehicle, row.reason) = (ride.vehicle, nil) }
            // Got off where its vehicle stood: the next one comes there.
            if row.state == .onBoard, !ride.isOnBoard {
                (row.pickup.from, row.pickup.fromAddress) = (area.position(ride.request.pickup), nil)
            }
            row.placeInLine = nil
            switch ride.state {
            case .queued:
                place += 1
                (row.state, row.placeInLine, row.pickupMs, row.dropoffMs) = (.queued, place, nil, nil)
            case .assigned: row.state = .assigned
            case .onBoard: row.state = .onBoard
            }
            put(row)
        }
        for id in Set(vehicles.keys).union(turn.touched).sorted() where vehicles[id] != nil { follow(id, turn) }
    }

    private mutating func follow(_ id: String, _ turn: Turn) {
        var row = vehicles[id]!
        guard let vehicle = campus.vehicle(id) else {
            guard row.state != .out else { return }
            (row.state, row.stops, row.isSilent, row.isAlarmed) = (.out, [], false, false)
            vehicles[id] = row
            changedVehicles.insert(id)
            return
        }
        row.state = vehicle.inService ? .inService : .leaving
        row.isSilent = vehicle.isSilent
        if row.isAlarmed, !hasPassengers(id) { row.isAlarmed = false }
        let names = Dictionary(uniqueKeysWithValues: campus.rides.map { ($0.rank, $0.request.id) })
        row.stops = vehicle.stops.map { names[$0.rank]! + ($0.kind == .pickup ? " p" : " d") }
        if row != vehicles[id] {
            vehicles[id] = row
            changedVehicles.insert(id)
        }
        guard turn.touched.contains(id) else { return }
        let starts = campus.schedule(vehicle, nowMs: turn.nowMs).startS
        for (stop, startS) in zip(vehicle.stops, starts) {
            var ride = rides[names[stop.rank]!]!
            let ms = turn.nowMs + Int64((startS * 1_000).rounded())
            if stop.kind == .pickup { ride.pickupMs = ms } else { ride.dropoffMs = ms }
            put(ride)
        }
    }

    private mutating func put(_ row: RideRow) {
        guard rides[row.pickup.request] != row else { return }
        rides[row.pickup.request] = row
        changedRides.append(row)
    }
}

extension CampusDesk.Learned {
    /// A driver refuses, or takes, both stops at once.
    public mutating func offered(_ request: RideRequest, refused: Bool, _ atMs: Int64) {
        likelihoods.offered(at: request.pickup, refused: refused, atMs: atMs)
        likelihoods.offered(at: request.dropoff, refused: refused, atMs: atMs)
    }
}

extension CampusSettings {
    /// `speedKmh` in thousandths; nil: its own.
    public func travel(speedKmh: Int64?) -> TravelTimes {
        TravelTimes.kilometresPerHour(
            Double(speedKmh ?? self[.speedKmh]) / 1_000, detour: Double(self[.detour]) / 1_000)
    }

    /// Thousandths of days.
    public var halfLifeMs: Int64 { self[.likelihoodDays] * 86_400 }

    public func rules(surge: Double) -> DispatchRules {
        func number(_ key: Key) -> Double { Double(self[key]) / 1_000 }
        var rules = DispatchRules()
        (rules.weights.travel, rules.weights.wait, rules.weights.ride) = (number(.travel), number(.wait), number(.ride))
        (rules.weights.order, rules.weights.cancel) = (number(.order), number(.cancel))
        (rules.weights.override, rules.weights.surge) = (number(.override), surge)
        (rules.pickupServiceS, rules.dropoffServiceS) = (number(.pickupS), number(.dropoffS))
        (rules.otherVehiclePrice, rules.movedArrivalPrice) = (number(.otherVehicleS), number(.movedArrivalS))
        rules.queuedMs = self[.queueS]
        rules.iterations = Int(self[.iterations] / 1_000)
        return rules
    }
}

extension DispatchEvent {
    /// Which one it happened to, where it is no ride's.
    fileprivate var vehicle: String? {
        switch self {
        case .left(let vehicle), .brokeDown(let vehicle), .fellSilent(let vehicle): vehicle
        case .requested, .cancelled, .overridden, .pickedUp, .droppedOff, .ended, .handedOver, .entered, .moved,
            .rulesChanged, .surgeChanged, .travelTimesChanged, .timesMeasured, .timePassed:
            nil
        }
    }
}
