/// A hash that is the same in every process and release, for names that are stored. Not against forgery.
/// Source: FNV-1a, 128 bits (draft-eastlake-fnv, parameters of section 5).
struct StableHash {
    private(set) var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value ^= UInt128(byte)
            value = value &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
    }

    /// Length first, so that ("ab", "c") and ("a", "bc") differ.
    mutating func add(field text: String) { add("\(text.utf8.count):\(text)".utf8) }

    /// 16 hex digits: both halves folded together, as the draft advises for shorter hashes.
    var hex64: String {
        let folded = UInt64(truncatingIfNeeded: value >> 64) ^ UInt64(truncatingIfNeeded: value)
        let digits = String(folded, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
