/// A problem as the search reads it: node 0 is the depot, 1...n are the pickups, n+1...2n the drop-offs, so that request
/// r (from 0) has the nodes r+1 and r+1+n. Windows are as narrow as the limits allow.
package struct Network {
    /// Sums of the search and of the check are added in another order and may differ by this.
    static let tolerance = 1e-7
    private static let nearMax = 400

    package let requests: Int
    let nodes: Int
    let capacity: Int32
    let rideMax: Double
    let durationMax: Double
    let isRideLimited: Bool
    /// nodes × nodes.
    let distance: Flat<Double>
    let earliest: Flat<Double>
    let latest: Flat<Double>
    let service: Flat<Double>
    /// What gets on; negative at drop-offs.
    let load: Flat<Int32>
    /// Other nodes by distance, the node itself first: nodes × `nearCount`.
    let near: Flat<Int32>
    /// The same by distance and time: of nodes that can follow one another without much waiting.
    let soon: Flat<Int32>
    let nearCount: Int
    /// The mean distance from a node to the nearest of another request: the scale of what a change costs.
    let step: Double
    /// Ids in the file.
    package let id: [Int]

    package init(_ problem: DepotProblem, _ arena: Arena) {
        let n = problem.requests.count
        requests = n
        nodes = 2 * n + 1
        id = [0] + problem.requests.map(\.pickup) + problem.requests.map(\.dropoff)
        capacity = Int32(clamping: problem.capacity)
        (rideMax, durationMax) = (problem.rideMax, problem.durationMax)
        isRideLimited = rideMax.isFinite || durationMax.isFinite
        distance = arena.flat(nodes * nodes, 0.0)
        earliest = arena.flat(nodes, 0.0)
        latest = arena.flat(nodes, 0.0)
        service = arena.flat(nodes, 0.0)
        load = arena.flat(nodes, Int32(0))
        for a in 0..<nodes {
            let node = problem.nodes[id[a]]
            (earliest[a], latest[a], service[a]) = (node.earliest, node.latest, a == 0 ? 0 : node.service)
            for b in 0..<nodes { distance[a * nodes + b] = problem.distance(id[a], id[b]) }
        }
        for (index, request) in problem.requests.enumerated() {
            load[index + 1] = Int32(clamping: request.load)
            load[index + 1 + n] = -load[index + 1]
        }
        nearCount = min(nodes - 1, Self.nearMax)
        near = arena.flat(nodes * nearCount, Int32(0))
        soon = arena.flat(nodes * nearCount, Int32(0))
        var steps = 0.0
        for a in 1..<nodes {
            var nearest = Double.infinity
            for b in 1..<nodes where b != a { nearest = min(nearest, distance[a * nodes + b]) }
            steps += nearest
        }
        step = max(steps / Double(nodes - 1), 1e-6)
        narrow()
        for a in 1..<nodes {
            rank(a, into: near) { distance[a * nodes + $0] }
            rank(a, into: soon) { min(gap(a, $0), gap($0, a)) }
        }
    }

    private func rank(_ a: Int, into table: Flat<Int32>, by key: (Int) -> Double) {
        let ranked = (1..<nodes).map { (key: $0 == a ? -1 : key($0), node: $0) }.sorted { $0 < $1 }
        for (place, each) in ranked.prefix(nearCount).enumerated() { table[a * nearCount + place] = Int32(each.node) }
    }

    /// What it takes to serve one node after another: the way, some of the waiting that cannot be avoided, and being late
    /// at the second (the proximity of Vidal and others 2013, with its weights).
    private func gap(_ a: Int, _ b: Int) -> Double {
        let way = service[a] + distance[a * nodes + b]
        return distance[a * nodes + b] + 0.2 * max(0, earliest[b] - latest[a] - way)
            + max(0, earliest[a] + way - latest[b])
    }

    /// The request of a node that is not the depot.
    @inline(__always) func request(of node: Int) -> Int { node > requests ? node - 1 - requests : node - 1 }

    /// What follows for each window from the depot's, the partner's and the longest ride (Cordeau 2006, section 4).
    private func narrow() {
        for pickup in 1...requests {
            let dropoff = pickup + requests
            let travel = service[pickup] + distance[pickup * nodes + dropoff]
            for _ in 0..<2 {
                for node in [pickup, dropoff] {
                    earliest[node] = max(earliest[node], earliest[0] + distance[node])
                    latest[node] = min(latest[node], latest[0] - distance[node] - service[node])
                }
                earliest[dropoff] = max(earliest[dropoff], earliest[pickup] + travel)
                latest[pickup] = min(latest[pickup], latest[dropoff] - travel)
                if rideMax.isFinite {
                    earliest[pickup] = max(earliest[pickup], earliest[dropoff] - rideMax - service[pickup])
                    latest[dropoff] = min(latest[dropoff], latest[pickup] + service[pickup] + rideMax)
                }
            }
        }
        for node in 0..<nodes { latest[node] += Self.tolerance }
    }
}
