/// Chance that repeats: SplitMix64 (Steele, Lea, Flood 2014), the same for a seed on every machine.
@frozen
public struct SplitMix64: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    @inlinable public init(seed: UInt64) { state = seed }

    @inlinable public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return SplitMix64.mixed(state)
    }

    /// The last step alone: a number that looks like chance from any number.
    @inlinable public static func mixed(_ number: UInt64) -> UInt64 {
        var z = number
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to, not including, `bound`, by multiplication (Lemire 2019); the bias is below 2⁻³².
    @inlinable public mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(bound)) >> 32)
    }

    /// From 0 to under 1.
    @inlinable public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
