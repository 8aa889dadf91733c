internal import Basics
internal import Codecs
internal import Fleet
internal import Formats

/// Land, lakes and borders of a coarse map of the world, of which a package gets what lies in its frame. From GeoJSON (RFC 7946)
/// with a `kind` for each feature.
package struct CoarseMap: Sendable {
    /// A polygon, its outer ring first, or one line.
    private struct Shape {
        let kind: String
        let isArea: Bool
        let lines: [[Point]]
    }

    struct Point: Equatable, Sendable {
        /// Degrees east and north.
        var x, y: Double
    }

    private static let kinds: Set<String> = ["land", "lake", "border"]

    private let shapes: [Shape]

    /// Nil: it is no such map.
    package init?(geoJSON bytes: [UInt8]) {
        guard let features = (try? JSONValue(bytes, valuesMax: 2_000_000))?["features"]?.items else { return nil }
        var shapes: [Shape] = []
        for feature in features {
            guard let kind = feature["properties"]?["kind"]?.text, CoarseMap.kinds.contains(kind),
                let parts = feature["geometry"]?["coordinates"]?.items
            else { return nil }
            let isArea = feature["geometry"]?["type"]?.text == "MultiPolygon"
            for part in parts {
                let lines = (isArea ? part.items ?? [] : [part]).map { ($0.items ?? []).compactMap(CoarseMap.point) }
                shapes.append(Shape(kind: kind, isArea: isArea, lines: lines))
            }
        }
        self.shapes = shapes
    }

    private static func point(_ pair: JSONValue) -> Point? {
        guard let x = pair[0]?.double, let y = pair[1]?.double else { return nil }
        return Point(x: x, y: y)
    }

    /// One feature of each kind, clipped at the frame.
    func features(in corners: Corners) -> [JSONValue] {
        let frame = Frame(corners)
        return ["land", "lake", "border"].compactMap { kind in
            let mine = shapes.filter { $0.kind == kind }
            let isArea = mine.first?.isArea ?? true
            let coordinates = isArea ? mine.compactMap { area($0, frame) } : mine.flatMap { lines($0, frame) }
            guard !coordinates.isEmpty else { return nil }
            return .object([
                ("type", .text("Feature")),
                ("properties", .object([("kind", .text(kind)), ("is_coarse", .bool(true))])),
                (
                    "geometry",
                    .object([
                        ("type", .text(isArea ? "MultiPolygon" : "MultiLineString")),
                        ("coordinates", .list(coordinates)),
                    ])
                ),
            ])
        }
    }

    /// Nil: nothing of it lies in the frame.
    private func area(_ shape: Shape, _ frame: Frame) -> JSONValue? {
        guard let outer = shape.lines.first.flatMap(frame.ring) else { return nil }
        let holes = shape.lines.dropFirst().compactMap(frame.ring)
        return .list(([outer] + holes).map { ring in .list((ring + [ring[0]]).map(CoarseMap.pair)) })
    }

    private func lines(_ shape: Shape, _ frame: Frame) -> [JSONValue] {
        shape.lines.flatMap(frame.pieces).map { .list($0.map(CoarseMap.pair)) }
    }

    private static func pair(_ point: Point) -> JSONValue {
        .list([point.x, point.y].map { .number(Decimal.text(Decimal.scaled($0, decimals: 7) ?? 0, decimals: 7)) })
    }
}

/// The clipping rectangle, in degrees.
private struct Frame {
    typealias Point = CoarseMap.Point
    let west, south, east, north: Double

    init(_ corners: Corners) {
        west = Double(corners.southWest.longitude) * 1e-7
        south = Double(corners.southWest.latitude) * 1e-7
        east = Double(corners.northEast.longitude) * 1e-7
        north = Double(corners.northEast.latitude) * 1e-7
    }

    private func misses(_ line: [Point]) -> Bool {
        line.allSatisfy { $0.x < west } || line.allSatisfy { $0.x > east } || line.allSatisfy { $0.y < south }
            || line.allSatisfy { $0.y > north }
    }

    /// A ring cut at each side in turn (Sutherland and Hodgman, 1974), without its last point, which is its first. Nil: nothing
    /// is left.
    func ring(_ ring: [Point]) -> [Point]? {
        guard ring.count > 3, !misses(ring) else { return nil }
        var left = ring.last == ring.first ? Array(ring.dropLast()) : ring
        for side in 0..<4 {
            var kept: [Point] = []
            for (index, end) in left.enumerated() {
                let start = left[(index + left.count - 1) % left.count]
                if isInside(end, side) != isInside(start, side) { kept.append(crossing(start, end, side)) }
                if isInside(end, side) { kept.append(end) }
            }
            left = kept
        }
        let twice = left.indices.reduce(0.0) { sum, index in
            let (a, b) = (left[index], left[(index + 1) % left.count])
            return sum + a.x * b.y - b.x * a.y
        }
        return left.count > 2 && twice.magnitude > 1e-12 ? left : nil
    }

    /// Pieces of a line within the frame.
    func pieces(_ line: [Point]) -> [[Point]] {
        guard line.count > 1, !misses(line) else { return [] }
        var pieces: [[Point]] = []
        for (start, end) in zip(line, line.dropFirst()) {
            guard let (a, b) = segment(start, end) else { continue }
            if let last = pieces.last?.last, last == a {
                pieces[pieces.count - 1].append(b)
            } else {
                pieces.append([a, b])
            }
        }
        return pieces
    }

    private func segment(_ start: Point, _ end: Point) -> (Point, Point)? {
        var (a, b) = (start, end)
        for side in 0..<4 {
            switch (isInside(a, side), isInside(b, side)) {
            case (true, true): break
            case (false, false): return nil
            case (false, true): a = crossing(a, b, side)
            case (true, false): b = crossing(a, b, side)
            }
        }
        return a == b ? nil : (a, b)
    }

    private func isInside(_ point: Point, _ side: Int) -> Bool {
        switch side {
        case 0: point.x >= west
        case 1: point.x <= east
        case 2: point.y >= south
        default: point.y <= north
        }
    }

    private func crossing(_ a: Point, _ b: Point, _ side: Int) -> Point {
        if side < 2 {
            let x = side == 0 ? west : east
            return Point(x: x, y: a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x))
        }
        let y = side == 2 ? south : north
        return Point(x: a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), y: y)
    }
}
