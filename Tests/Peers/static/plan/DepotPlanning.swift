internal import DepotRoutes

/// Static sets from a depot: a file's bytes become a plan (Tests/Peers/static/README.md).
struct DepotPlanning {
    /// Iterations between two looks at the clock: a fraction of a second even for the largest set in a debug build.
    private static let slice = 100

    var budgetSeconds: Double?
    var iterationsMax: Int?
    var seed: UInt64 = 1
    var clock = PlanClock.wall

    /// The best plan found within budget and iterations, whichever ends first.
    func plan(_ bytes: [UInt8], name: String) throws -> DepotPlan {
        let problem = try DepotFile.read(bytes, name: name)
        if let (request, reason) = problem.unservable.first {
            throw NoPlan(
                "\(name): the request from node \(request.pickup) to \(request.dropoff) fits into no route: \(reason). "
                    + "Correct the node's line")
        }
        let began = clock.seconds
        let solver = DepotSolver(problem, seed: seed)
        while true {
            let part = progress(solver, since: began)
            if part >= 1 { break }
            let count = min(Self.slice, (iterationsMax ?? Int.max) - solver.iterations)
            solver.run(iterations: count, progress: part...part)
        }
        guard let plan = solver.plan else {
            throw NoPlan(
                "\(name): no plan with at most \(problem.vehiclesMax) vehicles was found in \(solver.iterations) iterations. "
                    + "Give it more time (--budget 60s), or more vehicles in the first line")
        }
        return plan
    }

    private func progress(_ solver: DepotSolver, since began: Double) -> Double {
        let byTime = budgetSeconds.map { (clock.seconds - began) / $0 } ?? 0
        let byCount = iterationsMax.map { Double(solver.iterations) / Double($0) } ?? 0
        return max(byTime, byCount)
    }

    static func json(_ plan: DepotPlan) -> String {
        let routes = plan.routes.map { "[" + $0.map(String.init).joined(separator: ",") + "]" }
        return
            #"{"routes":[\#(routes.joined(separator: ","))],"distance":\#(plan.distance),"vehicles":\#(plan.vehicles)}"#
    }

    static func text(_ plan: DepotPlan) -> String {
        let rows = plan.routes.enumerated().map {
            "\($0.offset + 1): " + $0.element.map(String.init).joined(separator: " ")
        }
        return rows.joined(separator: "\n") + "\n\(plan.vehicles) vehicles, distance \(plan.distance)"
    }
}
