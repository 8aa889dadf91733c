/// LEB128 varints and zigzag integers: small numbers in few bytes.
extension Array where Element == UInt8 {
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func appendZigzag(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}

struct VarintReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var atEnd: Bool { at == bytes.count }

    mutating func byte() throws(DecodeError) -> UInt8 {
        guard at < bytes.count else { throw .packed("cut off") }
        defer { at += 1 }
        return bytes[at]
    }

    mutating func varint() throws(DecodeError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw .packed("a number over 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        throw .packed("a number over 64 bits")
    }

    mutating func zigzag() throws(DecodeError) -> Int64 {
        let raw = try varint()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }
}
