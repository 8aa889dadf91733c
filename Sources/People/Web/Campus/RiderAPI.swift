internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Storage

extension CampusRoutes {
    private static let keyBytesMax = 200

    /// The routes of riders.
    func addRides(to router: inout Router) {
        router.add("POST", CampusRoutes.path + "/pickups") { [self] request in
            asPerson(request, [.rider]) { pickup(request, $0) }
        }
        router.add("GET", CampusRoutes.path + "/vehicles") { [self] request in
            asPerson(request, Set(PersonRole.allCases)) { caller in
                read(caller) { connection in
                    let vehicles = try RideQueries.vehicles(caller.campus, on: connection)
                    return .json(
                        JSONValue.object([("vehicles", .list(vehicles.map(RideDocument.vehicle)))]).rendered(
                            indent: true))
                }
            }
        }
        router.add("GET", CampusRoutes.path + "/rides") { [self] request in
            asPerson(request, [.rider, .dispatcher]) { caller in
                read(caller) { connection in
                    let rides = try RideQueries.outstanding(
                        caller.campus, rider: caller.role == .rider ? caller.id : nil, on: connection)
                    return .json(
                        JSONValue.object([
                            ("rides", .list(rides.map { RideDocument.ride($0, campus: caller.campus) }))
                        ]).rendered(indent: true))
                }
            }
        }
        router.add("GET", CampusRoutes.path + "/rides/{request}") { [self] request in
            asPerson(request, [.rider, .dispatcher]) { ride(request, $0) }
        }
        router.add("GET", CampusRoutes.path + "/rides/{request}/stream") { [self] request in
            asPerson(request, [.rider]) { caller in
                rideStream(request, caller)
            }
        }
        router.add("POST", CampusRoutes.path + "/rides/{request}/cancel") { [self] request in
            asPerson(request, [.rider]) { cancel(request, $0) }
        }
    }

    func rideStream(_ request: Request, _ caller: Caller) -> Response {
        let found = find(request, caller)
        guard let ride = found.ride else { return found.refusal! }
        sign(.riderSign(rider: caller.id), of: caller, lastMs: ride.signMs)
        let key = RideQueries.Key(caller.campus, ride.pickup.request)
        return stream(
            RideStreams.Subject(what: .ride, key: key, person: caller.id), by: caller.access, request,
            first: RideDocument.ride(ride, campus: caller.campus).rendered())
    }

    static func document(_ ride: RideNow, _ caller: Caller) -> Response {
        .json(RideDocument.ride(ride, campus: caller.campus).rendered(indent: true))
    }

    // MARK: One ride

