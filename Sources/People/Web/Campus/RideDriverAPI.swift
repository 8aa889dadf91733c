internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Storage

extension CampusRoutes {
    /// The routes of ride drivers. They name their vehicle when they bring it into service.
    func addDriving(to router: inout Router) {
        func driver(
            _ method: String, _ path: String, _ then: @escaping @Sendable (Request, Caller) -> Response
        ) {
            router.add(method, CampusRoutes.path + path) { [self] request in
                asPerson(request, [.rideDriver]) { then(request, $0) }
            }
        }
        driver("POST", "/in-service") { [self] in enter($0, $1) }
        driver("POST", "/out-of-service") { [self] request, caller in
            leave(request, caller) { .outOfService(vehicle: $0) }
        }
        driver("POST", "/breakdown") { [self] request, caller in leave(request, caller) { .breakdown(vehicle: $0) } }
        driver("POST", "/position") { [self] in move($0, $1) }
        driver("GET", "/itinerary") { [self] _, caller in
            withVehicle(caller) { vehicle in
                sign(.vehicleSign(vehicle: vehicle.vehicle), of: caller, lastMs: vehicle.signMs)
                return read(caller) { try CampusRoutes.itinerary(vehicle, caller, on: $0) }
            }
        }
        driver("GET", "/itinerary/stream") { [self] in itineraryStream($0, $1) }
        driver("POST", "/stops/{request}/done") { [self] in done($0, $1) }
        driver("POST", "/rides/{request}/override") { [self] in override($0, $1) }
    }

    // MARK: The vehicle

    private func withVehicle(_ caller: Caller, _ then: (VehicleNow) -> Response) -> Response {
        let vehicle: VehicleNow?
        do {
            vehicle = try reading(caller) {
                try RideQueries.vehicle(ofDriver: RideQueries.Key(caller.campus, caller.id), on: $0)
            }
        } catch {
            return databaseAway(error)
        }
        guard let vehicle else {
            return .problem(
                409, type: "not-in-service", detail: "You have no vehicle in service. Bring one into service.")
        }
        return then(vehicle)
    }

    func itineraryStream(_ request: Request, _ caller: Caller) -> Response {
        withVehicle(caller) { vehicle in
            sign(.vehicleSign(vehicle: vehicle.vehicle), of: caller, lastMs: vehicle.signMs)
            let first: Response = read(caller) { try CampusRoutes.itinerary(vehicle, caller, on: $0, indent: false) }
            guard first.status == 200 else { return first }
            let key = RideQueries.Key(caller.campus, vehicle.vehicle)
            return stream(
                RideStreams.Subject(what: .itinerary, key: key, person: caller.id), by: caller.access, request,
                first: String(decoding: first.body, as: UTF8.self))
        }
    }

    private static func itinerary(
        _ vehicle: VehicleNow, _ caller: Caller, on connection: Connection, indent: Bool = true
    ) throws -> Response {
        let stops = try ItineraryStops.read([(caller.campus, vehicle)], on: connection)
        return .json(RideDocument.itinerary(vehicle, stops, campus: caller.campus).rendered(indent: indent))
    }

