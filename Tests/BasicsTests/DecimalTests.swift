import Basics
import SimKit
import Testing

struct DecimalTests {
    @Test(
        arguments: [
            ("0", 0), ("12.3", 12_300), ("-12.3456", -12_346), ("+7", 7_000), (" 5.0005 ", 5_001), (".5", 500),
            ("5.", 5_000),
            ("1e3", 1_000_000), ("1.5E-2", 15), ("0.00049", 0), ("17.999999999999999999999", 18_000),
            ("000012", 12_000),
            ("-0", 0), ("2.5e+1", 25_000),
        ] as [(String, Int64)])
    func reads(_ text: String, _ thousandths: Int64) {
        #expect(Decimal.scaled(text.utf8, decimals: 3) == thousandths)
    }

    @Test(arguments: [
        "", " ", "-", ".", "+.", "1..2", "1,5", "0x10", "NaN", "inf", "1e", "1e+", "1e999", "12 3", "--1", "1-",
        "NODATA",
        "123456789012345678", "9e17", "\u{0}1",
    ])
    func refuses(_ text: String) { #expect(Decimal.scaled(text.utf8, decimals: 3) == nil) }

    @Test(
        arguments: [
            (0, "0"), (12_300, "12.3"), (-1, "-0.001"), (1_000, "1"), (999, "0.999"), (-12_345_678, "-12345.678"),
        ] as [(Int64, String)])
    func writes(_ value: Int64, _ text: String) { #expect(Decimal.text(value, decimals: 3) == text) }

    @Test func readsWhatItWrites() {
        for value in stride(from: Int64(-5_000_000), through: 5_000_000, by: 997) {
            for decimals in [0, 3, 7] {
                #expect(Decimal.scaled(Decimal.text(value, decimals: decimals).utf8, decimals: decimals) == value)
            }
        }
    }

    @Test(arguments: [(7, 2, 4), (-7, 2, -4), (5, 2, 3), (4, 3, 1), (-4, 3, -1), (0, 9, 0)] as [(Int64, Int64, Int64)])
    func roundsHalfAwayFromZero(_ a: Int64, _ b: Int64, _ quotient: Int64) {
        #expect(Decimal.divided(a, by: b) == quotient)
    }

    @Test("A floating value is scaled as the C library rounds", arguments: [0, 3, 7])
    func scalesFloatingValues(decimals: Int) {
        let scale = Double(Decimal.powerOfTen(decimals))
        func check(_ value: Double) {
            let rounded = (value * scale).rounded(.toNearestOrAwayFromZero)
            let wanted = rounded.magnitude < 9.0e15 ? Int64(rounded) : nil
            guard Decimal.scaled(value, decimals: decimals) != wanted else { return }
            Issue.record("\(value), bits \(value.bitPattern)")
        }
        var chance = SeededChance(seed: UInt64(decimals))
        for _ in 0..<50_000 {
            check(Double(bitPattern: chance.next()))
            // Beside halves, where rounding changes; of all sizes up to where doubles have no halves.
            let half = (Double(chance.below(1 << (1 + chance.below(53)))) + 0.5) / scale
            for value in [half, half.nextUp, half.nextDown] {
                check(value)
                check(-value)
            }
        }
        for value in [0, -0.0, 0.49999999999999994, 9e15 / scale, (9e15 / scale).nextDown, .infinity, .nan] {
            check(value)
            check(-value)
        }
    }
}
