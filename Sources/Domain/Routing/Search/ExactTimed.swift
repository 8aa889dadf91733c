/// The best order with time windows and ride limits: a state and last stop keep labels, of which none is better than
/// another in clock, cost and ride times together (Desrosiers, Dumas and Soumis 1986 without the ride times).
extension ExactItinerary {
    private struct Label {
        var clockS = 0.0
        var cost = 0.0
        var parent: Int32 = -1
        var node = Int32(ExactItinerary.start)
        /// End of pickup of those on board that have a ride limit, by item; 0 for the others.
        var pickedUpS = SIMD16<Double>.zero
    }

    /// Where everybody is in a state.
    private struct Progress {
        var digits: [Int8]
        var load = 0.0
        var rate = 0.0
    }

    /// Which labels dominate others depends on which limits there are.
    private enum Dominance {
        /// No window opens later: a later clock shifts everything, so clock, cost and ride times are compared.
        case shift
        /// Waiting costs more than riding and no ride is limited: an early vehicle may wait until the other rider comes.
        case idle
        /// Neither: only labels of one clock can be compared.
        case sameClock
    }

    enum TimedResult: Equatable { case best(Double), infeasible, tooMany }

    /// The least cost, at most `bound`; `.infeasible` when there is none. The order is then in `order`. `.tooMany`: the search would have
    /// exceeded `labelsMax` labels, and nothing is known.
    func solveTimed(bound: Double, labelsMax: Int) -> TimedResult {
        keep([])
        guard items > 0 else { return .best(0) }
        let steps = radix()
        let states = steps[items - 1] * (isBoarded[items - 1] ? 2 : 3)
        let all = (0..<states).map { progress($0, steps) }
        guard all[0].load <= capacity else { return .infeasible }
        let dominance = dominance()
        var labels = [Label()]
        for i in 0..<items where isBoarded[i] && rideLimitS[i].isFinite { labels[0].pickedUpS[i] = boardedAtS[i] }
        var held = [[Int32]](repeating: [], count: states * items)
        held[0] = [0]  // In the first state the last stop is the vehicle, whatever the item.
        for state in 0..<states - 1 {
            for last in 0..<items {
                for index in held[state * items + last] {
                    for i in 0..<items where all[state].digits[i] < (isBoarded[i] ? 1 : 2) {
                        let next = state + steps[i]
                        guard all[next].load <= capacity, let label = extend(index, labels, by: i, all[state]),
                            label.cost <= bound
                        else { continue }
                        let (cell, rate) = (next * items + i, all[next].rate)
                        guard !held[cell].contains(where: { beats(labels[Int($0)], label, rate, dominance) }) else {
                            continue
                        }
                        held[cell].removeAll { beats(label, labels[Int($0)], rate, dominance) }
                        guard labels.count < labelsMax else { return .tooMany }
                        held[cell].append(Int32(labels.count))
                        labels.append(label)
                    }
                }
            }
        }
        let last = held[((states - 1) * items)...].joined()
        guard let best = last.min(by: { labels[Int($0)].cost < labels[Int($1)].cost }) else { return .infeasible }
        var (found, at): ([Int32], Int32) = ([], best)
        while labels[Int(at)].parent >= 0 {
            found.append(labels[Int(at)].node)
            at = labels[Int(at)].parent
        }
        keep(found.reversed())
        return .best(labels[Int(best)].cost)
    }

    private func extend(_ index: Int32, _ labels: [Label], by i: Int, _ now: Progress) -> Label? {
        var label = labels[Int(index)]
        let isPickup = !isBoarded[i] && now.digits[i] == 0
        let node = isPickup ? 2 * i : 2 * i + 1
        let leg = Int(label.node) * ExactItinerary.nodes + node
        let start = max(label.clockS + seconds[leg], opensS[node])
        guard start <= closesS[node] else { return nil }
        if !isPickup, rideLimitS[i].isFinite, start - label.pickedUpS[i] > rideLimitS[i] { return nil }
        let service = isPickup ? pickupServiceS : dropoffServiceS
        let others = now.rate - (isPickup ? waitRate[i] : rideRate[i])
        label.cost += legCost[leg] + now.rate * (start - label.clockS) + others * service
        label.clockS = start + service
        label.parent = index
        label.node = Int32(node)
        if rideLimitS[i].isFinite { label.pickedUpS[i] = isPickup ? label.clockS : 0 }
        return label
    }

    private func dominance() -> Dominance {
        if !(0..<2 * items).contains(where: { opensS[$0] > 0 }) { return .shift }
        let isIdleSafe = (0..<items).allSatisfy { rideRate[$0] <= waitRate[$0] && rideLimitS[$0].isInfinite }
        return isIdleSafe ? .idle : .sameClock
    }

    /// Whether whatever follows `b` costs no less than the same after `a`; `rate` is what a second costs after both.
    private func beats(_ a: Label, _ b: Label, _ rate: Double, _ dominance: Dominance) -> Bool {
        switch dominance {
        case .shift:
            guard a.clockS <= b.clockS, a.cost <= b.cost else { return false }
            for i in 0..<items where rideLimitS[i].isFinite {
                // Not on board in either: both are 0, and the clocks have been compared.
                if a.clockS - a.pickedUpS[i] > b.clockS - b.pickedUpS[i] { return false }
            }
            return true
        case .idle:
            return a.clockS <= b.clockS && a.cost + rate * (b.clockS - a.clockS) <= b.cost
        case .sameClock:
            guard a.clockS == b.clockS, a.cost <= b.cost else { return false }
            for i in 0..<items where a.pickedUpS[i] < b.pickedUpS[i] { return false }
            return true
        }
    }

    private func radix() -> [Int] {
        var (steps, states): ([Int], Int) = ([], 1)
        for i in 0..<items {
            steps.append(states)
            states *= isBoarded[i] ? 2 : 3
        }
        return steps
    }

    private func progress(_ state: Int, _ steps: [Int]) -> Progress {
        var now = Progress(digits: (0..<items).map { Int8(state / steps[$0] % (isBoarded[$0] ? 2 : 3)) })
        for i in 0..<items {
            switch (now.digits[i], isBoarded[i]) {
            case (0, false): now.rate += waitRate[i]
            case (1, false), (0, true):
                now.rate += rideRate[i]
                now.load += passengers[i]
            default: break
            }
        }
        return now
    }
}
