import Alerts
import Fleet
import SimKit
import Testing

@Suite("Who drove")
struct DriversTests {
    private typealias Driving = Drivers.Driving
    private let hourMs: Int64 = 3_600_000

    @Test("Pieces of a drive become one, whatever their order and however they were joined before") func joined() {
        for seed in UInt64(1)...300 {
            var chance = SeededChance(seed: seed)
            let pieces = Self.pieces(&chance)
            let drives = Drivers.joined(pieces)
            var left = pieces + pieces.filter { _ in chance.once(in: 3) }
            var rows: [Driving] = []
            while !left.isEmpty {
                let count = 1 + Int(chance.below(3))
                for _ in 0..<min(count, left.count) { rows.append(left.remove(at: chance.index(left.count))) }
                rows = Drivers.joined(rows)
            }
            #expect(rows == drives, "seed \(seed)")
            // Drives of one account lie apart.
            for (one, next) in zip(drives, drives.dropFirst()) where one.account == next.account {
                #expect(next.fromMs > one.untilMs + Drivers.pauseMsMax, "seed \(seed)")
            }
        }
    }

    @Test("Joined drives name the same driver at each time as their pieces") func sameDriver() {
        for seed in UInt64(1)...300 {
            var chance = SeededChance(seed: seed)
            let pieces = Self.pieces(&chance)
            let (before, after) = (
                drivers(pieces, assigned: [(900_000, "cleo")], owned: [(0, "dan")]),
                drivers(Drivers.joined(pieces), assigned: [(900_000, "cleo")], owned: [(0, "dan")])
            )
            for ts in stride(from: Int64(-60_000), through: 3_700_000, by: 30_000) {
                #expect(before.account(at: ts) == after.account(at: ts), "seed \(seed), \(ts)")
            }
        }
    }

    @Test("Of two that say so the one whose drive began later") func later() {
        let drivers = drivers([
            Driving(fromMs: 0, untilMs: 60_000, account: "ada", id: "a1"),
            Driving(fromMs: 30_000, untilMs: 90_000, account: "bob", id: "b1"),
            // The same drive of Ada's, not a later one.
            Driving(fromMs: 60_001, untilMs: 120_000, account: "ada", id: "a2"),
        ])
        #expect(
            [0, 29_999, 30_000, 90_000, 90_001, 120_000].map { drivers.account(at: $0) } == [
                "ada", "ada", "bob", "bob", "ada", "ada",
            ])
        #expect(drivers.account(at: 120_001) == nil)
    }

    @Test("Of two that have driven for a day the last by name") func bothForDays() {
        let drivers = drivers([
            Driving(fromMs: 0, untilMs: 300 * hourMs, account: "bob", id: "b"),
            Driving(fromMs: hourMs, untilMs: 300 * hourMs, account: "ada", id: "a"),
        ])
        #expect(
            ([0, 1, 24, 25, 26, 300] as [Int64]).map { drivers.account(at: $0 * hourMs) } == [
                "bob", "ada", "ada", "bob", "bob", "bob",
            ])
        #expect(drivers.account(at: 25 * hourMs - 1) == "ada")
    }

    @Test("A piece says nothing new of what is further away than a pause before it, and a pause and a day behind it")
    func reach() {
        for seed in UInt64(1)...300 {
            var chance = SeededChance(seed: seed)
            // Hours in the place of half minutes: drives of days, some of whose pauses the piece fills.
            let pieces = Self.pieces(&chance, unitMs: hourMs, overlapMs: 30_000)
            let (piece, others) = (pieces[0], Array(pieces.dropFirst()))
            let (before, after) = (drivers(others), drivers(pieces))
            let fromMs = piece.fromMs - Drivers.pauseMsMax
            let untilMs = piece.untilMs + Drivers.pauseMsMax + Drivers.beginMsMax
            for ts in stride(from: -hourMs, through: 140 * hourMs, by: Int(hourMs / 4))
            where ts < fromMs || ts > untilMs {
                #expect(before.account(at: ts) == after.account(at: ts), "seed \(seed), \(ts)")
            }
        }
    }

    /// Up to a dozen of two accounts within 120 units; an overlap makes some that would only meet one drive.
    private static func pieces(_ chance: inout SeededChance, unitMs: Int64 = 30_000, overlapMs: Int64 = 0) -> [Driving]
    {
        (0..<1 + Int(chance.below(12))).map { number in
            let from = Int64(chance.below(120)) * unitMs
            return Driving(
                fromMs: from, untilMs: from + Int64(chance.below(10)) * unitMs + overlapMs,
                account: chance.once(in: 2) ? "ada" : "bob", id: "d-\(number)")
        }
    }
}
