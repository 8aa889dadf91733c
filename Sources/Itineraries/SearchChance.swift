/// Chance that repeats: SplitMix64 (Steele, Lea, Flood 2014), seeded by the caller, for a live campus from the event's offset.
package struct SearchChance {
    private var state: UInt64
    package init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to, not including, `bound`, by multiplication (Lemire 2019); the bias is below 2⁻³².
    package mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(bound)) >> 32)
    }

    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// About -ln(u), without the logarithm, whose last digit differs between systems: piecewise linear, exact at powers of 2.
    mutating func exponential() -> Double {
        let bits = next() | 1
        let zeros = bits.leadingZeroBitCount
        let fraction = Double((bits << UInt64(zeros)) & 0x7FFF_FFFF_FFFF_FFFF) * 0x1p-63
        return (Double(zeros) + 1 - fraction) * 0.693_147_180_559_945_3
    }
}
