/// How few routes there can be.
package enum FleetBound {
    /// The size of a set of requests of which no two fit into one route: each needs its own. Found greedily, so there may
    /// be larger ones; it says when to stop closing routes, not that a plan is bad.
    package static func routesLeast(_ network: Network) -> Int {
        let n = network.requests
        var conflicts = [[Int]](repeating: [], count: n)
        for r in 0..<n {
            for s in 0..<r where !canShare(network, r, s) {
                conflicts[r].append(s)
                conflicts[s].append(r)
            }
        }
        let sets = conflicts.map(Set.init)
        var largest = 1
        for seed in 0..<n where conflicts[seed].count >= largest {
            var clique = [seed]
            for r in conflicts[seed].sorted(by: { (conflicts[$1].count, $0) < (conflicts[$0].count, $1) })
            where clique.dropFirst().allSatisfy({ sets[r].contains($0) }) { clique.append(r) }
            largest = max(largest, clique.count)
        }
        return largest
    }

    /// Whether some order of the four stops keeps windows and capacity.
    private static func canShare(_ network: Network, _ r: Int, _ s: Int) -> Bool {
        let (a, b, n) = (r + 1, s + 1, network.requests)
        let fits = network.load[a] + network.load[b] <= network.capacity
        var orders = [[a, a + n, b, b + n], [b, b + n, a, a + n]]
        if fits {
            orders += [[a, b, a + n, b + n], [a, b, b + n, a + n], [b, a, a + n, b + n], [b, a, b + n, a + n]]
        }
        return orders.contains { isPossible(network, $0) }
    }

    private static func isPossible(_ network: Network, _ stops: [Int]) -> Bool {
        var (time, from) = (network.earliest[0], 0)
        for stop in stops {
            time = max(
                time + network.service[from] + network.distance[from * network.nodes + stop], network.earliest[stop])
            if time > network.latest[stop] { return false }
            from = stop
        }
        return time + network.service[from] + network.distance[from] <= network.latest[0]
    }
}
