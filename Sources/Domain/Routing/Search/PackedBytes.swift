internal import Codecs

/// Whole numbers as varints, decimals as their bits, so nothing is rounded.
struct PackedWriter {
    var bytes: [UInt8] = []

    mutating func put(_ value: UInt64) { bytes.appendVarint(value) }
    mutating func put(signed value: Int64) { bytes.appendZigzag(value) }

    mutating func put(_ value: Double) {
        var bits = value.bitPattern
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
        }
    }

    mutating func put(_ text: String) {
        put(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func put(_ value: Int64?) {
        bytes.append(value == nil ? 0 : 1)
        if let value { bytes.appendZigzag(value) }
    }
}

struct PackedReader {
    private var input: VarintReader
    init(_ bytes: [UInt8]) { input = VarintReader(bytes) }

    var atEnd: Bool { input.atEnd }
    mutating func byte() throws(DecodeError) -> UInt8 { try input.byte() }
    mutating func number() throws(DecodeError) -> Int64 { try input.zigzag() }

    mutating func count(_ most: Int) throws(DecodeError) -> Int {
        let value = try input.varint()
        guard value <= UInt64(most) else { throw .packed("a number above \(most)") }
        return Int(value)
    }

    mutating func double() throws(DecodeError) -> Double {
        var bits: UInt64 = 0
        for shift in 0..<8 { bits |= UInt64(try input.byte()) << UInt64(8 * shift) }
        return Double(bitPattern: bits)
    }

    mutating func text(most: Int = 64) throws(DecodeError) -> String {
        let bytes = try input.bytes(most: most)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { throw .packed("not UTF-8") }
        return text
    }

    mutating func optional() throws(DecodeError) -> Int64? {
        switch try input.byte() {
        case 0: return nil
        case 1: return try input.zigzag()
        default: throw .packed("neither there nor not")
        }
    }
}
