/// LEB128 varints and zigzag integers: small numbers in few bytes.
extension Array where Element == UInt8 {
    package mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    package mutating func appendZigzag(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}

/// The same into memory that was made large enough before: for the hot path.
/// Safe as long as the memory lives and takes `bytesMax` for each number put.
@safe @frozen @usableFromInline
package struct VarintSink {
    @usableFromInline let start: UnsafeMutablePointer<UInt8>
    @usableFromInline package var count = 0

    /// The most bytes that a number takes.
    @inlinable package static var bytesMax: Int { 10 }

    @inlinable package init(_ start: UnsafeMutablePointer<UInt8>) { unsafe self.start = start }

    @inlinable package mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            unsafe start[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        unsafe start[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    @inlinable package mutating func putZigzag(_ value: Int64) {
        put(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}

package struct VarintReader {
    private let bytes: [UInt8]
    private var at = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var atEnd: Bool { at == bytes.count }
    /// The bytes that are not read yet.
    package var rest: [UInt8] { Array(bytes[at...]) }

    package mutating func byte() throws(DecodeError) -> UInt8 {
        guard at < bytes.count else { throw .packed("cut off") }
        defer { at += 1 }
        return bytes[at]
    }

    package mutating func varint() throws(DecodeError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw .packed("a number over 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        throw .packed("a number over 64 bits")
    }

    package mutating func zigzag() throws(DecodeError) -> Int64 {
        let raw = try varint()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    /// A length and as many bytes.
    package mutating func bytes(most: Int) throws(DecodeError) -> [UInt8] {
        let length = try varint()
        guard length <= UInt64(min(most, bytes.count - at)) else { throw .packed("cut off") }
        defer { at += Int(length) }
        return Array(bytes[at..<at + Int(length)])
    }
}
