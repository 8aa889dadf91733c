/// Chance that repeats: SplitMix64 (Steele, Lea, Flood 2014), the same for a seed on every machine.
struct Chance {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    @inline(__always) mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 to under the bound; its bias of 2⁻³² is far below what a search could notice.
    @inline(__always) mutating func below(_ bound: Int) -> Int { Int(((next() >> 32) &* UInt64(bound)) >> 32) }
    /// From 0 to under 1.
    @inline(__always) mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
