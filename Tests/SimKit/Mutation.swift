/// Changes an input by chance: what a decoder of bytes from outside is tried with. The same seed makes the same inputs.
public struct Mutation {
    private var chance: SeededChance
    private let corpus: [[UInt8]]
    /// Words that mean something to the decoder, put in anywhere.
    private let tokens: [[UInt8]]
    private static let bytesMax = 65_536
    private static let oddBytes: [UInt8] = [
        0, 1, 0x0A, 0x20, 0x22, 0x3C, 0x5B, 0x5C, 0x7B, 0x7F, 0x80, 0xC3, 0xFE, 0xFF,
    ]

    public init(seed: UInt64, corpus: [[UInt8]], tokens: [String] = []) {
        precondition(!corpus.isEmpty)
        (chance, self.corpus, self.tokens) = (SeededChance(seed: seed), corpus, tokens.map { Array($0.utf8) })
    }

    /// One of the corpus with one to eight changes.
    public mutating func next() -> [UInt8] {
        var bytes = pick(corpus)
        for _ in 0...chance.below(8) { change(&bytes) }
        return Array(bytes.prefix(Mutation.bytesMax))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes = pick(corpus) }
        let at = place(bytes.count)
        switch chance.below(11) {
        case 0: bytes[at] ^= 1 << UInt8(chance.below(8))
        case 1: bytes[at] = pick(Mutation.oddBytes)
        case 2: bytes[at] = UInt8(chance.below(256))
        case 3: bytes.insert(pick(Mutation.oddBytes), at: at)
        case 4: bytes.removeSubrange(at..<min(bytes.count, at + 1 + place(16)))
        case 5: bytes.removeLast(bytes.count - at)
        case 6:
            let part = Array(bytes[at..<min(bytes.count, at + 1 + place(64))])
            bytes.insert(
                contentsOf: repeatElement(part, count: 1 + place(chance.once(in: 8) ? 200 : 3)).joined(), at: at)
        case 7:
            let other = pick(corpus)
            bytes = bytes[..<at] + other.suffix(other.count - place(other.count + 1))
        case 8: number(&bytes, at)
        case 9 where !tokens.isEmpty: bytes.insert(contentsOf: pick(tokens), at: at)
        default: bytes.swapAt(at, place(bytes.count))
        }
    }

    /// A length that is not one: all bits, none, just beyond the end; in both byte orders.
    private mutating func number(_ bytes: inout [UInt8], _ at: Int) {
        let width = [1, 2, 4, 8][place(4)]
        let value: UInt64 = [
            0, 1, .max, .max >> 1, 1 << 31, UInt64(bytes.count), UInt64(bytes.count - at), 0xFFFF_FFF0,
        ][place(8)]
        let isLittle = chance.once(in: 2)
        for index in 0..<width where at + index < bytes.count {
            bytes[at + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (isLittle ? index : width - 1 - index)))
        }
    }

    private mutating func place(_ count: Int) -> Int { Int(chance.below(Int64(count))) }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[place(choices.count)] }
}