    /// The caller's ride that the address names: a rider's own, any of a dispatcher's campus. Or why not.
    func find(_ request: Request, _ caller: Caller) -> (ride: RideNow?, refusal: Response?) {
        guard let id = VehicleID(request.parameters["request"]!)?.text else { return (nil, CampusRoutes.notFound) }
        do {
            let (ride, isOpen) = try reading(caller) { connection in
                let ride = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection)
                return (ride, try CampusRoutes.isUndecided(request.query["after"], on: connection))
            }
            if let ride, caller.role == .dispatcher || ride.pickup.rider == caller.id { return (ride, nil) }
            if let place = isOpen { return (nil, CampusRoutes.undecided(caller, request: id, place)) }
            return (nil, CampusRoutes.notFound)
        } catch {
            return (nil, databaseAway(error))
        }
    }

    /// The place in `after`, PARTITION.OFFSET as an earlier answer gave it, while the workers have not come so far.
    private static func isUndecided(_ after: String?, on connection: Connection) throws -> UploadSender.Place? {
        guard let parts = after?.split(separator: "."), parts.count == 2, let partition = Int32(parts[0]),
            let offset = Int64(parts[1]), partition >= 0, offset >= 0
        else { return nil }
        let committed = try RideQueries.progress(on: connection)[partition] ?? 0
        return offset >= committed ? UploadSender.Place(partition: partition, offset: offset) : nil
    }

    private func ride(_ request: Request, _ caller: Caller) -> Response {
        let found = find(request, caller)
        guard let ride = found.ride else { return found.refusal! }
        if caller.role == .rider, ride.isOutstanding {
            sign(.riderSign(rider: caller.id), of: caller, lastMs: ride.signMs)
        }
        return CampusRoutes.document(ride, caller).with("Cache-Control", "no-store")
    }

    func cancel(_ request: Request, _ caller: Caller) -> Response {
        let found = find(request, caller)
        guard let ride = found.ride else { return found.refusal! }
        guard ride.isOutstanding, ride.state != .onBoard else { return CampusRoutes.cancelled(ride, caller) }
        if let refusal = overBudget(caller) { return refusal }
        let id = ride.pickup.request
        let answer = DeferredResponse()
        let record = record(.cancel(request: id), of: caller, id: CampusRoutes.id("c", of: caller, key: id))
        say([record], to: answer) { connection, place in
            guard let connection,
                let ride = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection)
            else { return CampusRoutes.undecided(caller, request: id, place) }
            return CampusRoutes.cancelled(ride, caller)
        }
        return .later(answer)
    }

    private static func cancelled(_ ride: RideNow, _ caller: Caller) -> Response {
        guard ride.state != .cancelled else { return document(ride, caller) }
        return .problem(
            409, type: ride.state == .onBoard ? "on-board" : "ride-over",
            detail: ride.state == .onBoard
                ? "You are on board: this ride cannot be cancelled any more."
                : "This ride is over: \(ride.state.rawValue).",
            more: ["state": JSONValue.text(ride.state.rawValue).rendered()])
    }

    // MARK: A new ride

    func pickup(_ request: Request, _ caller: Caller) -> Response {
        let (order, key): (PickupOrder, String)
        do throws(CampusRequestBody.Fault) {
            let body = try CampusRequestBody(request)
            let own = try body.optionalText("request", bytesMax: CampusRoutes.keyBytesMax)
            guard let given = request.headers["idempotency-key"] ?? own, !given.isEmpty,
                given.utf8.count <= CampusRoutes.keyBytesMax
            else {
                throw CampusRequestBody.Fault(
                    400, "idempotency-key",
                    "Name this request: Idempotency-Key, 1 to \(CampusRoutes.keyBytesMax) bytes, the same with each repeat."
                )
            }
            order = try PickupOrder(body)
            key = given
        } catch { return error.response }
        let id = CampusRoutes.id("r", of: caller, key: key)
        // An address need not be looked up again.
        if !order.unknown.isEmpty, let known = known(id, order, caller) { return known }
        if let refusal = overBudget(caller) { return refusal }
        let answer = DeferredResponse()
        guard !order.unknown.isEmpty else {
            dispatch(order, id, caller, to: answer)
            return .later(answer)
        }
        guard let addresses else {
            return .problem(
                422, type: "coordinates-needed", detail: "Addresses are not looked up here. Send coordinates as well.")
        }
        addresses.look(order.unknown) { [self] found in
            if let refusal = CampusRoutes.refusal(found, order.unknown) { return answer.give(refusal) }
            let places = found.compactMap { if case .found(let place) = $0 { place } else { nil } }
            dispatch(order.placed(places), id, caller, to: answer)
        }
        return .later(answer)
    }

    private static func refusal(_ found: [AddressLookup.Answer], _ addresses: [String]) -> Response? {
        for (answer, address) in zip(found, addresses) {
            switch answer {
            case .found: continue
            case .nothing:
                return .problem(
                    422, type: "address-unknown",
                    detail: "This address is not found. Send coordinates, or another one.",
                    more: ["address": JSONValue.text(address).rendered()])
            case .away:
                return .problem(
                    503, type: "addresses-away",
                    detail: "Addresses cannot be looked up right now. Send coordinates, or try again."
                ).with("Retry-After", "30")
            }
        }
        return nil
    }

    /// The result of an earlier identical request; nil: it is new.
    private func known(_ id: String, _ order: PickupOrder, _ caller: Caller) -> Response? {
        do {
            let ride = try reading(caller) { try RideQueries.ride(RideQueries.Key(caller.campus, id), on: $0) }
            return ride.map { CampusRoutes.answer($0, order, caller).with("Cache-Control", "no-store") }
        } catch {
            return databaseAway(error)
        }
    }

    private static func answer(_ ride: RideNow, _ order: PickupOrder, _ caller: Caller) -> Response {
        guard order.isOf(ride.pickup) else {
            return .problem(
                422, type: "key-reused",
                detail: "With this key you asked for another ride. Give each ride a key of its own.")
        }
        guard ride.state != .refused else {
            return .problem(
                409, type: "refused", detail: "This ride was refused: \(ride.reason ?? "the campus does not take it").",
                more: ["request": JSONValue.text(ride.pickup.request).rendered()])
        }
        return document(ride, caller).with("Location", "\(base(caller))/rides/\(ride.pickup.request)")
    }

    /// Precondition: the order has both places. Goes on on the server's thread, or on that of addresses or ways.
    private func dispatch(_ order: PickupOrder, _ id: String, _ caller: Caller, to answer: DeferredResponse) {
        if let known = known(id, order, caller) { return answer.give(known) }
        let pickup = order.pickup(request: id, rider: caller.id)
        let hasProfile: Bool
        do {
            let found = try reading(caller) { try CampusRoutes.rules(caller, on: $0) }
            guard let (rules, isKnown) = found else {
                return answer.give(
                    .problem(
                        409, type: "campus-closed", detail: "This campus is not set up yet. Ask its dispatcher."))
            }
            if let mine = rules.outstanding, mine.pickup.request == id {
                // Sent twice at once, and the other one was faster.
                return answer.give(CampusRoutes.answer(mine, order, caller).with("Cache-Control", "no-store"))
            }
            if let refusal = rules.refusal(pickup) { return answer.give(refusal) }
            hasProfile = isKnown
        } catch {
            return answer.give(databaseAway(error))
        }
        var records = [record(.pickup(pickup), of: caller, id: id)]
        if !hasProfile {
            // Whoever comes for the rider needs a name.
            let profile = RideRecord.Kind.profile(
                rider: caller.id, person: RideRecord.Person(name: caller.name, photo: nil))
            records.insert(record(profile, of: caller, id: CampusRoutes.id("p", of: caller, key: caller.name)), at: 0)
        }
        guard let ways else { return push(records, request: id, order, caller, to: answer) }
        ways.measure(campus: caller.campus, pickup: pickup) { [self, records] travel in
            push((travel.map { [$0] } ?? []) + records, request: id, order, caller, to: answer)
        }
    }

    private func push(
        _ records: [RideRecord], request id: String, _ order: PickupOrder, _ caller: Caller, to answer: DeferredResponse
    ) {
        say(records, to: answer) { connection, place in
            guard let connection else { return CampusRoutes.undecided(caller, request: id, place) }
            guard let ride = try RideQueries.ride(RideQueries.Key(caller.campus, id), on: connection) else {
                return .problem(
                    409, type: "not-taken",
                    detail: "The workers did not take this request; `drover rejected list` says why.")
            }
            return CampusRoutes.answer(ride, order, caller)
        }
    }

    /// Nil: there is no such campus. And whether the rider has a profile.
    private static func rules(_ caller: Caller, on connection: Connection) throws -> (PickupRules, Bool)? {
        guard let grounds = try RideQueries.grounds(RideQueries.Key(caller.campus, caller.id), on: connection) else {
            return nil
        }
        let outstanding =
            grounds.hasRide
            ? try RideQueries.outstanding(caller.campus, rider: caller.id, rowsMax: 1, on: connection).first : nil
        let rules = PickupRules(settings: grounds.settings, seatsMax: grounds.seatsMax, outstanding: outstanding)
        return (rules, grounds.hasProfile)
    }
}
