import DepotRoutes

/// The best plan of a few requests by trying every order of every set: the reference for the solver.
struct Exhaustive {
    struct Value: Equatable {
        var routes = 0
        var distance = 0.0
    }

    private let problem: DepotProblem
    private let check: PlanCheck

    init(_ problem: DepotProblem) {
        self.problem = problem
        check = PlanCheck(problem)
    }

    /// The best over all ways to part the requests into routes, by the problem's objective.
    var best: Value {
        let sets = 1 << problem.requests.count
        let single = (0..<sets).map { $0 == 0 ? 0 : shortest($0) }
        var best = [Value?](repeating: nil, count: sets)
        best[0] = Value()
        for set in 1..<sets {
            // Each set's lowest request is in some route: only parts that hold it.
            let lowest = set & -set
            var part = set
            while part > 0 {
                if part & lowest != 0, single[part].isFinite, let rest = best[set ^ part],
                    rest.routes < problem.vehiclesMax
                {
                    let value = Value(routes: rest.routes + 1, distance: rest.distance + single[part])
                    if best[set].map({ isBetter(value, $0) }) ?? true { best[set] = value }
                }
                part = (part - 1) & set
            }
        }
        return best[sets - 1]!
    }

    private func isBetter(_ a: Value, _ b: Value) -> Bool {
        switch problem.objective {
        case .fewestRoutes: (a.routes, a.distance) < (b.routes, b.distance)
        case .distance: a.distance < b.distance
        }
    }

    /// The least distance of one route through these requests; infinite where none keeps the limits.
    private func shortest(_ set: Int) -> Double {
        var best = Double.infinity
        func extend(_ route: [Int], _ waiting: Int, _ riding: Int) {
            if waiting == 0, riding == 0 {
                let distance = check.distance([route])
                if distance < best, check.faults(ofRoute: route).isEmpty { best = distance }
                return
            }
            for (index, request) in problem.requests.enumerated() {
                let bit = 1 << index
                if waiting & bit != 0 { extend(route + [request.pickup], waiting ^ bit, riding | bit) }
                if riding & bit != 0 { extend(route + [request.dropoff], waiting, riding ^ bit) }
            }
        }
        extend([], set, 0)
        return best
    }
}
