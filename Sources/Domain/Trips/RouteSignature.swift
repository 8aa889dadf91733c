public import Fleet
internal import Glibc

/// The route of a trip in few points: to find drives of one route, whatever their speed and their loggers' rates.
public struct RouteSignature: Equatable, Sendable {
    struct Point: Equatable, Sendable {
        /// Degrees.
        var latitude, longitude: Double
    }

    /// The number of equal steps along the way.
    static let steps = 128
    /// Fixes nearer than this to the one before are noise of a car that stands.
    private static let leastStepM = 25.0
    /// A way shorter than this says no route.
    private static let leastLengthM = 200.0
    /// Mean radius of the Earth (IUGG).
    private static let earthM = 6_371_008.8

    let points: [Point]
    /// Along the way, metres.
    public let lengthM: Double

    /// Nil where there are too few positions for a route. Precondition: `readings` are one trip's, sorted by time.
    public init?(_ readings: [CarReading]) {
        let way = RouteSignature.way(readings)
        let ends = zip(way, way.dropFirst()).reduce(into: [0.0]) {
            $0.append($0.last! + RouteSignature.metres($1.0, $1.1))
        }
        lengthM = ends[ends.count - 1]
        guard lengthM >= RouteSignature.leastLengthM else { return nil }
        var (points, index): ([Point], Int) = ([], 0)
        for step in 0...RouteSignature.steps {
            let wanted = lengthM * Double(step) / Double(RouteSignature.steps)
            while index < way.count - 2, ends[index + 1] < wanted { index += 1 }
            let share = min(1, max(0, (wanted - ends[index]) / (ends[index + 1] - ends[index])))
            points.append(RouteSignature.between(way[index], way[index + 1], share))
        }
        self.points = points
    }

    /// Metres: the greatest of the distances between both starts, between both ends, and of what nine tenths of either way
    /// stay within of the other, in the same direction. Symmetric; 0 for the same way.
    public func distanceM(to other: RouteSignature) -> Double {
        let ends = max(
            RouteSignature.metres(points[0], other.points[0]),
            RouteSignature.metres(points[RouteSignature.steps], other.points[RouteSignature.steps]))
        return max(ends, max(deviationM(from: other), other.deviationM(from: self)))
    }

    /// The same route: as near as a block of houses, or a hundredth of a long way.
    public func isSameRoute(as other: RouteSignature) -> Bool {
        distanceM(to: other) <= max(250, min(lengthM, other.lengthM) / 100)
    }

    /// Nine tenths of the points lie within this of the other way, at about the same part of it.
    private func deviationM(from other: RouteSignature) -> Double {
        let reach = RouteSignature.steps / 10
        let distances = points.indices.map { index -> Double in
            let from = max(0, index - reach)
            let to = min(RouteSignature.steps, index + reach)
            return (from..<to).reduce(.infinity) { nearest, step in
                min(nearest, RouteSignature.metres(points[index], from: other.points[step], to: other.points[step + 1]))
            }
        }
        return distances.sorted()[distances.count * 9 / 10]
    }

    /// The positions, each the middle of three so that a single jump is left out, with a least step between them.
    private static func way(_ readings: [CarReading]) -> [Point] {
        let fixes = readings.compactMap { reading -> Point? in
            guard let latitude = reading[.latitude], let longitude = reading[.longitude] else { return nil }
            return Point(latitude: Double(latitude) / 1e7, longitude: Double(longitude) / 1e7)
        }
        var way: [Point] = []
        for index in fixes.indices {
            let (a, b, c) = (fixes[max(0, index - 1)], fixes[index], fixes[min(fixes.count - 1, index + 1)])
            let middle = Point(
                latitude: median(a.latitude, b.latitude, c.latitude),
                longitude: median(a.longitude, b.longitude, c.longitude))
            if let last = way.last, metres(last, middle) < leastStepM { continue }
            way.append(middle)
        }
        return way.count < 2 ? [] : way
    }

    private static func median(_ a: Double, _ b: Double, _ c: Double) -> Double { max(min(a, b), min(max(a, b), c)) }

    private static func between(_ a: Point, _ b: Point, _ share: Double) -> Point {
        Point(
            latitude: a.latitude + (b.latitude - a.latitude) * share,
            longitude: a.longitude + turn(b.longitude - a.longitude) * share)
    }

    /// The shorter way round, across the date line too.
    private static func turn(_ degrees: Double) -> Double {
        degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
    }

    /// East and north of `origin` in metres, as on a plane: right to a thousandth over a car's day.
    private static func plane(_ point: Point, _ origin: Point) -> (x: Double, y: Double) {
        let radians = Double.pi / 180
        let middle = (point.latitude + origin.latitude) / 2 * radians
        return (
            turn(point.longitude - origin.longitude) * radians * cos(middle) * earthM,
            (point.latitude - origin.latitude) * radians * earthM
        )
    }

    static func metres(_ a: Point, _ b: Point) -> Double {
        let (x, y) = plane(b, a)
        return (x * x + y * y).squareRoot()
    }

    /// From a point to the nearest one of a stretch of way.
    private static func metres(_ point: Point, from a: Point, to b: Point) -> Double {
        let (p, end) = (plane(point, a), plane(b, a))
        let square = end.x * end.x + end.y * end.y
        let share = square > 0 ? min(1, max(0, (p.x * end.x + p.y * end.y) / square)) : 0
        let (x, y) = (p.x - end.x * share, p.y - end.y * share)
        return (x * x + y * y).squareRoot()
    }
}
