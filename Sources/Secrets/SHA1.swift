/// SHA-1 (FIPS 180-4, 6.1) and HMAC of it (RFC 2104), for one-time codes as authenticator programs make them and for nothing else:
/// libsodium leaves it out, and under HMAC it still holds.
package enum SHA1 {
    private static let blockBytes = 64

    package static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockBytes ? digest(key) : key
        block += [UInt8](repeating: 0, count: blockBytes - block.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + bytes))
    }

    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let padded = padded(bytes)
        for start in stride(from: 0, to: padded.count, by: blockBytes) {
            add(padded[start..<start + blockBytes], to: &state)
        }
        return state.flatMap { big($0) }
    }

    /// FIPS 180-4, 5.1.1.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        let rest = (bytes.count + 9) % blockBytes
        let zeros = rest == 0 ? 0 : blockBytes - rest
        return bytes + [0x80] + [UInt8](repeating: 0, count: zeros) + big(UInt64(bytes.count) * 8)
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { at in
            block[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for t in 16..<80 { words.append(rotated(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1)) }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let next = rotated(a, 5) &+ mixed(t, b, c, d) &+ e &+ words[t]
            (e, d, c, b, a) = (d, c, rotated(b, 30), a, next)
        }
        for (at, word) in [a, b, c, d, e].enumerated() { state[at] &+= word }
    }

    /// The function and the constant of a round: 4.1.1, 4.2.1.
    private static func mixed(_ t: Int, _ x: UInt32, _ y: UInt32, _ z: UInt32) -> UInt32 {
        switch t {
        case ..<20: (x & y | ~x & z) &+ 0x5A82_7999
        case ..<40: (x ^ y ^ z) &+ 0x6ED9_EBA1
        case ..<60: (x & y | x & z | y & z) &+ 0x8F1B_BCDC
        default: (x ^ y ^ z) &+ 0xCA62_C1D6
        }
    }

    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }

    private static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Number($0)) }
    }
}
