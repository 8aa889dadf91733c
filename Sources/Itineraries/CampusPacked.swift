internal import Wire

/// A campus as bytes, for snapshots: whole numbers as varints, decimals as their bits, so nothing is rounded.
extension Campus {
    private static let version: UInt8 = 1

    /// The bytes are of another version, cut off, or no state that can be.
    public struct PackedFault: Error, Sendable { public let reason: String }

    public func packed() -> [UInt8] {
        var out = PackedWriter()
        out.bytes.append(Campus.version)
        out.put(rules)
        out.put(travel.secondsPerMetre)
        out.put(UInt64(travel.sites))
        for seconds in travel.measuredS { out.put(seconds) }
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
            guard try input.byte() == Campus.version else { throw DecodeError.packed("another version") }
            let rules = try input.rules()
            let secondsPerMetre = try input.double()
            let sites = try input.count(TravelTimes.sitesMax)
            let measured = try (0..<sites * sites).map { _ in try input.double() }
            guard
                let travel = TravelTimes(secondsPerMetre: secondsPerMetre, sites: sites, measuredS: measured),
                var campus = Campus(rules: rules, travel: travel)
            else { throw DecodeError.packed("a rule or a travel time is out of its range") }
            campus.vehicles = try (0..<input.count(DispatchRules.vehiclesMax)).map { _ in try input.vehicle() }
            campus.rides = try (0..<input.count(DispatchRules.ridesMax)).map { _ in try input.ride() }
            (campus.nextRank, campus.nowMs) = (try input.number(), try input.number())
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

private struct PackedWriter {
    var bytes: [UInt8] = []

    mutating func put(_ value: UInt64) { bytes.appendVarint(value) }

    mutating func put(_ value: Double) {
        var bits = value.bitPattern
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
        }
    }

    mutating func put(_ text: String) {
        put(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func put(_ value: Int64?) {
        bytes.append(value == nil ? 0 : 1)
        if let value { bytes.appendZigzag(value) }
    }

    mutating func put(_ point: CampusPoint) {
        put(point.xM)
        put(point.yM)
        bytes.appendZigzag(Int64(point.site))
    }

    mutating func put(_ window: Window?) {
        put(window?.openMs)
        put(window?.closeMs)
    }

    mutating func put(_ rules: DispatchRules) {
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

    mutating func put(_ vehicle: RideVehicle) {
        put(vehicle.id)
        put(UInt64(vehicle.capacity))
        put(vehicle.place)
        bytes.append(vehicle.inService ? 1 : 0)
        put(UInt64(vehicle.stops.count))
        for stop in vehicle.stops {
            bytes.appendZigzag(stop.rank)
            bytes.append(stop.kind.rawValue)
        }
    }

    mutating func put(_ ride: Ride) {
        let request = ride.request
        put(request.id)
        put(UInt64(request.passengers))
        put(request.pickup)
        put(request.dropoff)
        put(request.cancelLikelihood)
        put(request.overrideLikelihood)
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

private struct PackedReader {
    private var input: VarintReader
    init(_ bytes: [UInt8]) { input = VarintReader(bytes) }

    var atEnd: Bool { input.atEnd }
    mutating func byte() throws(DecodeError) -> UInt8 { try input.byte() }
    mutating func number() throws(DecodeError) -> Int64 { try input.zigzag() }

    mutating func count(_ most: Int) throws(DecodeError) -> Int {
        let value = try input.varint()
        guard value <= UInt64(most) else { throw .packed("a number above \(most)") }
        return Int(value)
    }

    mutating func double() throws(DecodeError) -> Double {
        var bits: UInt64 = 0
        for shift in 0..<8 { bits |= UInt64(try input.byte()) << UInt64(8 * shift) }
        return Double(bitPattern: bits)
    }

    mutating func text() throws(DecodeError) -> String {
        let bytes = try input.bytes(most: 64)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { throw .packed("not UTF-8") }
        return text
    }

    mutating func optional() throws(DecodeError) -> Int64? {
        switch try input.byte() {
        case 0: return nil
        case 1: return try input.zigzag()
        default: throw .packed("neither there nor not")
        }
    }

    mutating func point() throws(DecodeError) -> CampusPoint {
        let (xM, yM) = (try double(), try double())
        guard let site = Int32(exactly: try number()), site >= -1 else { throw .packed("a site out of range") }
        return CampusPoint(xM: xM, yM: yM, site: site)
    }

    mutating func window() throws(DecodeError) -> Window? {
        let (open, close) = (try optional(), try optional())
        guard let open, let close else {
            guard open == nil, close == nil else { throw .packed("half a window") }
            return nil
        }
        return Window(openMs: open, closeMs: close)
    }

    mutating func rules() throws(DecodeError) -> DispatchRules {
        var rules = DispatchRules()
        (rules.weights.travel, rules.weights.wait, rules.weights.ride) = (try double(), try double(), try double())
        (rules.weights.order, rules.weights.cancel) = (try double(), try double())
        (rules.weights.override, rules.weights.surge) = (try double(), try double())
        (rules.pickupServiceS, rules.dropoffServiceS) = (try double(), try double())
        (rules.otherVehiclePrice, rules.movedArrivalPrice) = (try double(), try double())
        (rules.exactStatesMax, rules.exactLabelsMax) = (try count(.max), try count(.max))
        (rules.iterations, rules.candidatesMax) = (try count(.max), try count(.max))
        rules.queuedMs = Int64(try count(.max))
        return rules
    }

    mutating func vehicle() throws(DecodeError) -> RideVehicle {
        var vehicle = RideVehicle(
            id: try text(), capacity: try count(DispatchRules.passengersMax), place: try point())
        vehicle.inService = try input.byte() == 1
        for _ in 0..<(try count(DispatchRules.stopsMax)) {
            let rank = try number()
            guard let kind = StopKind(rawValue: try input.byte()) else { throw .packed("no kind of stop") }
            vehicle.stops.append(Stop(rank: rank, kind: kind))
        }
        return vehicle
    }

    mutating func ride() throws(DecodeError) -> Ride {
        var request = RideRequest(
            id: try text(), passengers: try count(DispatchRules.passengersMax), pickup: try point(),
            dropoff: try point())
        (request.cancelLikelihood, request.overrideLikelihood) = (try double(), try double())
        (request.pickupWindow, request.dropoffWindow) = (try window(), try window())
        request.rideMsMax = try optional()
        let (rank, requestedAtMs) = (try number(), try number())
        let state: Ride.State
        switch try input.byte() {
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
