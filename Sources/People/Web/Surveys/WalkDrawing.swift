internal import Fleet
internal import Glibc
internal import Presentation

/// A walk as a drawing, north up: its way, and where something was seen.
struct WalkDrawing {
    private static let (width, height, margin) = (300.0, 150.0, 10.0)

    let way: [Position]
    let spots: [(place: Position, label: String)]

    init(_ survey: Survey) {
        way = survey.waypoints.map(\.place)
        spots = survey.sightings.compactMap { sighting in
            sighting.place.map { ($0, t("\(sighting.species): \(sighting.count)")) }
        }
    }

    /// Nothing where there is no way to draw.
    var html: HTML {
        let all = way + spots.map(\.place)
        guard way.count > 1, let south = all.map(\.latitude).min(), let north = all.map(\.latitude).max(),
            let west = all.map(\.longitude).min(), let east = all.map(\.longitude).max(), north > south || east > west
        else { return "" }
        // Meridians draw together towards the poles.
        let turn = cos(Double(south) * 1e-7 * .pi / 180)
        let (wide, high) = (Double(Int64(east) - Int64(west)) * turn, Double(Int64(north) - Int64(south)))
        let scale = min(
            (WalkDrawing.width - 2 * WalkDrawing.margin) / max(wide, 1),
            (WalkDrawing.height - 2 * WalkDrawing.margin) / max(high, 1))
        func at(_ place: Position) -> (x: Int, y: Int) {
            let x = WalkDrawing.width / 2 + (Double(Int64(place.longitude) - Int64(west)) * turn - wide / 2) * scale
            let y = WalkDrawing.height / 2 - (Double(Int64(place.latitude) - Int64(south)) - high / 2) * scale
            return (Int(x.rounded()), Int(y.rounded()))
        }
        let path = way.enumerated().map { number, place in
            let spot = at(place)
            return "\(number == 0 ? "M" : "L")\(spot.x) \(spot.y)"
        }.joined()
        let dots: [HTML] = spots.map { spot in
            let place = at(spot.place)
            return "<circle cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"3\"><title>\(spot.label)</title></circle>"
        }
        return """
            <section class="card" aria-labelledby="way"><header><h2 id="way">The walk</h2></header><div class="body">
            <svg class="trail" viewBox="0 0 300 150" role="img" aria-label="The walk and where something was seen, north is up"><path d="\(path)"/>\(dots.joined())</svg>
            </div></section>
            """
    }
}
