internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Presentation
internal import Reports
internal import Storage

/// Rides, vehicles and itineraries as apps read them: docs/campus-apps.md.
enum RideDocument {
    static func ride(_ ride: RideNow, campus: String) -> JSONValue {
        let pickup = ride.pickup
        return .object(
            [
                ("request", .text(pickup.request)), ("state", .text(ride.state.rawValue)),
                ("reason", .optional(ride.reason)),
                ("passengers", .integer(Int64(pickup.passengers))), ("description", .optional(pickup.description)),
            ] + place(pickup.from, "from_") + [("from_address", .optional(pickup.fromAddress))]
                + place(pickup.to, "to_") + [
                    ("to_address", .optional(pickup.toAddress)), ("requested", .text(UTC.text(ride.requestedMs))),
                    ("place_in_line", ride.placeInLine.map { .integer(Int64($0)) } ?? .null),
                    ("pickup", time(ride.pickupMs)), ("dropoff", time(ride.dropoffMs)), ("ended", time(ride.endedMs)),
                    ("vehicle", carrier(ride, campus)),
                ])
    }

    private static func carrier(_ ride: RideNow, _ campus: String) -> JSONValue {
        guard let carrier = ride.carrier else { return .null }
        return .object(
            [
                ("vehicle", .text(carrier.vehicle)), ("driver", .text(carrier.driverName)),
                ("driver_photo", photo(carrier.driverPhoto, campus)),
            ] + place(carrier.place, "") + [
                ("seen", .text(UTC.text(carrier.seenMs))), ("is_silent", .bool(carrier.isSilent)),
                ("needs_attention", .bool(carrier.isAlarmed)),
            ])
    }

    static func vehicle(_ vehicle: VehicleNow) -> JSONValue {
        .object(
            [
                ("vehicle", .text(vehicle.vehicle)), ("state", .text(vehicle.state.rawValue)),
                ("driver", .text(vehicle.driverName)),
            ] + place(vehicle.place, "") + [
                ("seen", .text(UTC.text(vehicle.seenMs))), ("is_silent", .bool(vehicle.isSilent)),
                ("needs_attention", .bool(vehicle.isAlarmed)), ("capacity", .integer(Int64(vehicle.capacity))),
                ("free_seats", .integer(Int64(max(0, vehicle.capacity - vehicle.onBoard)))),
            ])
    }

    /// The vehicle with its stops in order.
    static func itinerary(_ vehicle: VehicleNow, _ known: ItineraryStops, campus: String) -> JSONValue {
        var (at, metres) = (vehicle.place, 0.0)
        let stops = vehicle.stops.compactMap { text -> JSONValue? in
            let request = RideQueries.Key(campus, String(text.dropLast(2)))
            guard let ride = known.rides[request] else { return nil }
            let isPickup = text.hasSuffix(" p")
            let (pickup, rider) = (ride.pickup, known.riders[request])
            let place = isPickup ? pickup.from : pickup.to
            metres += at.metres(to: place)
            at = place
            return .object(
                [
                    ("request", .text(pickup.request)), ("stop", .text(isPickup ? "pickup" : "dropoff")),
                    ("name", .optional(rider?.name)), ("photo", photo(rider?.photo, campus)),
                    ("passengers", .integer(Int64(pickup.passengers))), ("description", .optional(pickup.description)),
                    ("address", .optional(isPickup ? pickup.fromAddress : pickup.toAddress)),
                ] + self.place(place, "") + [
                    ("distance_m", .integer(Int64(metres.rounded()))),
                    ("expected", time(isPickup ? ride.pickupMs : ride.dropoffMs)), ("reason", .optional(ride.reason)),
                ])
        }
        guard case .object(let fields) = self.vehicle(vehicle) else { return .null }
        return .object(fields + [("stops", .list(stops))])
    }

    /// The address of a photo.
    static func photo(_ photo: String?, _ campus: String) -> JSONValue {
        .optional(photo.map { "/v1/campuses/\(URLText.escaped(campus))/photos/\(URLText.escaped($0))" })
    }

    static func place(_ place: Position, _ prefix: String) -> [JSONValue.Field] {
        [
            (prefix + "latitude_deg", .number(Decimal.text(Int64(place.latitude), decimals: 7))),
            (prefix + "longitude_deg", .number(Decimal.text(Int64(place.longitude), decimals: 7))),
        ]
    }

    private static func time(_ ms: Int64?) -> JSONValue { .optional(ms.map(UTC.text)) }
}
