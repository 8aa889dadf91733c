import Alerts
import SimKit
import Testing

@Suite("Who drove")
struct DriversTests {
    private typealias Driving = Drivers.Driving

    @Test("Pieces of a drive become one, whatever their order and however they were joined before")
    func joined() {
        for seed in UInt64(1)...300 {
            var chance = SeededChance(seed: seed)
            let pieces = DriversTests.pieces(&chance)
            let drives = Drivers.joined(pieces)
            var left = pieces + pieces.filter { _ in chance.once(in: 3) }
            var rows: [Driving] = []
            while !left.isEmpty {
                let count = 1 + Int(chance.below(3))
                for _ in 0..<min(count, left.count) {
                    rows.append(left.remove(at: Int(chance.below(Int64(left.count)))))
                }
                rows = Drivers.joined(rows)
            }
            #expect(rows == drives, "seed \(seed)")
            // Drives of one account lie apart.
            for (one, next) in zip(drives, drives.dropFirst()) where one.account == next.account {
                #expect(next.fromMs > one.untilMs + Drivers.pauseMsMax, "seed \(seed)")
            }
        }
    }

    @Test("Joined drives name the same driver at each time as their pieces")
    func sameDriver() {
        for seed in UInt64(1)...300 {
            var chance = SeededChance(seed: seed)
            let pieces = DriversTests.pieces(&chance)
            func drivers(_ drivings: [Driving]) -> Drivers {
                Drivers(
                    drivings: drivings, assignments: [Drivers.Change(fromMs: 900_000, account: "cleo")],
                    owners: [Drivers.Change(fromMs: 0, account: "dan")])
            }
            let (before, after) = (drivers(pieces), drivers(Drivers.joined(pieces)))
            for ts in stride(from: Int64(-60_000), through: 3_700_000, by: 30_000) {
                #expect(before.account(at: ts) == after.account(at: ts), "seed \(seed), \(ts)")
            }
        }
    }

    @Test("Of two that say so the one whose drive began later")
    func later() {
        let drivers = Drivers(
            drivings: [
                Driving(fromMs: 0, untilMs: 60_000, account: "ada", id: "a1"),
                Driving(fromMs: 30_000, untilMs: 90_000, account: "bob", id: "b1"),
                // The same drive of Ada's, not a later one.
                Driving(fromMs: 60_001, untilMs: 120_000, account: "ada", id: "a2"),
            ], assignments: [], owners: [])
        #expect(
            [0, 29_999, 30_000, 90_000, 90_001, 120_000].map { drivers.account(at: $0) } == [
                "ada", "ada", "bob", "bob", "ada", "ada",
            ])
        #expect(drivers.account(at: 120_001) == nil)
    }

    /// Up to a dozen of two accounts within an hour.
    private static func pieces(_ chance: inout SeededChance) -> [Driving] {
        (0..<1 + Int(chance.below(12))).map { number in
            let from = Int64(chance.below(120)) * 30_000
            return Driving(
                fromMs: from, untilMs: from + Int64(chance.below(10)) * 30_000,
                account: chance.once(in: 2) ? "ada" : "bob", id: "d-\(number)")
        }
    }
}
