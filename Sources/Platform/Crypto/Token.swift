/// A bearer token: what a program shows to be let in. It is known in full only when it is made.
package struct Token: Sendable, Equatable {
    /// `drover_` and 256 bits of chance as base64url: recognisable to scanners for leaked secrets.
    package let text: String

    private static let prefix = "drover_"
    private static let secretBytes = 32

    package static func random() -> Token { Token(text: prefix + Base64URL.text(Secrets.random(secretBytes))) }

    /// A token from unguessable bytes, such as `CodeKey` makes.
    init(secret: [UInt8]) { self.init(text: Token.prefix + Base64URL.text(secret)) }

    /// Nil: not of the form of a token, so that nobody has to be asked about it.
    package init?(_ text: String) {
        let secret = text.utf8.dropFirst(Token.prefix.utf8.count)
        guard text.hasPrefix(Token.prefix), secret.count == (Token.secretBytes * 8 + 5) / 6,
            secret.allSatisfy(Base64URL.alphabet.contains)
        else { return nil }
        self.text = text
    }

    private init(text: String) { self.text = text }

    /// The stored form. One fast hash is enough: a reader of the table must not be able to present a token, and 256 random bits cannot be
    /// enumerated. Salt or a key would add nothing, because no two tokens are equal and none is likely.
    package var digest: [UInt8] { Secrets.digest(Array(text.utf8)) }
}
