package import Fleet

/// Riders, ride drivers and their vehicles of one day, without any of them: what they say is a function of the seed and
/// of the itineraries that were decided. Vehicles drive along these, at the speed that the campus counts on, on streets where there are
/// some.
package struct EmulatedCampus: Sendable {
    /// A stop of an itinerary.
    package struct Stop: Hashable, Sendable {
        package let request: String
        package let isPickup: Bool
        package init(request: String, isPickup: Bool) { (self.request, self.isPickup) = (request, isPickup) }
    }

    /// The rides and vehicles as they are known so far.
    package struct Plan: Equatable, Sendable {
        /// Stops of vehicles in service or leaving it.
        package var stops: [String: [Stop]] = [:]
        /// Requests that are neither over nor refused.
        package var outstanding: Set<String> = []
        package var onBoard: Set<String> = []
        /// Where the stops of others' requests are, which are none of the script's.
        package var places: [Stop: Position] = [:]
        package init() {}
    }

    private struct Car: Sendable {
        var place: Position
        /// It stands at a stop until then.
        var freeMs: Int64
        var isInService = false
        var signMs: Int64
        /// The crossings that lead it there; empty: straight on.
        var way: [Int] = []
        var goal: Position?
    }

    /// Nobody is longer without a position or a sign than that.
    private static let stepMs: Int64 = 60_000
    private static let idleSignMs: Int64 = 120_000
    /// Riders look at their phones that often.
    private static let riderSignMs: Int64 = 30_000
    /// A day without end is ended.
    private static let lengthMs: Int64 = 6 * 3_600_000
    private static let speedKmh = 20.0
    private static let detour = 1.3
    private static let standMs: (pickup: Int64, dropoff: Int64) = (20_000, 10_000)

    package let campus: String
    private let startMs: Int64
    private let script: CampusScript
    private let streets: Streets?
    private var signedMs: Int64
    private var nextEvent = 0
    private var cars: [Car]
    package private(set) var nowMs: Int64
    private var said = 0
    /// Where those wait whom a broken vehicle put out.
    private var putOut: [String: Position] = [:]

    /// - Parameters:
    ///   - startMs: when the day begins; everything it says is of its hours.
    ///   - streets: nil: vehicles drive straight on, by a detour.
    ///   - prefix: of the ids of requests.
    package init(campus: String, seed: UInt64, startMs: Int64, streets: Streets? = nil, prefix: String = "r-") {
        self.campus = campus
        self.startMs = startMs
        self.streets = streets
        (nowMs, signedMs) = (startMs, startMs)
        script = CampusScript(seed: seed, prefix: prefix)
        cars = CampusScript.vehicles.map { Car(place: $0.place, freeMs: startMs, signMs: startMs) }
    }

    /// Where it lies; it goes by its records' times.
    package var settings: CampusSettings {
        var settings = CampusSettings(
            name: "City campus (emulated)", boundary: CampusScript.boundary,
            numbers: [
                .recordTime: 1_000, .speedKmh: Int64(EmulatedCampus.speedKmh * 1_000),
                .detour: Int64(EmulatedCampus.detour * 1_000), .pickupS: EmulatedCampus.standMs.pickup,
                .dropoffS: EmulatedCampus.standMs.dropoff,
            ])
        // By name, as riders choose them.
        settings.places = CampusScript.places.compactMap { CampusPlace(name: $0.name, place: $0.place) }
        return settings
    }

    package var roster: [RosterEntry] {
        CampusScript.riders.enumerated().map { number, name in
            RosterEntry(id: rider(number), role: .rider, name: name, mail: "\(rider(number))@campus.example")
        }
            + CampusScript.vehicles.map { vehicle in
                RosterEntry(
                    id: vehicle.driver, role: .rideDriver, name: vehicle.name, mail: "\(vehicle.driver)@campus.example")
            } + [RosterEntry(id: "desk", role: .dispatcher, name: "Dispatch desk", mail: "desk@campus.example")]
    }

    package var requestCount: Int { script.requests.count }

    /// Before the first step: the campus, and who rides.
    package mutating func opening() -> [RideRecord] {
        [record(.campus(settings))]
            + CampusScript.riders.enumerated().map { number, name in
                record(.profile(rider: rider(number), person: .init(name: name, photo: nil)))
            }
    }

    /// The records of the next moment at which something happens, given what was decided on all before; nil: the day
    /// is over. It is not empty, and its times do not go back.
    /// - Parameter limitMs: no later moment, for days that go by as days do.
    package mutating func step(_ plan: Plan, until limitMs: Int64 = .max) -> [RideRecord]? {
        let isIdle = plan.outstanding.isEmpty
        let dueMs = nextEvent < script.events.count ? startMs + script.events[nextEvent].atMs : nil
        guard dueMs != nil || !isIdle, nowMs - startMs < EmulatedCampus.lengthMs else { return nil }
        for car in cars.indices { lead(car, plan) }
        let arrivals = cars.indices.compactMap { arrivalMs($0, plan) }
        var untilMs = min(dueMs ?? .max, arrivals.min() ?? .max)
        if !isIdle || dueMs == nil { untilMs = min(untilMs, nowMs + EmulatedCampus.stepMs) }
        untilMs = min(untilMs, max(nowMs, limitMs))
        let reached = cars.indices.filter { arrivalMs($0, plan).map { $0 <= untilMs } ?? false }
        let before = nowMs
        nowMs = max(nowMs, untilMs)
        var records: [RideRecord] = []
        for car in cars.indices where cars[car].isInService {
            guard let stop = plan.stops[id(car)]?.first, let place = place(stop, plan) else {
                // Who has nothing to do looks at the itinerary now and then.
                if nowMs - cars[car].signMs >= EmulatedCampus.idleSignMs { records.append(record(sign(car))) }
                continue
            }
            if reached.contains(car) {
                records.append(arrive(car, stop, place))
            } else {
                drive(car, to: place, fromMs: before)
                records.append(record(position(car, speedMmPerS: 5_555)))
            }
        }
        if limitMs == .max || nowMs - signedMs >= EmulatedCampus.riderSignMs {
            signedMs = nowMs
            records += signs(plan)
        }
        if dueMs == nowMs {
            let event = script.events[nextEvent].event
            nextEvent += 1
            records += say(event, plan)
        }
        // Time passes also when nobody has anything to say.
        return records.isEmpty ? [record(.clock)] : records
    }

    /// Ends what is left of a day before, of which nothing is known but these rides.
    package mutating func sweep(_ plan: Plan) -> [RideRecord] {
        let rides = plan.outstanding.sorted().map { request -> RideRecord in
            let reason = RideRecord.Say(role: .dispatcher, reason: "the sample begins anew")
            return record(plan.onBoard.contains(request) ? .end(request: request, reason) : .cancel(request: request))
        }
        return rides + CampusScript.vehicles.map { record(.outOfService(vehicle: $0.id)) }
    }

    // MARK: Vehicles

    private func id(_ car: Int) -> String { CampusScript.vehicles[car].id }
    private func rider(_ number: Int) -> String { "g-\(1_001 + number)" }

    private func place(_ stop: Stop, _ plan: Plan) -> Position? {
        guard let request = script.requests.first(where: { $0.id == stop.request }) else { return plan.places[stop] }
        if stop.isPickup, let place = putOut[request.id] { return place }
        return CampusScript.places[stop.isPickup ? request.from : request.to].place
    }

    /// Looks up the streets to its next stop, once.
    private mutating func lead(_ car: Int, _ plan: Plan) {
        guard let streets, let stop = plan.stops[id(car)]?.first, let goal = place(stop, plan),
            goal != cars[car].goal
        else { return }
        cars[car].goal = goal
        // In the middle of a street it goes on to the next crossing.
        let start = cars[car].way.first ?? streets.nearest(to: cars[car].place)
        cars[car].way = streets.way(from: start, to: streets.nearest(to: goal)) ?? []
    }

    // Without streets nothing has a way along them.
    private func place(ofCrossing node: Int) -> Position { streets!.nodes[node] }

    private func travelMs(_ car: Int, to place: Position) -> Int64 {
        let line = [cars[car].place] + cars[car].way.map(place(ofCrossing:)) + [place]
        let metres = zip(line, line.dropFirst()).reduce(0.0) { $0 + $1.0.metres(to: $1.1) }
        let detour = cars[car].way.isEmpty ? EmulatedCampus.detour : 1
        return Int64((metres * detour / (EmulatedCampus.speedKmh / 3.6) * 1_000).rounded(.up))
    }

    /// When it is at its next stop; nil: it has none.
    private func arrivalMs(_ car: Int, _ plan: Plan) -> Int64? {
        guard cars[car].isInService, let stop = plan.stops[id(car)]?.first, let place = place(stop, plan) else {
            return nil
        }
        return max(nowMs, cars[car].freeMs) + travelMs(car, to: place)
    }

    private mutating func drive(_ car: Int, to place: Position, fromMs: Int64) {
        let drivenMs = nowMs - max(fromMs, cars[car].freeMs)
        let wholeMs = travelMs(car, to: place)
        guard drivenMs > 0, wholeMs > 0 else { return }
        guard !cars[car].way.isEmpty else {
            cars[car].place = cars[car].place.towards(place, share: min(1, Double(drivenMs) / Double(wholeMs)))
            return
        }
        var metres = Double(drivenMs) * EmulatedCampus.speedKmh / 3_600
        while let next = cars[car].way.first.map(place(ofCrossing:)) {
            let room = cars[car].place.metres(to: next)
            guard room <= metres else {
                cars[car].place = cars[car].place.towards(next, share: metres / room)
                return
            }
            metres -= room
            cars[car].place = next
            cars[car].way.removeFirst()
        }
    }

    /// Some drivers press the button, for the others their standing there says it.
    private mutating func arrive(_ car: Int, _ stop: Stop, _ place: Position) -> RideRecord {
        cars[car].place = place
        (cars[car].way, cars[car].goal) = ([], nil)
        cars[car].freeMs = nowMs + (stop.isPickup ? EmulatedCampus.standMs.pickup : EmulatedCampus.standMs.dropoff)
        let kind =
            car % 2 == 0
            ? position(car, speedMmPerS: 0) : RideRecord.Kind.done(request: stop.request, isPickup: stop.isPickup)
        return record(kind)
    }

    private mutating func sign(_ car: Int) -> RideRecord.Kind {
        cars[car].signMs = nowMs
        return .vehicleSign(vehicle: id(car))
    }

    private func position(_ car: Int, speedMmPerS: Int64) -> RideRecord.Kind {
        .position(vehicle: id(car), place: cars[car].place, speedMmPerS: speedMmPerS)
    }

    // MARK: What is said

    private mutating func record(_ kind: RideRecord.Kind) -> RideRecord {
        said += 1
        return RideRecord(id: "\(campus)-\(startMs)-\(said)", campus: campus, ts: nowMs, by: "emulator", kind: kind)
    }

    private mutating func signs(_ plan: Plan) -> [RideRecord] {
        var records: [RideRecord] = []
        for request in script.requests
        where plan.outstanding.contains(request.id) && !plan.onBoard.contains(request.id) && !request.isSilent {
            records.append(record(.riderSign(rider: rider(request.rider))))
        }
        return records
    }

    private mutating func say(_ event: CampusScript.Event, _ plan: Plan) -> [RideRecord] {
        switch event {
        case .shiftBegins(let car):
            cars[car].isInService = true
            let vehicle = CampusScript.vehicles[car]
            return [
                record(
                    .inService(
                        .init(
                            vehicle: vehicle.id, driver: vehicle.driver, person: .init(name: vehicle.name, photo: nil),
                            capacity: vehicle.capacity, place: cars[car].place)))
            ]
        case .shiftEnds(let car): return [record(.outOfService(vehicle: id(car)))]
        case .breakdown(let car):
            cars[car].isInService = false
            for stop in plan.stops[id(car)] ?? [] where plan.onBoard.contains(stop.request) {
                putOut[stop.request] = cars[car].place
            }
            return [record(position(car, speedMmPerS: 0)), record(.breakdown(vehicle: id(car)))]
        case .surge(let thousandths): return [record(.surge(thousandths: thousandths))]
        case .request(let number): return [record(.pickup(pickup(script.requests[number])))]
        case .cancel(let number): return [record(.cancel(request: script.requests[number].id))]
        case .override(let number):
            let stop = Stop(request: script.requests[number].id, isPickup: true)
            guard plan.stops.values.contains(where: { $0.contains(stop) }) else { return [] }
            return [record(.override(request: stop.request))]
        }
    }

    private func pickup(_ request: CampusScript.Request) -> RideRecord.Pickup {
        let (from, to) = (CampusScript.places[request.from], CampusScript.places[request.to])
        var pickup = RideRecord.Pickup(
            request: request.id, rider: rider(request.rider), passengers: request.passengers, from: from.place,
            to: to.place)
        pickup.fromAddress = from.name
        pickup.toAddress = to.name
        return pickup
    }
}
