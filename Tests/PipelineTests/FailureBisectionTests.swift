import Pipeline
import SimKit
import Testing

@Suite struct FailureBisectionTests {
    private func find(_ count: Int, _ culprits: Set<Int>, most: Int = .max) -> (found: [Int], calls: Int) {
        var calls = 0
        let finding = FailureBisection<Int>.find(among: Array(0..<count), most: most) { members in
            calls += 1
            return culprits.isDisjoint(with: members) ? nil : "refused"
        }
        switch finding {
        case .nobody: return ([], calls)
        case .found(let found), .tooMany(let found): return (found.map(\.member), calls)
        case .noMember: return ([-1], calls)
        }
    }

    private func bound(_ count: Int, _ culprits: Int) -> Int {
        3 + culprits * (2 * (Int.bitWidth - count.leadingZeroBitCount) + 3)
    }

    @Test func everySetOfSixIsFound() {
        for set in 0..<64 {
            let culprits = Set((0..<6).filter { set >> $0 & 1 == 1 })
            let (found, calls) = find(6, culprits)
            #expect(found == culprits.sorted())
            #expect(calls <= bound(6, culprits.count))
        }
    }

    @Test(arguments: 0..<20) func someOfManyAreFoundInFewTries(seed: Int) {
        var random = SeededChance(seed: UInt64(seed))
        let count = 1 + Int(random.next() % 20_000)
        let culprits = Set((0..<Int(random.next() % 8)).map { _ in Int(random.next() % UInt64(count)) })
        let (found, calls) = find(count, culprits)
        #expect(found == culprits.sorted())
        #expect(calls <= bound(count, culprits.count))
    }

    @Test func theSearchEndsWithMoreThanTheMost() {
        guard
            case .tooMany(let found) = FailureBisection<Int>.find(
                among: Array(0..<1_000), most: 2, fails: { $0.isEmpty ? nil : "refused" })
        else {
            Issue.record("not too many")
            return
        }
        #expect(found.map(\.member) == [0, 1, 2])
    }

    @Test func whatFailsWithoutAnyIsNobodysFault() {
        guard case .noMember("away") = FailureBisection<Int>.find(among: [1, 2], most: 5, fails: { _ in "away" }) else {
            Issue.record("somebody was blamed")
            return
        }
    }

    @Test func whatFailsOnlyTogetherIsNoMembersFault() {
        guard
            case .noMember("too much") = FailureBisection<Int>.find(
                among: Array(0..<8), most: 5, fails: { $0.count == 8 ? "too much" : nil })
        else {
            Issue.record("somebody was blamed")
            return
        }
    }
}
