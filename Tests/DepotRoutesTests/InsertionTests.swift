import DepotRoutes
import SimKit
import Testing

/// The constant-time judgement of places against trying every place and asking the judge of plans.
struct InsertionTests {
    @Test("The cheapest place is the one that trying all finds, at the cost that follows", arguments: [false, true])
    func cheapest(rides: Bool) throws {
        for seed in 0..<Length.count(150, long: 20_000) {
            let problem = Kit.small(5, rides: rides, seed: UInt64(seed))
            try check(problem, seed: UInt64(seed))
        }
    }

    private func check(_ problem: DepotProblem, seed: UInt64) throws {
        let arena = Arena()
        let network = Network(problem, arena)
        let times = RideTimes(network, stride: 12, arena)
        let routes = RouteTable(slots: 1, stride: 12, arena)
        let insertion = Insertion(network: network, rides: times)
        let judge = PlanCheck(problem)
        var chance = SeededChance(seed: seed)
        var route: [Int] = []
        routes.refresh(0, network, times)
        for r in (0..<network.requests).shuffled(using: &chance) {
            var never = Blinks.never
            let place = insertion.best(of: r, in: 0, of: routes, below: .infinity, blinks: &never)
            let all = everyPlace(r, route, problem).filter { judge.faults(ofRoute: $0).isEmpty }
            let before = judge.distance([route])
            guard let least = all.map({ judge.distance([$0]) - before }).min() else {
                #expect(place.pickup < 0, "seed \(seed): a place was found where there is none")
                continue
            }
            #expect(place.pickup >= 0, "seed \(seed): no place was found")
            #expect(abs(place.cost - least) < 1e-6, "seed \(seed)")
            guard place.pickup >= 0 else { return }
            route = put(r, route, place.pickup, place.dropoff, problem)
            #expect(judge.faults(ofRoute: route) == [], "seed \(seed)")
            for (at, node) in route.enumerated() { routes.node[at + 1] = Int32(network.id.firstIndex(of: node)!) }
            routes.node[route.count + 1] = 0
            routes.length[0] = Int32(route.count + 2)
            routes.refresh(0, network, times)
            #expect(abs(routes.distance[0] - judge.distance([route])) < 1e-6, "seed \(seed)")
        }
    }

    private func put(_ r: Int, _ route: [Int], _ i: Int, _ j: Int, _ problem: DepotProblem) -> [Int] {
        let request = problem.requests[r]
        return Array(route[..<i]) + [request.pickup] + Array(route[i..<j]) + [request.dropoff] + Array(route[j...])
    }

    private func everyPlace(_ r: Int, _ route: [Int], _ problem: DepotProblem) -> [[Int]] {
        (0...route.count).flatMap { i in (i...route.count).map { put(r, route, i, $0, problem) } }
    }

    @Test("A request that cannot share a route with others counts in the least number of routes") func fleetBound() {
        for seed in 0..<UInt64(40) {
            let problem = Kit.small(4, rides: false, seed: seed)
            let arena = Arena()
            let bound = FleetBound.routesLeast(Network(problem, arena))
            #expect(bound <= Exhaustive(problem).best.routes, "seed \(seed)")
        }
    }
}
