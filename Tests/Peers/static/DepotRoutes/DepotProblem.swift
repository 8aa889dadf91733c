/// A static set of requests that vehicles serve on routes from a depot and back.
///
/// Units are those of the file: one unit of distance takes one unit of time (both benchmarks are defined so).
public struct DepotProblem: Sendable, Equatable {
    public struct Node: Sendable, Equatable {
        public var x, y: Double
        /// The service may begin in this window; a vehicle that is early waits.
        public var earliest, latest: Double
        /// How long the service takes.
        public var service: Double

        public init(x: Double, y: Double, earliest: Double, latest: Double, service: Double) {
            (self.x, self.y, self.earliest, self.latest, self.service) = (x, y, earliest, latest, service)
        }
    }

    public struct Request: Sendable, Equatable {
        /// Indices into `nodes`.
        public var pickup, dropoff: Int
        /// What gets on at the pickup and off at the drop-off: goods or passengers.
        public var load: Int

        public init(pickup: Int, dropoff: Int, load: Int) {
            (self.pickup, self.dropoff, self.load) = (pickup, dropoff, load)
        }
    }

    public enum Objective: String, Sendable {
        /// As few routes as can be, then the least distance (Li and Lim).
        case fewestRoutes
        /// The least distance with at most `vehiclesMax` routes (Cordeau and Laporte).
        case distance
    }

    /// `nodes[0]` is the depot; the index is the id in the file.
    public var nodes: [Node]
    public var requests: [Request]
    public var vehiclesMax: Int
    public var capacity: Int
    /// From the end of the pickup's service to the beginning of the drop-off's; infinite where there is no limit.
    public var rideMax: Double
    /// From leaving the depot to being back; infinite where there is no limit.
    public var durationMax: Double
    public var objective: Objective

    public init(
        nodes: [Node], requests: [Request], vehiclesMax: Int, capacity: Int, rideMax: Double = .infinity,
        durationMax: Double = .infinity, objective: Objective
    ) {
        (self.nodes, self.requests, self.vehiclesMax, self.capacity) = (nodes, requests, vehiclesMax, capacity)
        (self.rideMax, self.durationMax, self.objective) = (rideMax, durationMax, objective)
    }

    /// The matrix of travel times of this many is 32 MB.
    public static let requestsMax = 1_000

    /// Euclidean, in double precision as both benchmarks ask.
    public func distance(_ a: Int, _ b: Int) -> Double {
        let (dx, dy) = (nodes[a].x - nodes[b].x, nodes[a].y - nodes[b].y)
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The requests that no vehicle can serve even alone, with the reason.
    public var unservable: [(request: Request, reason: String)] {
        requests.compactMap { request in
            let broken = PlanCheck(self).faults(ofRoute: [request.pickup, request.dropoff])
            return broken.first.map { (request, $0) }
        }
    }
}
