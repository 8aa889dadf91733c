internal import Basics
public import Fleet

/// Chance that repeats. A failing run prints its seed and runs again from it.
public struct SeededChance: RandomNumberGenerator, Sendable {
    private var chance: SplitMix64
    public init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    public mutating func next() -> UInt64 { chance.next() }

    public mutating func below(_ bound: Int64) -> Int64 { Int64(next() % UInt64(bound)) }
    /// True once in `n`.
    public mutating func once(in n: Int64) -> Bool { below(n) == 0 }

    public mutating func index(_ count: Int) -> Int { Int(below(Int64(count))) }
    public mutating func pick<T>(_ choices: [T]) -> T { choices[index(choices.count)] }

    public mutating func byte() -> UInt8 { UInt8(below(256)) }
    public mutating func bytes(_ count: Int64) -> [UInt8] { (0..<count).map { _ in byte() } }
    /// Gives some bytes another value, up to so many of them.
    public mutating func change(_ bytes: inout [UInt8], most: Int64) {
        for _ in 0...below(most) { bytes[index(bytes.count)] = byte() }
    }

    /// Anywhere on the globe.
    public mutating func position() -> Position {
        Position(
            latitude: Int32(below(1_800_000_001) - 900_000_000), longitude: Int32(below(3_600_000_001) - 1_800_000_000))
    }
}
