internal import Basics

/// Chance that repeats. A failing run prints its seed and runs again from it.
public struct SeededChance: RandomNumberGenerator, Sendable {
    private var chance: SplitMix64
    public init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    public mutating func next() -> UInt64 { chance.next() }

    public mutating func below(_ bound: Int64) -> Int64 { Int64(next() % UInt64(bound)) }
    /// True once in `n`.
    public mutating func once(in n: Int64) -> Bool { below(n) == 0 }
}
