import Secrets
import Testing

@Suite struct SecretsTests {
    /// `b2sum -l 256` of coreutils.
    @Test func digestsAreBLAKE2b() {
        let digest = Secrets.digest(Array("abc".utf8)).map(format).joined()
        #expect(digest == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
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
}
