internal import Fleet
internal import Presentation
internal import Trips

/// A trip's way as a picture, north up, coloured by speed: for browsers without a map.
struct TripPicture {
    /// More is not seen on a picture.
    static let pointsMax = 400
    private static let size = (width: 640.0, height: 420.0, padding: 24.0)
    private static let colours = 5

    private let way: [(x: Double, y: Double, colour: Int)]

    /// Nil: no reading has a place.
    init?(_ track: TripTrack) {
        let speed = track.signals.firstIndex(of: .speed)
        let places = track.points.compactMap { point -> (latitude: Double, longitude: Double, speed: Int32?)? in
            guard let latitude = point.latitude, let longitude = point.longitude else { return nil }
            return (Double(latitude) / 1e7, Double(longitude) / 1e7, speed.flatMap { point.values[$0] })
        }
        guard let first = places.first else { return nil }
        // Bhaskara's approximation of the cosine, right to two thousandths.
        let square = first.latitude * first.latitude
        let shrink = (32_400 - 4 * square) / (32_400 + square)
        let (xs, ys) = (places.map { $0.longitude * shrink }, places.map { -$0.latitude })
        let (left, right, top, bottom) = (xs.min()!, xs.max()!, ys.min()!, ys.max()!)
        let (width, height, padding) = TripPicture.size
        let scale = min(
            (width - 2 * padding) / max(right - left, 1e-6), (height - 2 * padding) / max(bottom - top, 1e-6))
        let (offsetX, offsetY) = ((width - (right - left) * scale) / 2, (height - (bottom - top) * scale) / 2)
        let most = Double(places.compactMap(\.speed).max() ?? 0)
        way = places.indices.map { index in
            let share = most > 0 ? Double(places[index].speed ?? 0) / most : 0
            return (
                (xs[index] - left) * scale + offsetX, (ys[index] - top) * scale + offsetY,
                min(TripPicture.colours - 1, Int(share * Double(TripPicture.colours)))
            )
        }
    }

    var html: HTML {
        let (start, end) = (way[0], way[way.count - 1])
        return """
            <svg class="outline" viewBox="0 0 \(Int(TripPicture.size.width)) \(Int(TripPicture.size.height))" role="img" \
            aria-label="Outline of the way, north up, coloured by speed">
            <polyline points="\(way.map(point).joined(separator: " "))" fill="none" stroke="var(--raised)" stroke-width="9" \
            stroke-linejoin="round" stroke-linecap="round"/>
            \(lines.joined())
            <circle cx="\(tenths(start.x))" cy="\(tenths(start.y))" r="6" fill="var(--card)" stroke="var(--ink)" stroke-width="3"/>
            <circle cx="\(tenths(end.x))" cy="\(tenths(end.y))" r="6" fill="var(--ink)" stroke="var(--card)" stroke-width="3"/></svg>
            """
    }

    /// One line for each stretch of a colour; each begins where the one before ends.
    private var lines: [HTML] {
        var (lines, from): ([HTML], Int) = ([], 0)
        for index in way.indices.dropFirst() where index == way.count - 1 || way[index].colour != way[from].colour {
            let points = way[from...index].map(point).joined(separator: " ")
            lines.append(
                "<polyline points=\"\(points)\" fill=\"none\" stroke=\"var(--speed-\(way[from].colour))\" stroke-width=\"5\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
            )
            from = index
        }
        return lines
    }

    private func point(_ place: (x: Double, y: Double, colour: Int)) -> String {
        "\(tenths(place.x)),\(tenths(place.y))"
    }

    private func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
