internal import Codecs

/// A campus as bytes, for snapshots.
extension Campus {
    /// 1: before places were measured, and with one likelihood of an override for both stops. 3: a vehicle is silent, which a
    /// program of before does not know; without one it can go on.
    private static let version: UInt8 = 3

    /// The bytes are of another version, cut off, or no state that can be.
    public struct PackedFault: Error, Sendable { public let reason: String }

    public func packed() -> [UInt8] {
        var out = PackedWriter()
        out.bytes.append(vehicles.contains(where: \.isSilent) ? Campus.version : Campus.version - 1)
        out.put(rules)
        out.put(travel)
        out.put(measured)
        out.put(UInt64(vehicles.count))
        for vehicle in vehicles { out.put(vehicle) }
        out.put(UInt64(rides.count))
        for ride in rides { out.put(ride) }
        out.bytes.appendZigzag(nextRank)
        out.bytes.appendZigzag(nowMs)
        return out.bytes
    }

    public init(packed: [UInt8]) throws(PackedFault) {
        do {
            var input = PackedReader(packed)
            let version = try input.byte()
            guard (1...Campus.version).contains(version) else { throw DecodeError.packed("another version") }
            let (rules, travel) = (try input.rules(), try input.travel(isFirst: version == 1))
            guard var campus = Campus(rules: rules, travel: travel) else {
                throw DecodeError.packed("a rule or a travel time is out of its range")
            }
            if version > 1 { campus.measured = try input.measured() }
            guard campus.measured.places.isEmpty || campus.measured.places.count == travel.sites else {
                throw DecodeError.packed("measured times of other places")
            }
            campus.vehicles = try (0..<input.count(DispatchRules.vehiclesMax)).map { _ in try input.vehicle() }
            campus.rides = try (0..<input.count(DispatchRules.ridesMax)).map { _ in
                try input.ride(isFirst: version == 1)
            }
            campus.nextRank = try input.number()
            campus.nowMs = try input.number()
            guard input.atEnd else { throw DecodeError.packed("bytes behind the end") }
            guard campus.vehicles.allSatisfy(\.isValid), campus.rides.allSatisfy({ $0.request.isValid && $0.rank > 0 })
            else { throw DecodeError.packed("a value is out of its range") }
            if let fault = campus.fault { throw DecodeError.packed(fault) }
            self = campus
        } catch {
            throw PackedFault(reason: "\(error)")
        }
    }
}

extension PackedWriter {
    fileprivate mutating func put(_ point: CampusPoint) {
        put(point.xM)
        put(point.yM)
        bytes.appendZigzag(Int64(point.site))
    }

    /// Measured times are whole milliseconds as a rule.
    fileprivate mutating func put(_ travel: TravelTimes) {
        put(travel.secondsPerMetre)
        put(UInt64(travel.sites))
        for seconds in travel.measuredS {
            let ms = seconds * 1_000
            if seconds.isNaN {
                bytes.append(0)
            } else if ms == ms.rounded(), ms / 1_000 == seconds {
                bytes.append(1)
                put(UInt64(ms))
            } else {
                bytes.append(2)
                put(seconds)
            }
        }
    }

    fileprivate mutating func put(_ measured: MeasuredPlaces) {
        put(measured.by)
        put(UInt64(measured.places.count))
        for place in measured.places {
            put(place.point.xM)
            put(place.point.yM)
            put(signed: place.atMs)
        }
    }

    fileprivate mutating func put(_ window: Window?) {
        put(window?.openMs)
        put(window?.closeMs)
    }

    fileprivate mutating func put(_ rules: DispatchRules) {
        let weights = rules.weights
        for value in [
            weights.travel, weights.wait, weights.ride, weights.order, weights.cancel, weights.override, weights.surge,
            rules.pickupServiceS, rules.dropoffServiceS, rules.otherVehiclePrice, rules.movedArrivalPrice,
        ] { put(value) }
        for value in [rules.exactStatesMax, rules.exactLabelsMax, rules.iterations, rules.candidatesMax] {
            put(UInt64(value))
        }
        put(UInt64(rules.queuedMs))
    }

    fileprivate mutating func put(_ vehicle: RideVehicle) {
        put(vehicle.id)
        put(UInt64(vehicle.capacity))
        put(vehicle.place)
        bytes.append((vehicle.inService ? 1 : 0) | (vehicle.isSilent ? 2 : 0))
        put(UInt64(vehicle.stops.count))
        for stop in vehicle.stops {
            bytes.appendZigzag(stop.rank)
            bytes.append(stop.kind.rawValue)
        }
    }

