import Fleet
import SimKit
import Testing
import Tours

@Suite struct WalkingOrderTests {
    private func places(_ count: Int, _ chance: inout SeededChance) -> [Position] {
        (0..<count).map { _ in
            place(47.9 + Double(chance.below(100_000)) * 1e-6, 8 + Double(chance.below(100_000)) * 1e-6)
        }
    }

    /// All orders, one after the other.
    private func shortest(_ places: [Position], isRound: Bool) -> Double {
        var best = Double.infinity
        func go(_ order: [Position], _ left: [Position]) {
            if left.isEmpty { best = min(best, WalkingOrder.metres(order, isRound: isRound)) }
            for index in left.indices {
                var rest = left
                let next = rest.remove(at: index)
                go(order + [next], rest)
            }
        }
        go([places[0]], Array(places.dropFirst()))
        return best
    }

    @Test(arguments: [2, 3, 4, 5, 6, 7, 8]) func noOrderIsShorter(_ count: Int) {
        for seed in 0..<(count > 6 ? 3 : 20) as Range<UInt64> {
            var chance = SeededChance(seed: seed)
            let places = places(count, &chance)
            for isRound in [false, true] {
                let proposal = WalkingOrder.propose(places, isRound: isRound)
                let order = proposal.order.map { places[$0] }
                #expect(proposal.isProven && proposal.order.sorted() == Array(0..<count) && proposal.order[0] == 0)
                #expect(abs(WalkingOrder.metres(order, isRound: isRound) - proposal.metres) < 1e-6)
                #expect(abs(proposal.metres - shortest(places, isRound: isRound)) < 1e-3, "seed \(seed), \(isRound)")
            }
        }
    }

    /// Held and Karp 1962, over sets of places.
    private func shortestByDynamicProgramming(_ places: [Position], isRound: Bool) -> Double {
        let others = places.count - 1
        var table = [Double](repeating: .infinity, count: (1 << others) * others)
        for last in 0..<others { table[(1 << last) * others + last] = places[0].metres(to: places[last + 1]) }
        for set in 1..<(1 << others) {
            for last in 0..<others where table[set * others + last].isFinite {
                for next in 0..<others where set & 1 << next == 0 {
                    let cell = (set | 1 << next) * others + next
                    table[cell] = min(
                        table[cell], table[set * others + last] + places[last + 1].metres(to: places[next + 1]))
                }
            }
        }
        return (0..<others).map { last in
            table[((1 << others) - 1) * others + last] + (isRound ? places[last + 1].metres(to: places[0]) : 0)
        }.min()!
    }

    @Test func moreThanCanBeProvenAreNearlyShortest() {
        for seed in 0..<3 as Range<UInt64> {
            var chance = SeededChance(seed: seed)
            let places = places(14, &chance)
            for isRound in [false, true] {
                let proposal = WalkingOrder.propose(places, isRound: isRound)
                let best = shortestByDynamicProgramming(places, isRound: isRound)
                #expect(!proposal.isProven && proposal.order.sorted() == Array(0..<14) && proposal.order[0] == 0)
                #expect(
                    (best - 1e-6...best * 1.05).contains(proposal.metres),
                    "seed \(seed): \(proposal.metres) for \(best)")
            }
        }
    }

    @Test func aHundredAreNeverLongerThanTheyWere() {
        var chance = SeededChance(seed: 7)
        let places = places(100, &chance)
        let proposal = WalkingOrder.propose(places, isRound: true)
        #expect(proposal.order.sorted() == Array(0..<100))
        #expect(proposal.metres < 0.5 * WalkingOrder.metres(places, isRound: true))
        // The same again: nothing is left to chance.
        #expect(WalkingOrder.propose(places, isRound: true) == proposal)
    }

    @Test func anOrderThatIsAsGoodStays() {
        let same = [Position](repeating: place(47.9, 8), count: 20)
        #expect(WalkingOrder.propose(same, isRound: false).order == Array(0..<20))
        let line = (0..<10).map { place(47.9 + Double($0) * 0.001, 8) }
        #expect(WalkingOrder.propose(line, isRound: false).order == Array(0..<10))
        #expect(
            WalkingOrder.propose([], isRound: true).order == []
                && WalkingOrder.propose([line[0]], isRound: true).metres == 0)
    }

    @Test func timesAreFiveKilometresAnHour() {
        #expect(WalkingOrder.minutes(metres: 5_000) == 60 && WalkingOrder.minutes(metres: 0) == 0)
        #expect(WalkingOrder.minutes(metres: 100) == 2)
        // A degree of latitude on the mean sphere: 111,195 m.
        #expect(abs(WalkingOrder.metres([place(47, 8), place(48, 8)], isRound: true) - 222_390) < 1)
    }
}
