/// Judges a plan by the problem's own words and by none of the solver's code.
///
/// A route is possible when times of service exist that keep all limits. They are found as the least solution of the
/// limits read as differences (Bellman 1958): each says that one time is at least another plus something.
public struct PlanCheck {
    /// Coordinates are given to 3 digits, times are sums of about 100 roots.
    public static let tolerance = 1e-6

    private let problem: DepotProblem
    private let requestOf: [Int: Int]

    public init(_ problem: DepotProblem) {
        self.problem = problem
        var requestOf: [Int: Int] = [:]
        for (index, request) in problem.requests.enumerated() {
            requestOf[request.pickup] = index
            requestOf[request.dropoff] = index
        }
        self.requestOf = requestOf
    }

    /// Every limit that the plan breaks, in words; empty when it keeps all.
    public func faults(_ plan: DepotPlan) -> [String] {
        var faults: [String] = []
        var visits = [Int](repeating: 0, count: problem.nodes.count)
        for (index, route) in plan.routes.enumerated() {
            if route.isEmpty { faults.append("route \(index + 1) is empty") }
            for node in route where problem.nodes.indices.contains(node) { visits[node] += 1 }
            faults += self.faults(ofRoute: route).map { "route \(index + 1): \($0)" }
        }
        for node in problem.nodes.indices.dropFirst() where visits[node] != (requestOf[node] == nil ? 0 : 1) {
            faults.append("node \(node) is visited \(visits[node]) times")
        }
        if plan.routes.count > problem.vehiclesMax {
            faults.append("\(plan.routes.count) routes, there are \(problem.vehiclesMax) vehicles")
        }
        let distance = distance(plan.routes)
        if abs(distance - plan.distance) > Self.tolerance * max(1, distance) {
            faults.append("the distance is \(distance), not \(plan.distance)")
        }
        return faults
    }

    public func distance(_ routes: [[Int]]) -> Double {
        routes.reduce(0) { total, route in
            let path = [0] + route + [0]
            return zip(path, path.dropFirst()).reduce(total) { $0 + problem.distance($1.0, $1.1) }
        }
    }

    /// The limits that one route breaks, each request whole in it.
    public func faults(ofRoute route: [Int]) -> [String] {
        if let unknown = route.first(where: { requestOf[$0] == nil }) { return ["\(unknown) is no stop of a request"] }
        var pickupAt: [Int: Int] = [:]
        var closed: Set<Int> = []
        var rides: [(pickup: Int, dropoff: Int)] = []
        var (load, faults) = (0, [String]())
        for (place, node) in route.enumerated() {
            let index = requestOf[node]!
            let request = problem.requests[index]
            if node == request.pickup {
                if pickupAt.updateValue(place, forKey: index) != nil { faults.append("\(node) is visited twice") }
                load += request.load
            } else if let pickup = pickupAt[index], closed.insert(index).inserted {
                rides.append((pickup + 1, place + 1))
                load -= request.load
            } else {
                faults.append("drop-off \(node) does not come after its pickup \(request.pickup)")
            }
            if load > problem.capacity { faults.append("the load after \(node) is \(load), over \(problem.capacity)") }
        }
        for index in pickupAt.keys.sorted() where !closed.contains(index) {
            faults.append("pickup \(problem.requests[index].pickup) has no drop-off")
        }
        return faults.isEmpty ? timeFaults([0] + route + [0], rides) : faults
    }

    private struct AtLeast {
        let later, earlier: Int
        let gap: Double
    }

    private func timeFaults(_ path: [Int], _ rides: [(pickup: Int, dropoff: Int)]) -> [String] {
        let last = path.count - 1
        var limits = (1...last).map { place in
            // The depot's service time counts neither when leaving nor when being back.
            let service = place == 1 ? 0 : problem.nodes[path[place - 1]].service
            return AtLeast(
                later: place, earlier: place - 1, gap: service + problem.distance(path[place - 1], path[place]))
        }
        if problem.rideMax.isFinite {
            limits += rides.map {
                AtLeast(
                    later: $0.pickup, earlier: $0.dropoff,
                    gap: -problem.rideMax - problem.nodes[path[$0.pickup]].service)
            }
        }
        if problem.durationMax.isFinite { limits.append(AtLeast(later: 0, earlier: last, gap: -problem.durationMax)) }

        var times = path.map { problem.nodes[$0].earliest }
        for round in 0... {
            var moved = false
            for limit in limits where times[limit.earlier] + limit.gap > times[limit.later] + Self.tolerance / 100 {
                times[limit.later] = times[limit.earlier] + limit.gap
                moved = true
            }
            if let late = path.indices.first(where: { times[$0] > problem.nodes[path[$0]].latest + Self.tolerance }) {
                let allowed = problem.nodes[path[late]].latest
                return ["node \(path[late]) cannot be served before \(times[late]), its latest time is \(allowed)"]
            }
            if !moved { return [] }
            if round > path.count { return ["no times keep the longest ride and the longest route"] }
        }
        return []
    }
}
