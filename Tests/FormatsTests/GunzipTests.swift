import Formats
import SimKit
import Testing

@Suite("Packed bodies")
struct GunzipTests {
    /// Packed by gzip itself.
    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try output(of: "gzip", ["-c"], [bytes]) }

    @Test("What gzip packed is unpacked, also in several members", arguments: [0, 1, 1_000, 65_536, 300_000])
    func unpacked(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }
        let packed = try Self.gzip(bytes)
        #expect(try Gunzip.unpack(packed, bytesMax: 1 << 20) == bytes)
        #expect(try Gunzip.unpack(packed + packed, bytesMax: 1 << 20) == bytes + bytes)
    }

    @Test("A bomb is stopped at the bound, and the bound itself is taken") func bomb() throws {
        let packed = try Self.gzip([UInt8](repeating: 0x61, count: 1 << 20))
        #expect(packed.count < 2_000)
        #expect(try Gunzip.unpack(packed, bytesMax: 1 << 20).count == 1 << 20)
        #expect(throws: Gunzip.Fault.tooLarge(most: (1 << 20) - 1)) {
            try Gunzip.unpack(packed, bytesMax: (1 << 20) - 1)
        }
    }

    @Test("Cut off anywhere, damaged anywhere, or no gzip at all: a fault, never a part of it") func damaged() throws {
        let bytes = Array(#"{"schema":1,"kind":"reading"}"#.utf8)
        let packed = try Self.gzip(bytes)
        for count in 0..<packed.count {
            #expect(throws: Gunzip.Fault.self, "\(count) bytes") {
                try Gunzip.unpack(Array(packed.prefix(count)), bytesMax: 1_000)
            }
        }
        // The last eight bytes are the checksum and the length.
        for index in packed.count - 8..<packed.count {
            var damaged = packed
            damaged[index] ^= 1
            #expect(throws: Gunzip.Fault.notGzip) { try Gunzip.unpack(damaged, bytesMax: 1_000) }
        }
        #expect(throws: Gunzip.Fault.notGzip) { try Gunzip.unpack(bytes, bytesMax: 1_000) }
        #expect(throws: Gunzip.Fault.notGzip) { try Gunzip.unpack(packed + [1, 2, 3], bytesMax: 1_000) }
    }
}
