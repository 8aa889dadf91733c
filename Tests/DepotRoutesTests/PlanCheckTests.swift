import DepotRoutes
import Foundation
import Testing

/// The judge of plans against plans and figures of others, and against plans that were spoilt on purpose.
@Suite(.enabled(if: Kit.hasShared, "put the project's ../shared beside the checkout"))
struct PlanCheckTests {
    private func published(_ name: String) throws -> [[Int]] {
        let text = try String(contentsOf: Kit.liLim.appending(path: "solutions/\(name).txt"), encoding: .utf8)
        return text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Route ") }
            .map { $0.split(separator: ":")[1].split(separator: " ").compactMap { Int($0) } }
    }

    @Test(
        "Best known plans of Li and Lim's sets keep all limits, at the stated distance", arguments: Kit.names(Kit.liLim)
    )
    func bestKnown(_ name: String) throws {
        let row = try #require(try Kit.table(Kit.liLim.appending(path: "bks.csv"))[name])
        let problem = try Kit.problem(Kit.liLim, name)
        let plan = DepotPlan(routes: try published(name), distance: PlanCheck(problem).distance(try published(name)))
        #expect(PlanCheck(problem).faults(plan) == [])
        #expect(plan.vehicles == Int(row["routes"]!)!)
        #expect(abs(plan.distance - Double(row["distance"]!)!) < 0.01)
    }

    @Test("Optimal dial-a-ride plans keep all limits, at the stated cost") func optimalRides() throws {
        let file = try Data(contentsOf: Kit.dialARide.appending(path: "routes.json"))
        let routes = try JSONDecoder().decode([String: [[Int]]].self, from: file)
        let optimal = try Kit.table(Kit.dialARide.appending(path: "optimal.csv"))
        #expect(routes.count > 10)
        for (name, plan) in routes {
            let problem = try Kit.problem(Kit.dialARide, name)
            let check = PlanCheck(problem)
            #expect(check.faults(DepotPlan(routes: plan, distance: check.distance(plan))) == [], "\(name)")
            #expect(abs(check.distance(plan) - Double(optimal[name]!["optimal_cost"]!)!) < 0.01, "\(name)")
        }
    }

    @Test("A spoilt plan is refused", arguments: Kit.names(Kit.liLim).filter { $0.count <= 6 })
    func spoilt(_ name: String) throws {
        let problem = try Kit.problem(Kit.liLim, name)
        let check = PlanCheck(problem)
        let good = try published(name)
        func faults(_ spoil: (inout [[Int]]) -> Void) -> [String] {
            var routes = good
            spoil(&routes)
            return check.faults(DepotPlan(routes: routes, distance: check.distance(routes)))
        }
        #expect(faults { $0[0].removeLast() } != [], "a stop is missing")
        #expect(faults { $0.removeLast() } != [], "a route is missing")
        #expect(faults { $0[0].append($0[1].removeLast()) } != [], "a drop-off is on another route")
        #expect(faults { $0[0].reverse() } != [], "drop-offs come first")
        #expect(faults { $0.append($0[0]) } != [], "a route is driven twice")
        #expect(faults { $0[0].insert(0, at: 1) } != [], "the depot is no stop")
        #expect(
            check.faults(DepotPlan(routes: good, distance: check.distance(good) - 1)) != [], "the distance is another")
        var tight = problem
        tight.capacity = tight.requests.map(\.load).max()! - 1
        #expect(PlanCheck(tight).faults(DepotPlan(routes: good, distance: check.distance(good))) != [], "over capacity")
        var short = problem
        for index in short.nodes.indices.dropFirst() { short.nodes[index].latest = short.nodes[index].earliest }
        #expect(
            PlanCheck(short).faults(DepotPlan(routes: good, distance: check.distance(good))) != [], "windows closed")
    }

    @Test("A ride or a route that is too long is refused") func tooLong() throws {
        let file = try Data(contentsOf: Kit.dialARide.appending(path: "routes.json"))
        let routes = try #require(try JSONDecoder().decode([String: [[Int]]].self, from: file)["a2-16"])
        var problem = try Kit.problem(Kit.dialARide, "a2-16")
        let plan = DepotPlan(routes: routes, distance: PlanCheck(problem).distance(routes))
        problem.rideMax = 1
        #expect(PlanCheck(problem).faults(plan) != [])
        problem.rideMax = 30
        problem.durationMax = 60
        #expect(PlanCheck(problem).faults(plan) != [])
    }
}
