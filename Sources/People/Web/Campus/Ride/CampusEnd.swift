internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Presentation
internal import Storage

/// One end of a ride as a form says it: by name, as before, or by address and coordinates.
struct CampusEnd {
    struct Fault: Error { let text: String }

    /// What the order says of it, and the fields that say the rest.
    var said: [JSONValue.Field] = []
    var numbers: [String] = []
    var texts: [String] = []

    private init(_ prefix: String, address: String?, _ place: Position) {
        said = [
            (prefix + "latitude_deg", .number(Decimal.text(Int64(place.latitude), decimals: 7))),
            (prefix + "longitude_deg", .number(Decimal.text(Int64(place.longitude), decimals: 7))),
        ]
        if let address { said.append((prefix + "address", .text(address))) }
    }

    private init(typed prefix: String) {
        (numbers, texts) = ([prefix + "latitude_deg", prefix + "longitude_deg"], [prefix + "address"])
    }

    /// - Parameter ride: it is asked for again.
    static func read(_ fields: FormFields, again ride: RideNow?, _ settings: CampusSettings?) throws(Fault)
        -> [CampusEnd]
    {
        if let pickup = ride?.pickup {
            return [
                CampusEnd("from_", address: pickup.fromAddress, pickup.from),
                CampusEnd("to_", address: pickup.toAddress, pickup.to),
            ]
        }
        return [
            try read(
                "from_", fields, settings,
                missing: t("Say where you start: choose a place, allow your position, type an address or tap the map.")),
            try read(
                "to_", fields, settings,
                missing: t("Say where you go: choose a place, type an address or tap the map.")),
        ]
    }

    private static func read(
        _ prefix: String, _ fields: FormFields, _ settings: CampusSettings?, missing: String
    ) throws(Fault) -> CampusEnd {
        if let name = fields[prefix + "place"], !name.isEmpty {
            guard let place = PlaceNames(settings).named(name) else {
                throw Fault(text: t("There is no place called \(String(name.prefix(80))) any more. Choose another."))
            }
            return CampusEnd(prefix, address: place.name, place.place)
        }
        guard ["address", "latitude_deg", "longitude_deg"].contains(where: { !(fields[prefix + $0] ?? "").isEmpty })
        else { throw Fault(text: missing) }
        return CampusEnd(typed: prefix)
    }
}
