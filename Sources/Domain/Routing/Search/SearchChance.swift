package import Basics

/// Chance of a search, seeded by the caller, for a live campus from the event's offset.
package typealias SearchChance = SplitMix64

extension SplitMix64 {
    /// About -ln(u), without the logarithm, whose last digit differs between systems: piecewise linear, exact at powers of 2.
    mutating func exponential() -> Double {
        let bits = next() | 1
        let zeros = bits.leadingZeroBitCount
        let fraction = Double((bits << UInt64(zeros)) & 0x7FFF_FFFF_FFFF_FFFF) * 0x1p-63
        return (Double(zeros) + 1 - fraction) * 0.693_147_180_559_945_3
    }
}
