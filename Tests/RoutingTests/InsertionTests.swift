import Routing
import SimKit
import Testing

struct InsertionTests {
    /// A search over a world whose riders but the last one have been put into routes, one by one.
    private func search(_ world: World) -> (FleetSearch, Int)? {
        var vehicles = world.vehicles
        for v in vehicles.indices {
            vehicles[v].stops = world.rides.filter { $0.vehicle == vehicles[v].id && $0.isOnBoard }.map {
                Stop(rank: $0.rank, kind: .dropoff)
            }
        }
        let search = FleetSearch(
            vehicles: vehicles, rides: world.rides, rules: world.rules, travel: world.travel, nowMs: 0)
        guard let new = world.rides.lastIndex(where: { !$0.isOnBoard }) else { return nil }
        for r in world.rides.indices where search.vehicleOf[r] < 0 && r != new {
            for v in 0..<search.vehicles where world.rides[r].vehicle == vehicles[v].id && search.mayTake(r, v) {
                if let place = search.cheapest(r, in: v, below: .infinity, isBounded: false) {
                    search.insert(r, into: v, place)
                }
            }
        }
        return (search, new)
    }

    @Test("The predicted cost is the recomputed one, and no other place is cheaper", arguments: World.Limits.allCases)
    func prediction(limits: World.Limits) throws {
        var tried = 0
        for seed in 0..<UInt64(Length.count(60, long: 5_000)) {
            let world = World(
                seed: seed, onBoard: Int(seed % 3), waiting: 2 + Int(seed % 4), limits: limits,
                isMeasured: seed % 2 == 0)
            guard let (search, new) = search(world), search.cost[0].isFinite, search.mayTake(new, 0) else { continue }
            let (before, order) = (search.cost[0], search.itinerary(0, of: world.rides))
            // What is late already is planned on as if it had no limit.
            guard world.schedule(0, order).isFeasible else { continue }
            let place = search.cheapest(new, in: 0, below: .infinity, isBounded: false)
            let expected = cheapestOfAll(world, order, world.rides[new].rank)
            #expect((place == nil) == (expected == nil), "seed \(seed)")
            guard let place, let expected else { continue }
            tried += 1
            search.insert(new, into: 0, place)
            let schedule = world.schedule(0, search.itinerary(0, of: world.rides))
            #expect(schedule.isFeasible && isNear(schedule.terms.total, before + place.change), "seed \(seed)")
            #expect(isNear(schedule.terms.total, search.cost[0]), "seed \(seed)")
            #expect(isNear(before + place.change, expected), "seed \(seed)")
        }
        #expect(tried > 10)
    }

    private func cheapestOfAll(_ world: World, _ order: [Stop], _ rank: Int64) -> Double? {
        var best: Double?
        for i in 0...order.count {
            for j in i...order.count {
                var stops = order
                stops.insert(Stop(rank: rank, kind: .dropoff), at: j)
                stops.insert(Stop(rank: rank, kind: .pickup), at: i)
                let schedule = world.schedule(0, stops)
                if schedule.isFeasible { best = min(best ?? .infinity, schedule.terms.total) }
            }
        }
        return best
    }

    @Test func leavingPlacesOutByTheBoundLosesNothing() throws {
        var tried = 0
        for seed in 0..<UInt64(Length.count(300, long: 20_000)) {
            var world = World(seed: seed, onBoard: Int(seed % 3), waiting: 5, isMeasured: false)
            (world.rules.weights.cancel, world.rules.weights.override) = (0, 0)
            guard let (search, new) = search(world), search.mayTake(new, 0), search.cost[0].isFinite,
                let free = search.cheapest(new, in: 0, below: .infinity, isBounded: false)
            else { continue }
            tried += 1
            let limit = free.change * 1.0001 + 0.001
            let bounded = search.cheapest(new, in: 0, below: limit, isBounded: true)
            #expect(bounded?.change == free.change, "seed \(seed)")
        }
        #expect(tried > 100)
    }

    @Test("The vehicle whose best itinerary grows least has the request", arguments: [false, true])
    func leastChange(isMeasured: Bool) throws {
        var boundedOut = 0
        for seed in 0..<UInt64(Length.count(60, long: 2_000)) {
            let world = World(seed: seed, vehicles: 4, onBoard: 1, waiting: 2, isMeasured: isMeasured)
            guard let (search, new) = search(world) else { continue }
            for v in 0..<4 { search.optimise(v) }
            let choice = search.leastChange(new)
            boundedOut += choice.boundedOut
            var expected: (growth: Double, vehicle: Int)?
            for v in 0..<4 where search.passengers[new] <= search.capacity[v] && search.cost[v].isFinite {
                let mine = search.itinerary(v, of: world.rides).map(\.rank)
                let rides = world.rides.filter { mine.contains($0.rank) }
                guard let before = world.bruteForce(v, rides),
                    let after = world.bruteForce(
                        v, world.rides.filter { mine.contains($0.rank) || $0 == world.rides[new] })
                else { continue }
                if after - before < (expected?.growth ?? .infinity) - 1e-9 { expected = (after - before, v) }
            }
            #expect(choice.candidates.first?.vehicle == expected?.vehicle, "seed \(seed)")
            if let first = choice.candidates.first, let expected {
                #expect((first.growth - expected.growth).magnitude < 1e-6, "seed \(seed)")
            }
        }
        #expect(isMeasured == (boundedOut == 0))
    }
}