    fileprivate mutating func put(_ ride: Ride) {
        let request = ride.request
        put(request.id)
        put(UInt64(request.passengers))
        put(request.pickup)
        put(request.dropoff)
        put(request.cancelLikelihood)
        put(request.overrideLikelihood)
        put(request.dropoffOverrideLikelihood)
        put(request.pickupWindow)
        put(request.dropoffWindow)
        put(request.rideMsMax)
        bytes.appendZigzag(ride.rank)
        bytes.appendZigzag(ride.requestedAtMs)
        switch ride.state {
        case .queued(let sinceMs):
            bytes.append(0)
            bytes.appendZigzag(sinceMs)
        case .assigned(let vehicle):
            bytes.append(1)
            put(vehicle)
        case .onBoard(let vehicle, let sinceMs):
            bytes.append(2)
            put(vehicle)
            bytes.appendZigzag(sinceMs)
        }
        put(UInt64(ride.refusedBy.count))
        for vehicle in ride.refusedBy { put(vehicle) }
    }
}

extension PackedReader {
    fileprivate mutating func point() throws(DecodeError) -> CampusPoint {
        let (xM, yM) = (try double(), try double())
        guard let site = Int32(exactly: try number()), site >= -1 else { throw .packed("a site out of range") }
        return CampusPoint(xM: xM, yM: yM, site: site)
    }

    fileprivate mutating func travel(isFirst: Bool) throws(DecodeError) -> TravelTimes {
        let secondsPerMetre = try double()
        let sites = try count(TravelTimes.sitesMax)
        var measured: [Double] = []
        for _ in 0..<sites * sites { measured.append(isFirst ? try double() : try measuredSeconds()) }
        guard let travel = TravelTimes(secondsPerMetre: secondsPerMetre, sites: sites, measuredS: measured) else {
            throw .packed("a travel time is out of its range")
        }
        return travel
    }

    private mutating func measuredSeconds() throws(DecodeError) -> Double {
        switch try byte() {
        case 0: return .nan
        case 1: return Double(try count(Int(TravelTimes.longestS) * 1_000)) / 1_000
        case 2: return try double()
        default: throw .packed("no kind of travel time")
        }
    }

    fileprivate mutating func measured() throws(DecodeError) -> MeasuredPlaces {
        var measured = MeasuredPlaces(by: try text(most: MeasuredTable.byBytesMax))
        for _ in 0..<(try count(MeasuredPlaces.placesMax)) {
            let point = CampusPoint(xM: try double(), yM: try double())
            guard point.isValid else { throw .packed("a measured place out of range") }
            measured.places.append(.init(point: point, atMs: try number()))
        }
        return measured
    }

    fileprivate mutating func window() throws(DecodeError) -> Window? {
        let (open, close) = (try optional(), try optional())
        guard let open, let close else {
            guard open == nil, close == nil else { throw .packed("half a window") }
            return nil
        }
        return Window(openMs: open, closeMs: close)
    }

    fileprivate mutating func rules() throws(DecodeError) -> DispatchRules {
        var rules = DispatchRules()
        rules.weights.travel = try double()
        rules.weights.wait = try double()
        rules.weights.ride = try double()
        rules.weights.order = try double()
        rules.weights.cancel = try double()
        rules.weights.override = try double()
        rules.weights.surge = try double()
        rules.pickupServiceS = try double()
        rules.dropoffServiceS = try double()
        rules.otherVehiclePrice = try double()
        rules.movedArrivalPrice = try double()
        rules.exactStatesMax = try count(.max)
        rules.exactLabelsMax = try count(.max)
        rules.iterations = try count(.max)
        rules.candidatesMax = try count(.max)
        rules.queuedMs = Int64(try count(.max))
        return rules
    }

    fileprivate mutating func vehicle() throws(DecodeError) -> RideVehicle {
        var vehicle = RideVehicle(
            id: try text(), capacity: try count(DispatchRules.passengersMax), place: try point())
        let flags = try byte()
        vehicle.inService = flags & 1 == 1
        vehicle.isSilent = flags & 2 == 2
        for _ in 0..<(try count(DispatchRules.stopsMax)) {
            let rank = try number()
            guard let kind = StopKind(rawValue: try byte()) else { throw .packed("no kind of stop") }
            vehicle.stops.append(Stop(rank: rank, kind: kind))
        }
        return vehicle
    }

    fileprivate mutating func ride(isFirst: Bool) throws(DecodeError) -> Ride {
        var request = RideRequest(
            id: try text(), passengers: try count(DispatchRules.passengersMax), pickup: try point(),
            dropoff: try point())
        request.cancelLikelihood = try double()
        request.overrideLikelihood = try double()
        request.dropoffOverrideLikelihood = isFirst ? request.overrideLikelihood : try double()
        request.pickupWindow = try window()
        request.dropoffWindow = try window()
        request.rideMsMax = try optional()
        let (rank, requestedAtMs) = (try number(), try number())
        let state: Ride.State
        switch try byte() {
        case 0: state = .queued(sinceMs: try number())
        case 1: state = .assigned(vehicle: try text())
        case 2: state = .onBoard(vehicle: try text(), sinceMs: try number())
        default: throw .packed("no state of a ride")
        }
        var ride = Ride(request: request, rank: rank, requestedAtMs: requestedAtMs, state: state)
        for _ in 0..<(try count(DispatchRules.vehiclesMax)) { ride.refusedBy.append(try text()) }
        return ride
    }
}
