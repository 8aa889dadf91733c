internal import Basics
internal import Fleet
internal import Presentation
internal import Routing

/// A change of a campus's places, as a form of its page says it.
struct PlaceChange {
    struct Fault: Error { let text: String }
    enum Act: String { case add, rename, remove }

    /// The places as they will be.
    let places: [CampusPlace]

    init(_ fields: FormFields, _ settings: CampusSettings) throws(Fault) {
        let known = settings.places ?? []
        let was = fields["was"] ?? ""
        guard let act = PlaceChange.act(fields) else {
            throw Fault(text: t("This form is not whole. Open the page again and send it from there."))
        }
        switch act {
        case .add:
            guard known.count < CampusPlace.countMax else {
                throw Fault(text: t("A campus has at most \(CampusPlace.countMax) places. Remove one first."))
            }
            let added = try PlaceChange.named(fields, try PlaceChange.position(fields, settings), besides: known)
            places = known + [added]
        case .rename:
            guard let at = known.firstIndex(where: { $0.name == was }) else { throw PlaceChange.gone(was) }
            var others = known
            others.remove(at: at)
            let renamed = try PlaceChange.named(fields, known[at].place, besides: others)
            places = others[..<at] + [renamed] + others[at...]
        case .remove:
            guard known.contains(where: { $0.name == was }) else { throw PlaceChange.gone(was) }
            places = known.filter { $0.name != was }
        }
    }

    static func act(_ fields: FormFields) -> Act? { fields["act"].flatMap(Act.init) }

    private static func gone(_ name: String) -> Fault {
        Fault(text: t("There is no place called \(String(name.prefix(80))) any more."))
    }

    private static func named(
        _ fields: FormFields, _ place: Position, besides others: [CampusPlace]
    ) throws(Fault) -> CampusPlace {
        let words = (fields["name"] ?? "").split { $0.isWhitespace }.joined(separator: " ")
        guard let named = CampusPlace(name: words, place: place) else {
            throw Fault(text: t("A name has 1 to \(CampusPlace.nameBytesMax) letters, on one line."))
        }
        guard !others.contains(where: { $0.name.lowercased() == words.lowercased() }) else {
            throw Fault(text: t("There is a place called \(words) already. Choose another name."))
        }
        return named
    }

    private static func position(_ fields: FormFields, _ settings: CampusSettings) throws(Fault) -> Position {
        func degrees(_ name: String) -> Double? {
            let text = (fields[name] ?? "").filter { !$0.isWhitespace }.replacing(",", with: ".")
            return Decimal.scaled(text.utf8, decimals: 7).map { Double($0) / 1e7 }
        }
        guard let latitude = degrees("latitude_deg"), let longitude = degrees("longitude_deg"),
            let place = Position(degrees: latitude, longitude)
        else { throw Fault(text: t("Tap the map where the place is, or type its latitude and longitude in degrees.")) }
        let (outside, reach) = (metresOutside(place, settings), Int(settings[.reachM] / 1_000))
        guard outside <= Double(reach) else {
            throw Fault(text: t("This is \(Int(outside)) m outside the campus. Rides go at most \(reach) m outside."))
        }
        return place
    }

    /// 0 on the campus.
    static func metresOutside(_ place: Position, _ settings: CampusSettings) -> Double {
        CampusArea(boundary: settings.boundary).map { $0.metresOutside($0.point(place)) } ?? 0
    }
}
