/// A bearer token: what a program shows to be let in. It is known in full only when it is made.
package struct Token: Sendable, Equatable {
    /// `drover_` and 256 bits of chance as base64url: recognisable to scanners for leaked secrets.
    package let text: String

    private static let prefix = "drover_"
    private static let secretBytes = 32

    package static func random() -> Token { Token(text: prefix + Base64URL.text(Secrets.random(secretBytes))) }

    /// Of bytes that nobody can guess: `CodeKey` makes some.
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

    /// What is kept of it. One fast hash is right here: it is there so that who reads the table can show no token, and
    /// 256 random bits cannot be tried through however fast one tries. Salt or key would add nothing: no two tokens
    /// are the same, and no table of likely ones can be made.
    package var digest: [UInt8] { Secrets.digest(Array(text.utf8)) }
}
