import Crypto
import Testing

@Suite struct SecretsTests {
    /// `b2sum -l 256` of coreutils.
    @Test func digestsAreBLAKE2b() {
        let digest = Secrets.digest(Array("abc".utf8)).map(format).joined()
        #expect(digest == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    }

    /// `hashlib.blake2b(b"abc", key=bytes(range(32)), digest_size=32)` of Python.
    @Test func keyedDigestsAreBLAKE2b() {
        let digest = Secrets.digest(Array("abc".utf8), key: Array(0..<32)).map(format).joined()
        #expect(digest == "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f")
    }

    @Test func codesAreOfTheirPersonAndKey() throws {
        let (key, other) = (
            try CodeKey([UInt8](repeating: 1, count: 32)), try CodeKey([UInt8](repeating: 2, count: 32))
        )
        let digest = key.digest(code: "12345678", campus: "north", person: "g-1")
        #expect(digest == key.digest(code: "12345678", campus: "north", person: "g-1"))
        let others = [
            key.digest(code: "12345679", campus: "north", person: "g-1"),
            key.digest(code: "12345678", campus: "north", person: "g-2"),
            key.digest(code: "12345678", campus: "northg", person: "-1"),
            other.digest(code: "12345678", campus: "north", person: "g-1"),
            Secrets.digest(Array("north\u{0}g-1\u{0}12345678".utf8)),
        ]
        #expect(!others.contains(digest) && Set(others).count == others.count)
        let codes = (0..<1_000).map { _ in CodeKey.randomCode() }
        #expect(codes.allSatisfy { $0.count == 8 && $0.allSatisfy(\.isNumber) } && Set(codes).count > 990)
        #expect(codes.contains { $0.hasPrefix("0") })
        #expect(throws: CodeKey.Fault.self) { try CodeKey([UInt8](repeating: 1, count: 31)) }
    }

    @Test func whatIsSealedOpensWithItsKeyAndUnchanged() throws {
        let (key, other) = (
            try CodeKey([UInt8](repeating: 1, count: 32)), try CodeKey([UInt8](repeating: 2, count: 32))
        )
        let sealed = key.seal(Array("12345678".utf8))
        #expect(key.open(sealed) == Array("12345678".utf8) && other.open(sealed) == nil)
        #expect(sealed != key.seal(Array("12345678".utf8)))
        for at in sealed.indices {
            var changed = sealed
            changed[at] ^= 1
            #expect(key.open(changed) == nil && key.open(Array(sealed[..<at])) == nil)
        }
        #expect(key.open(key.seal([])) == [])
    }

    @Test func tokensAreNewEachTimeAndReadBack() {
        let tokens = (0..<100).map { _ in Token.random() }
        #expect(Set(tokens.map(\.text)).count == 100)
        #expect(Set(tokens.map(\.digest)).count == 100)
        for token in tokens { #expect(Token(token.text) == token) }
    }

    @Test(
        "What is no token",
        arguments: [
            "", "drover_", "drover_" + String(repeating: "A", count: 42), "drover_" + String(repeating: "A", count: 44),
            "dover__" + String(repeating: "A", count: 43), "drover_" + String(repeating: "A", count: 42) + "+",
            "drover_" + String(repeating: "A", count: 42) + "é",
        ])
    func refused(text: String) { #expect(Token(text) == nil) }

    private func format(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    @Test func aKeyIsProvedWithoutTellingIt() {
        let (key, other) = ([UInt8](0..<32), [UInt8](1..<33))
        let code = Secrets.hmacSHA256(Array("what do ya want for nothing?".utf8), key: key)
        #expect(Secrets.isHMACSHA256(code, of: Array("what do ya want for nothing?".utf8), key: key))
        #expect(!Secrets.isHMACSHA256(code, of: Array("what do ya want for nothing?".utf8), key: other))
        #expect(!Secrets.isHMACSHA256(code, of: Array("something else".utf8), key: key))
        #expect(!Secrets.isHMACSHA256([], of: [], key: key))
    }
}
