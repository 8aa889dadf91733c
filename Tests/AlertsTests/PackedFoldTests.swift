import Alerts
import Codecs
import Fleet
import SimKit
import Testing

struct PackedFoldTests {
    static let rules = RuleTimeline(
        always: RuleSet([
            tractor: [
                AlertFoldTests.coolant, AlertFoldTests.fuel, AlertFoldTests.gps,
                rule(.tirePressure, .below, 70, hold: 600, advice: "Größe prüfen 🛞"),
                rule(.engineHours, .above, 50, every: 50), rule(.lastCellCallIn, .above, 5),
            ], "R4038 Sprayer": [AlertFoldTests.held],
        ]))

    static func readings(_ chance: inout SeededChance, count: Int) -> [MachineReading] {
        var seconds: Int64 = 0
        return (0..<count).map { _ in
            seconds += [60, 300, 301, 900][Int(chance.below(4))]
            var values: [MachineParameter: Int64] = [.engineHours: seconds]
            if !chance.once(in: 4) { values[.coolantTemperature] = 75_000 + chance.below(25) * 1_000 }
            if !chance.once(in: 4) { values[.fuelLevel] = 40_000 + chance.below(20) * 1_000 }
            if chance.once(in: 2) { values[.gpsAvailable] = chance.below(2) }
            if !chance.once(in: 4) { values[.tirePressure] = 60_000 + chance.below(20) * 1_000 }
            if !chance.once(in: 4) { values[.lastCellCallIn] = start - chance.below(10) * 86_400_000 }
            return reading(seconds, values, model: chance.once(in: 12) ? "R4038 Sprayer" : tractor)
        }
    }

    @Test("The state comes back after any prefix, and goes on the same", arguments: 0..<40 as Range<UInt64>)
    func identity(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        var fold = AlertFold()
        var wasOpen = false
        for reading in Self.readings(&chance, count: 60) {
            var again = try AlertFold(packed: fold.packed)
            #expect(again == fold, "seed \(seed)")
            #expect(again.packed == fold.packed, "seed \(seed)")
            let changes = fold.observe(reading, rules: Self.rules)
            #expect(again.observe(reading, rules: Self.rules) == changes, "seed \(seed)")
            wasOpen = wasOpen || fold.open.count > 2
        }
        #expect(wasOpen, "seed \(seed) tests little")
    }

    /// A state with everything in it.
    private func rich() -> [UInt8] {
        var fold = AlertFold()
        var chance = SeededChance(seed: 7)
        for reading in Self.readings(&chance, count: 40) { _ = fold.observe(reading, rules: Self.rules) }
        return fold.packed
    }

    @Test("Cut off anywhere it throws") func cut() {
        let bytes = rich()
        #expect(bytes.count > 200)
        for length in 0..<bytes.count {
            #expect(throws: DecodeError.self, "\(length) bytes") { try AlertFold(packed: Array(bytes[..<length])) }
        }
        #expect(throws: DecodeError.self) { try AlertFold(packed: bytes + [0]) }
    }

    @Test(
        "Bytes that are no state",
        arguments: [
            [], [0], [1, 0, 0], [255], [2], [2, 3], [2, 0, 17],
            [2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            [2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [2, 0, 1, 16, 0, 0, 0],
            [2, 0, 1, 200, 0, 0, 0], [2, 0, 0, 0, 1, 0, 4], [2, 0, 0, 0, 1, 0, 3, 0],
            [2, 0, 0, 0, 1, 0, 3, 0xFF, 0x7F], [2, 0, 0, 0, 1, 0, 3] + [UInt8](repeating: 0, count: 30),
            // Times that no reading has: judging from them would overflow.
            [2, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0, 0],
            [2, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0],
            [2, 0, 0, 0, 1, 3, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            [2, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0, 0, 0, 0],
        ] as [[UInt8]])
    func rubbish(_ bytes: [UInt8]) { #expect(throws: DecodeError.self) { try AlertFold(packed: bytes) } }

    @Test("Changed bytes throw or give a state that can be judged on", arguments: 0..<8 as Range<UInt64>)
    func changed(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let bytes = rich()
        var refused = 0
        for _ in 0..<600 {
            var changed = bytes
            chance.change(&changed, most: 3)
            guard var fold = try? AlertFold(packed: changed) else {
                refused += 1
                continue
            }
            let changes = fold.observe(reading(1_000_000, [.fuelLevel: 1]), rules: Self.rules)
            #expect(changes.allSatisfy { $0.openedMs != 0 }, "seed \(seed)")
        }
        #expect(refused > 50, "seed \(seed)")
    }
}
