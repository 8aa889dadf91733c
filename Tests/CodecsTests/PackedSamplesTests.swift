import Basics
import Codecs
import Fleet
import SimKit
import Testing

struct PackedSamplesTests {
    private func minutes(_ seed: UInt64) -> [[CarReading]] {
        let readings = SeededDrive.readings(seed: seed, count: 600).unioned()
        return Dictionary(grouping: readings) { UTC.minute(of: $0.ts) }.values.map { $0 }
    }

    @Test("Decoding gives back what was encoded", arguments: 0..<40 as Range<UInt64>)
    func identity(seed: UInt64) throws {
        for minute in minutes(seed) {
            let start = UTC.minute(of: minute[0].ts)
            #expect(try PackedSamples.decode(PackedSamples.encode(minute, minuteMs: start), minuteMs: start) == minute)
        }
    }

    @Test("No bytes crash the decoder, and what it accepts it writes again", arguments: 0..<40 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        for minute in minutes(seed).prefix(5) {
            let start = UTC.minute(of: minute[0].ts)
            let good = PackedSamples.encode(minute, minuteMs: start)
            for _ in 0..<60 {
                var bytes = good
                switch chance.below(3) {
                case 0: bytes.removeLast(Int(chance.below(Int64(bytes.count))))
                case 1: bytes[Int(chance.below(Int64(bytes.count)))] = UInt8(chance.below(256))
                default: bytes = (0..<chance.below(200)).map { _ in UInt8(chance.below(256)) }
                }
                guard let readings = try? PackedSamples.decode(bytes, minuteMs: start) else { continue }
                let again = try? PackedSamples.decode(PackedSamples.encode(readings, minuteMs: start), minuteMs: start)
                #expect(again == readings, "seed \(seed)")
            }
        }
    }

    @Test(
        arguments: [[], [0], [2, 0], [1], [1, 1], [1, 1, 0], [1, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [1, 0, 9]] as [[UInt8]])
    func refuses(_ bytes: [UInt8]) {
        #expect(throws: DecodeError.self) { try PackedSamples.decode(bytes, minuteMs: 0) }
    }
}
