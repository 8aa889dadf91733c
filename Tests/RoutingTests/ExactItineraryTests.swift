import Routing
import SimKit
import Testing

struct ExactItineraryTests {
    /// On board and waiting; 0+4 has 2,520 orders, 3+2 has 1,260.
    static let shapes = [(0, 1), (1, 1), (0, 2), (2, 2), (1, 3), (0, 3), (3, 2), (3, 0), (0, 4)]

    @Test("No order beats the exact one", arguments: World.Limits.allCases, [false, true])
    func againstEveryOrder(limits: World.Limits, isMeasured: Bool) throws {
        var infeasible = 0
        for seed in 0..<UInt64(Length.count(3, long: 60)) {
            for (onBoard, waiting) in Self.shapes {
                let world = World(
                    seed: seed &* 31 &+ UInt64(onBoard * 10 + waiting), onBoard: onBoard, waiting: waiting,
                    limits: limits, isMeasured: isMeasured)
                let expected = world.bruteForce(0, world.rides)
                let planner = ItineraryPlanner(rules: world.rules, travel: world.travel)
                let best = try? planner.best(world.vehicles[0], world.rides)
                #expect((best == nil) == (expected == nil), "seed \(seed), \(onBoard)+\(waiting)")
                guard let best, let expected else {
                    infeasible += 1
                    continue
                }
                #expect(isNear(best.cost, expected), "seed \(seed), \(onBoard)+\(waiting)")
                let schedule = world.schedule(0, best.stops)
                #expect(schedule.isFeasible && isNear(schedule.terms.total, best.cost), "seed \(seed)")
            }
        }
        #expect(limits == .none || infeasible > 0, "no limit was tight: this proves less than it says")
    }

    @Test func labelsThatRunOutAreSaid() {
        var world = World(seed: 1, onBoard: 1, waiting: 4, limits: .windows, isMeasured: false)
        world.rules.exactLabelsMax = 3
        let planner = ItineraryPlanner(rules: world.rules, travel: world.travel)
        #expect(throws: ItineraryPlanner.Fault.tooLarge) { try planner.best(world.vehicles[0], world.rides) }
    }

    @Test func equalOrdersServeTheOldestRequestFirst() throws {
        // Two alike requests, one place: any order costs the same.
        let (here, there) = (CampusPoint(xM: 0, yM: 0), CampusPoint(xM: 1_000, yM: 0))
        let rides = (1...3).map { rank in
            Ride(
                request: RideRequest(id: "r\(rank)", passengers: 1, pickup: there, dropoff: here), rank: Int64(rank),
                requestedAtMs: 0, state: .assigned(vehicle: "v"))
        }
        let best = try ItineraryPlanner(rules: DispatchRules(), travel: .kilometresPerHour(20)).best(
            RideVehicle(id: "v", capacity: 4, place: here), rides)
        #expect(best.stops.map(\.rank) == [1, 2, 3, 1, 2, 3])
    }
}
