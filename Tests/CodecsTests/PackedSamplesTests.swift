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

    @Test(
        arguments: [[], [0], [2, 0], [1], [1, 1], [1, 1, 0], [1, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [1, 0, 9]] as [[UInt8]])
    func refuses(_ bytes: [UInt8]) {
        #expect(throws: DecodeError.self) { try PackedSamples.decode(bytes, minuteMs: 0) }
    }
}