    func enter(_ request: Request, _ caller: Caller) -> Response {
        let (vehicle, capacity, place): (String, Int64, Position)
        do throws(CampusRequestBody.Fault) {
            let body = try CampusRequestBody(request)
            vehicle = try body.id("vehicle")
            capacity = try body.integer("capacity", 1...100)
            place = try body.position()
        } catch { return error.response }
        if let refusal = overBudget(caller) { return refusal }
        let key = RideQueries.Key(caller.campus, vehicle)
        let person: RideRecord.Person
        do {
            let me = RideQueries.Key(caller.campus, caller.id)
            let (there, mine, profile, isCampus) = try reading(caller) { connection in
                (
                    try RideQueries.vehicle(key, on: connection), try RideQueries.vehicle(ofDriver: me, on: connection),
                    try RideQueries.profile(me, on: connection),
                    try RideQueries.settings(caller.campus, on: connection) != nil
                )
            }
            guard isCampus else {
                return .problem(
                    409, type: "campus-closed", detail: "This campus is not set up yet. Ask its dispatcher.")
            }
            if let there, there.state != .out, there.driver != caller.id {
                return .problem(
                    409, type: "vehicle-taken",
                    detail: "Another driver has this vehicle in service. Ask the dispatcher.")
            }
            if let mine, mine.vehicle != vehicle {
                return .problem(
                    409, type: "in-service",
                    detail: "You have another vehicle in service. Take that out of service first.",
                    more: ["vehicle": JSONValue.text(mine.vehicle).rendered()])
            }
            person = profile ?? RideRecord.Person(name: caller.name, photo: nil)
        } catch {
            return databaseAway(error)
        }
        let entered = RideRecord.InService(
            vehicle: vehicle, driver: caller.id, person: person, capacity: Int(capacity), place: place)
        let answer = DeferredResponse()
        say([record(.inService(entered), of: caller, id: recordID("i", request, caller))], to: answer) {
            connection, place in
            guard let connection, let now = try RideQueries.vehicle(key, on: connection) else {
                return CampusRoutes.undecided(caller, place)
            }
            guard now.driver == caller.id, now.capacity == Int(capacity) else {
                return .problem(
                    409, type: "not-taken",
                    detail: now.driver == caller.id
                        ? "\(now.onBoard) passengers are on board, more than \(capacity) seats."
                        : "Another driver has this vehicle in service. Ask the dispatcher.")
            }
            return .json(RideDocument.vehicle(now).rendered(indent: true))
        }
        return .later(answer)
    }

    func leave(
        _ request: Request, _ caller: Caller, _ kind: (String) -> RideRecord.Kind
    ) -> Response {
        withVehicle(caller) { vehicle in
            if let refusal = overBudget(caller) { return refusal }
            let answer = DeferredResponse()
            let record = record(kind(vehicle.vehicle), of: caller, id: recordID("o", request, caller))
            say([record], to: answer) { connection, place in
                let key = RideQueries.Key(caller.campus, vehicle.vehicle)
                guard let connection, let now = try RideQueries.vehicle(key, on: connection) else {
                    return CampusRoutes.undecided(caller, place)
                }
                return .json(RideDocument.vehicle(now).rendered(indent: true))
            }
            return .later(answer)
        }
    }

    func move(_ request: Request, _ caller: Caller) -> Response {
        let (place, speed): (Position, Int64?)
        do throws(CampusRequestBody.Fault) {
            let body = try CampusRequestBody(request)
            place = try body.position()
            speed = try body.thousandths("speed_mps", 0...200_000)
        } catch { return error.response }
        return withVehicle(caller) { vehicle in
            if let refusal = overBudget(caller) { return refusal }
            let kind = RideRecord.Kind.position(vehicle: vehicle.vehicle, place: place, speedMmPerS: speed)
            return say(record(kind, of: caller, id: recordID("m", request, caller)), then: Response(204))
        }
    }

    /// The same for the same `Idempotency-Key`.
    private func recordID(_ prefix: String, _ request: Request, _ caller: Caller) -> String {
        CampusRoutes.id(prefix, of: caller, key: request.headers["idempotency-key"])
    }

    // MARK: Its stops

    /// A ride that the caller's vehicle has, or had last.
    func withRide(
        _ request: Request, _ caller: Caller, _ then: (RideNow, VehicleNow) -> Response
    ) -> Response {
        guard let id = VehicleID(request.parameters["request"]!)?.text else { return CampusRoutes.notFound }
        return withVehicle(caller) { vehicle in
            let ride: RideNow?
            do {
                ride = try reading(caller) { try RideQueries.ride(RideQueries.Key(caller.campus, id), on: $0) }
            } catch {
                return databaseAway(error)
            }
            guard let ride, ride.carrier?.vehicle == vehicle.vehicle else { return CampusRoutes.notFound }
            return then(ride, vehicle)
        }
    }

    private enum Stop: String { case pickup, dropoff }

