public import Fleet
internal import Glibc

/// The way that a trip took, as points at even distances: whether two trips took the same way does not depend on how
/// often positions were read, nor on their noise.
public struct Route: Equatable, Sendable {
    /// Shorter than this there is no way to compare, only a place with noise around it.
    static let metresMin = 500.0
    /// Points lie this far apart, more only where there would be too many.
    static let spacingMetres = 50.0
    static let pointsMax = 1_000
    /// A step that no road vehicle takes: one of its ends is wrong.
    static let fastestMetresPerSecond = 120.0

    public let points: [Position]
    public let metres: Double

    /// Nil without enough positions.
    /// - Parameter readings: of one trip, by time, one a time.
    public init?(_ readings: [CarReading]) {
        var track: [(ts: Int64, position: Position)] = []
        for reading in readings {
            guard let position = Position(reading) else { continue }
            if let last = track.last {
                let step = last.position.metres(to: position)
                if step * 1_000 > Route.fastestMetresPerSecond * Double(reading.ts - last.ts) { continue }
            }
            track.append((reading.ts, position))
        }
        let steps = zip(track, track.dropFirst()).map { $0.position.metres(to: $1.position) }
        metres = steps.reduce(0, +)
        guard metres >= Route.metresMin else { return nil }
        let count = min(Route.pointsMax, Int(metres / Route.spacingMetres)) + 1
        var (points, walked, index) = ([track[0].position], 0.0, 0)
        for number in 1..<count {
            let wanted = metres * Double(number) / Double(count - 1)
            while index < steps.count - 1, walked + steps[index] < wanted {
                walked += steps[index]
                index += 1
            }
            let share = steps[index] == 0 ? 0 : min(1, (wanted - walked) / steps[index])
            points.append(Route.between(track[index].position, track[index + 1].position, share))
        }
        self.points = points
    }

    private static func between(_ a: Position, _ b: Position, _ share: Double) -> Position {
        func mixed(_ a: Int32, _ b: Int32) -> Int32 { a + Int32((Double(b) - Double(a)) * share) }
        return Position(latitude: mixed(a.latitude, b.latitude), longitude: mixed(a.longitude, b.longitude))
    }

    /// How far two ways are apart, in metres.
    public struct Distance: Equatable, Sendable {
        public let start: Double
        public let end: Double
        /// The farthest that a point of either way is from the other way (Hausdorff distance).
        public let shape: Double
    }

    public func distance(to other: Route) -> Distance {
        Distance(
            start: points[0].metres(to: other.points[0]),
            end: points[points.count - 1].metres(to: other.points[other.points.count - 1]),
            shape: max(farthest(from: other), other.farthest(from: self)))
    }

    /// A street's width and the receivers' noise are far below, the next parallel street mostly above.
    public static let sameMetres = 200.0

    /// In the same direction, from the same place to the same place, along the same roads.
    public func isSame(as other: Route) -> Bool {
        let ends = (points[0].metres(to: other.points[0]), points.last!.metres(to: other.points.last!))
        guard ends.0 <= Route.sameMetres, ends.1 <= Route.sameMetres,
            (metres - other.metres).magnitude <= 0.2 * max(metres, other.metres)
        else { return false }
        return distance(to: other).shape <= Route.sameMetres
    }

    /// The farthest that one of these points is from the other way's nearest stretch.
    private func farthest(from other: Route) -> Double {
        // Metres on a plane that touches the earth at the first point: right to a thousandth over a day's drive.
        let origin = points[0]
        let metresPerUnit = Position.earthRadiusMetres * .pi / 180 * 1e-7
        let shrink = cos(Double(origin.latitude) * 1e-7 * .pi / 180)
        func flat(_ position: Position) -> (x: Double, y: Double) {
            (
                (Double(position.longitude) - Double(origin.longitude)) * metresPerUnit * shrink,
                (Double(position.latitude) - Double(origin.latitude)) * metresPerUnit
            )
        }
        let line = other.points.map(flat)
        return points.map(flat).reduce(0) { farthest, point in
            let nearest = zip(line, line.dropFirst()).reduce(Double.infinity) {
                min($0, Route.squaredDistance(point, from: $1.0, to: $1.1))
            }
            return max(farthest, nearest.squareRoot())
        }
    }

    private static func squaredDistance(
        _ point: (x: Double, y: Double), from a: (x: Double, y: Double), to b: (x: Double, y: Double)
    ) -> Double {
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let length = dx * dx + dy * dy
        let share = length == 0 ? 0 : max(0, min(1, ((point.x - a.x) * dx + (point.y - a.y) * dy) / length))
        let (ex, ey) = (point.x - a.x - share * dx, point.y - a.y - share * dy)
        return ex * ex + ey * ey
    }
}
