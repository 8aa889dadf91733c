/// Routes for a static set: node ids in order, the depot left out, no empty route.
public struct DepotPlan: Sendable, Equatable {
    public var routes: [[Int]]
    public var distance: Double
    public var vehicles: Int { routes.count }

    public init(routes: [[Int]], distance: Double) { (self.routes, self.distance) = (routes, distance) }
}
