import Foundation
import SimKit
import Testing

/// The promise that matters most: any order, any split into batches, any repetition, crashes, lost answers and zombies give the
/// rows, and tell drivers, what the whole log gives at once.
@Suite("A partition of cars and their drivers")
struct CarTrialTests {
    /// DROVER_SEEDS: fewer for a build that is slow, more for a long run.
    private static let seedsPerGroup: UInt64 = {
        let environment = ProcessInfo.processInfo.environment
        let seeds =
            environment["DROVER_SEEDS"].flatMap(UInt64.init) ?? (environment["DROVER_LONG"] == nil ? 300 : 10_000)
        return max(1, seeds / 12)
    }()

    /// The first seed that fails is printed. `CarTrial.fault(seed:)` runs it again by itself.
    @Test(
        "Early, late, doubled, cut and killed: the same rows, alerts, ids and times", arguments: 0..<12 as Range<UInt64>
    )
    func same(group: UInt64) {
        let count = CarTrialTests.seedsPerGroup
        for seed in group * count..<(group + 1) * count {
            guard let fault = CarTrial.fault(seed: seed) else { continue }
            Issue.record("\(fault)")
            return
        }
    }
}
