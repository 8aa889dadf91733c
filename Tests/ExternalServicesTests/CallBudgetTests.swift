import ExternalServices
import SimKit
import Testing

struct CallBudgetTests {
    /// However calls come, no stretch of time as long as a period holds more than its limit; the calls themselves are
    /// counted, not the slices.
    @Test(arguments: 0..<UInt64(60)) func noStretchHoldsMoreThanTheLimit(_ seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        let (perMinute, perHour) = (1 + chance.below(20), 10 + chance.below(60))
        let limits = try CallLimits("\(perMinute)/min, \(perHour)/h")
        var budget = CallBudget(limits, calls: [:], spacedUntilMs: 0)
        var (now, begun) = (Int64(1_700_000_000_000) + chance.below(3_600_000), [Int64]())
        for _ in 0..<800 {
            now += chance.once(in: 10) ? chance.below(200_000) : chance.below(2_000)
            switch budget.reserve(nowMs: now, patienceMs: 0) {
            case .go(let at):
                #expect(at == now)
                begun.append(at)
            case .wait(let until):
                #expect(until > now)
                // Its word counts: then there is room, unless somebody else was faster.
                var later = budget
                #expect(later.reserve(nowMs: until, patienceMs: 0) == .go(atMs: until), "seed \(seed)")
                if chance.once(in: 3) { now = until }
            }
        }
        for (period, limit) in [(Int64(60_000), perMinute), (3_600_000, perHour)] {
            var first = 0
            for (last, at) in begun.enumerated() {
                while begun[first] <= at - period { first += 1 }
                #expect(last - first + 1 <= limit, "seed \(seed)")
            }
        }
        // And it is not stingy: a whole limit is used at once.
        var fresh = CallBudget(limits, calls: [:], spacedUntilMs: 0)
        let used = (0..<200).filter { _ in fresh.reserve(nowMs: now, patienceMs: 0) == .go(atMs: now) }.count
        #expect(used == Int(min(perMinute, perHour)))
        #expect(fresh.left(nowMs: now)[.minute] == Int(perMinute) - used)
    }

    @Test func callsKeepTheirDistanceAndWaitTheirTurn() throws {
        var budget = CallBudget(try CallLimits("2/s"), calls: [:], spacedUntilMs: 0)
        let answers = (0..<4).map { _ in budget.reserve(nowMs: 10_000, patienceMs: 1_000) }
        #expect(answers == [.go(atMs: 10_000), .go(atMs: 10_500), .go(atMs: 11_000), .wait(untilMs: 11_500)])
    }

    @Test func aClockThatWasSetBackHoldsNobodyForLong() throws {
        var budget = CallBudget(try CallLimits("1/s"), calls: [:], spacedUntilMs: 10_000_000)
        #expect(budget.reserve(nowMs: 1_000, patienceMs: 0) == .wait(untilMs: 61_000))
    }

    @Test func theBreaker() {
        var rules = CircuitBreaker.Rules()
        (rules.failuresMax, rules.restMs, rules.trialMs) = (2, 1_000, 500)
        var breaker = CircuitBreaker(rules)
        breaker.failed(nowMs: 0)
        #expect(breaker.ask(nowMs: 0) == .go)
        breaker.failed(nowMs: 0)
        #expect(breaker.ask(nowMs: 999) == .wait(untilMs: 1_000))
        #expect(breaker.ask(nowMs: 1_000) == .go)
        #expect(breaker.ask(nowMs: 1_001) == .wait(untilMs: 1_500), "one at a time")
        #expect(breaker.ask(nowMs: 1_500) == .go, "the first may have died")
        var rests: [Int64] = []
        for _ in 0..<6 {
            breaker.failed(nowMs: 0)
            rests.append(breaker.openUntilMs!)
        }
        #expect(rests == [2_000, 4_000, 8_000, 16_000, 16_000, 16_000])
        breaker.succeeded()
        #expect(breaker == CircuitBreaker(rules) && breaker.ask(nowMs: 0) == .go)
    }
}
