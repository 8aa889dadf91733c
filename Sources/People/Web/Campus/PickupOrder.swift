internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Routing
internal import Storage

/// A ride as a rider asks for it.
struct PickupOrder: Sendable {
    /// Coordinates decide; an address alone is looked up.
    struct End: Sendable {
        var position: Position?
        let address: String?
    }

    private static let addressBytesMax = 300
    private static let descriptionBytesMax = 1_000

    let passengers: Int
    let description: String?
    var from: End
    var to: End

    init(_ body: CampusRequestBody) throws(CampusRequestBody.Fault) {
        passengers = Int(try body.integer("passengers", 1...100))
        description = try body.optionalText("description", bytesMax: PickupOrder.descriptionBytesMax)
        from = try PickupOrder.end(body, "from_")
        to = try PickupOrder.end(body, "to_")
    }

    private static func end(_ body: CampusRequestBody, _ prefix: String) throws(CampusRequestBody.Fault) -> End {
        let address = try body.optionalText(prefix + "address", bytesMax: addressBytesMax)
        let isPlace = body.has(prefix + "latitude_deg") || body.has(prefix + "longitude_deg")
        guard isPlace || address != nil else {
            throw CampusRequestBody.Fault(
                422, "place-missing",
                "Say where: `\(prefix)latitude_deg` and `\(prefix)longitude_deg`, or `\(prefix)address`.")
        }
        return End(position: isPlace ? try body.position(prefix) : nil, address: address)
    }

    /// The addresses without coordinates.
    var unknown: [String] { [from, to].filter { $0.position == nil }.map { $0.address! } }

    /// With the places of `unknown`, in their order.
    func placed(_ places: [Position]) -> PickupOrder {
        var (order, rest) = (self, places[...])
        if order.from.position == nil { order.from.position = rest.popFirst() }
        if order.to.position == nil { order.to.position = rest.popFirst() }
        return order
    }

    /// Precondition: it has both places.
    func pickup(request: String, rider: String) -> RideRecord.Pickup {
        var pickup = RideRecord.Pickup(
            request: request, rider: rider, passengers: passengers, from: from.position!, to: to.position!)
        pickup.fromAddress = from.address
        pickup.toAddress = to.address
        pickup.description = description
        return pickup
    }

    /// Whether a ride can have come of it.
    func isOf(_ pickup: RideRecord.Pickup) -> Bool {
        passengers == pickup.passengers && description == pickup.description
            && from.position.map { $0 == pickup.from } ?? true && to.position.map { $0 == pickup.to } ?? true
            && from.address == pickup.fromAddress && to.address == pickup.toAddress
    }
}

/// Checks a ride against the campus's settings and state before anybody decides on it. The worker has the last word.
struct PickupRules {
    let settings: CampusSettings
    /// Seats of the largest vehicle in service; nil: none is.
    let seatsMax: Int?
    /// Another ride of the rider.
    let outstanding: RideNow?

    /// Nil: nothing speaks against it.
    func refusal(_ pickup: RideRecord.Pickup) -> Response? {
        if let outstanding {
            let isOnBoard = outstanding.state == .onBoard
            return .problem(
                409, type: "ride-outstanding",
                detail: isOnBoard
                    ? "You are on board of another ride. Ask again when that is over."
                    : "You have asked for another ride already. Cancel it, or wait for it.",
                more: [
                    "request": JSONValue.text(outstanding.pickup.request).rendered(),
                    "state": JSONValue.text(outstanding.state.rawValue).rendered(),
                ])
        }
        if let seatsMax, pickup.passengers > seatsMax {
            return .problem(
                422, type: "too-many-passengers",
                detail:
                    "The largest vehicle in service has \(seatsMax) seats, \(pickup.passengers - seatsMax) fewer than "
                    + "you need. Ask for several rides.", more: ["seats_max": "\(seatsMax)"])
        }
        guard let area = CampusArea(boundary: settings.boundary) else { return nil }
        let (from, to) = (area.point(pickup.from), area.point(pickup.to))
        let reachM = Double(settings[.reachM]) / 1_000
        guard !area.allows(from, to, reachM: reachM) else { return nil }
        let (fromM, toM) = (area.metresOutside(from), area.metresOutside(to))
        let isOneInside = min(fromM, toM) < 0.01
        let far = fromM > toM ? "where you start" : "where you go"
        let near = fromM > toM ? "where you go" : "where you start"
        return .problem(
            422, type: "outside-campus",
            detail: isOneInside
                ? "A ride leaves the campus by at most \(Int(reachM)) m; \(far) is \(Int(max(fromM, toM))) m outside."
                : "One end of a ride lies on the campus; \(near), the nearer one, is \(Int(min(fromM, toM).rounded(.up))) m "
                    + "outside.",
            more: [
                "from_outside_m": "\(Int(fromM.rounded(.up)))", "to_outside_m": "\(Int(toM.rounded(.up)))",
                "reach_m": Decimal.text(settings[.reachM], decimals: 3),
            ])
    }
}
