public import Fleet
internal import Glibc

/// The ground of a campus: its boundary in a plane of metres, for what is at most a few kilometres wide.
public struct CampusArea: Equatable, Sendable {
    private let origin: Position
    private let corners: [CampusPoint]

    /// Nil unless there are three corners or more. The plane touches the sphere in the middle of them.
    public init?(boundary: [Position]) {
        guard boundary.count >= 3 else { return nil }
        let (latitudes, longitudes) = (boundary.map(\.latitude), boundary.map(\.longitude))
        let origin = Position(
            latitude: CampusArea.middle(latitudes.min()!, latitudes.max()!),
            longitude: CampusArea.middle(longitudes.min()!, longitudes.max()!))
        self.init(origin: origin, corners: boundary.map(CampusArea(origin: origin, corners: []).point))
    }

    private init(origin: Position, corners: [CampusPoint]) { (self.origin, self.corners) = (origin, corners) }

    private static func middle(_ a: Int32, _ b: Int32) -> Int32 { Int32((Int64(a) + Int64(b)) / 2) }

    private static let metresPerUnit = Position.earthRadiusMetres * .pi / 180 * 1e-7

    /// Equirectangular: north is y, east is x.
    public func point(_ place: Position) -> CampusPoint {
        CampusPoint(
            xM: Double(Int64(place.longitude) - Int64(origin.longitude)) * CampusArea.metresPerUnit * shrink,
            yM: Double(Int64(place.latitude) - Int64(origin.latitude)) * CampusArea.metresPerUnit)
    }

    public func position(_ point: CampusPoint) -> Position {
        func unit(_ origin: Int32, _ metres: Double, _ scale: Double) -> Int32 {
            Int32(clamping: Int64(origin) + Int64((metres / scale).rounded()))
        }
        return Position(
            latitude: unit(origin.latitude, point.yM, CampusArea.metresPerUnit),
            longitude: unit(origin.longitude, point.xM, CampusArea.metresPerUnit * shrink))
    }

    private var shrink: Double { cos(Double(origin.latitude) * 1e-7 * .pi / 180) }

    /// Even–odd rule.
    private func isInside(_ point: CampusPoint) -> Bool {
        var isInside = false
        for (a, b) in edges where (a.yM > point.yM) != (b.yM > point.yM) {
            if point.xM < (b.xM - a.xM) * (point.yM - a.yM) / (b.yM - a.yM) + a.xM { isInside.toggle() }
        }
        return isInside
    }

    /// How far outside; 0 inside.
    public func metresOutside(_ point: CampusPoint) -> Double { isInside(point) ? 0 : edgeMetres(point) }

    private func edgeMetres(_ point: CampusPoint) -> Double {
        edges.map { a, b in
            let (dx, dy) = (b.xM - a.xM, b.yM - a.yM)
            let length = dx * dx + dy * dy
            let along = length == 0 ? 0 : ((point.xM - a.xM) * dx + (point.yM - a.yM) * dy) / length
            let share = min(1, max(0, along))
            return hypot(point.xM - a.xM - share * dx, point.yM - a.yM - share * dy)
        }.min()!
    }

    private var edges: [(CampusPoint, CampusPoint)] {
        corners.indices.map { (corners[$0], corners[($0 + 1) % corners.count]) }
    }

    /// One end inside, the other at most `reachM` outside.
    public func allows(_ from: CampusPoint, _ to: CampusPoint, reachM: Double) -> Bool {
        let (a, b) = (metresOutside(from), metresOutside(to))
        return min(a, b) < 0.01 && max(a, b) <= reachM
    }
}