    func done(_ request: Request, _ caller: Caller) -> Response {
        let isPickup: Bool
        do throws(CampusRequestBody.Fault) {
            let text = try CampusRequestBody(request).optionalText("stop", bytesMax: 10)
            guard let stop = Stop(rawValue: text ?? "") else {
                throw CampusRequestBody.Fault("stop", "pickup or dropoff")
            }
            isPickup = stop == .pickup
        } catch { return error.response }
        return withRide(request, caller) { ride, vehicle in
            // Said before: the answer was lost.
            if CampusRoutes.isDone(ride, isPickup) { return CampusRoutes.document(ride, caller) }
            guard ride.isOutstanding else { return CampusRoutes.notDone(ride, vehicle, isPickup) }
            if let refusal = overBudget(caller) { return refusal }
            let id = ride.pickup.request
            let answer = DeferredResponse()
            let said = record(.done(request: id, isPickup: isPickup), of: caller, id: recordID("d", request, caller))
            say([said], to: answer) { connection, place in
                guard let connection,
                    let now = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection),
                    let vehicle = try RideQueries.vehicle(
                        RideQueries.Key(caller.campus, vehicle.vehicle), on: connection)
                else { return CampusRoutes.undecided(caller, place) }
                return CampusRoutes.isDone(now, isPickup)
                    ? CampusRoutes.document(now, caller) : CampusRoutes.notDone(now, vehicle, isPickup)
            }
            return .later(answer)
        }
    }

    private static func isDone(_ ride: RideNow, _ isPickup: Bool) -> Bool {
        ride.state == .done || isPickup && ride.state == .onBoard
    }

    private static func notDone(_ ride: RideNow, _ vehicle: VehicleNow, _ isPickup: Bool) -> Response {
        let state: KeyValuePairs = ["state": JSONValue.text(ride.state.rawValue).rendered()]
        if isPickup, ride.isOutstanding, let reason = ride.reason {
            return .problem(
                409, type: "no-seats", detail: "The pickup does not count: \(reason).",
                more: [
                    "state": JSONValue.text(ride.state.rawValue).rendered(), "seats": "\(vehicle.capacity)",
                    "on_board": "\(vehicle.onBoard)", "passengers": "\(ride.pickup.passengers)",
                ])
        }
        guard ride.isOutstanding else {
            return .problem(409, type: "ride-over", detail: "This ride is over: \(ride.state.rawValue).", more: state)
        }
        return .problem(
            409, type: isPickup ? "not-taken" : "not-on-board",
            detail: isPickup
                ? "The pickup does not count: the ride is \(ride.state.rawValue) now. Read the itinerary again."
                : "The drop-off does not count: these passengers are not on board. Say the pickup first.", more: state)
    }

    func override(_ request: Request, _ caller: Caller) -> Response {
        withRide(request, caller) { ride, vehicle in
            guard ride.state == .assigned else {
                return .problem(
                    409, type: ride.state == .onBoard ? "on-board" : "ride-over",
                    detail: "This ride cannot be refused any more: it is \(ride.state.rawValue).",
                    more: ["state": JSONValue.text(ride.state.rawValue).rendered()])
            }
            if let refusal = overBudget(caller) { return refusal }
            let id = ride.pickup.request
            let answer = DeferredResponse()
            let said = record(.override(request: id), of: caller, id: recordID("v", request, caller))
            say([said], to: answer) { connection, place in
                guard let connection,
                    let now = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection)
                else { return CampusRoutes.undecided(caller, place) }
                let isStillMine = now.isOutstanding && now.carrier?.vehicle == vehicle.vehicle
                guard !isStillMine else {
                    return .problem(
                        409, type: "not-taken", detail: "This does not count: the ride is \(now.state.rawValue) now.",
                        more: ["state": JSONValue.text(now.state.rawValue).rendered()])
                }
                return .json(
                    JSONValue.object([("request", .text(id)), ("refused", .bool(true))]).rendered(indent: true))
            }
            return .later(answer)
        }
    }
}
