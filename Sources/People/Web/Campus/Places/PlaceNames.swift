internal import Fleet
internal import Presentation

/// What people call places of a campus.
struct PlaceNames: Sendable {
    /// Whoever stands so near is there.
    private static let nearM = 50.0
    /// So far from one, people still say where they are by it.
    private static let besideM = 1_500.0

    let all: [CampusPlace]

    init(_ settings: CampusSettings?) { all = settings?.places ?? [] }

    /// By its name as it stands.
    func named(_ name: String) -> CampusPlace? { all.first { $0.name == name } }

    /// The nearest within 50 m.
    func at(_ place: Position) -> String? { nearest(place, within: PlaceNames.nearM)?.name }

    /// `200 m from Library`
    func beside(_ place: Position, _ caller: PageCaller) -> String? {
        nearest(place, within: PlaceNames.besideM).map { name, metres in
            t("\(CampusTextView.distance(metres, caller)) from \(name)")
        }
    }

    private func nearest(_ place: Position, within most: Double) -> (name: String, metres: Double)? {
        // A degree of latitude is 111 km: most are left out without a sine.
        let units = Int64(most * 100)
        return all.lazy.filter { abs(Int64($0.place.latitude) - Int64(place.latitude)) <= units }
            .map { (name: $0.name, metres: $0.place.metres(to: place)) }
            .filter { $0.metres <= most }
            .min { $0.metres < $1.metres }
    }
}
