internal import CSodium

/// The key for short codes and for sealed values. It is in a file of the page's and of `drover notify`, never in the database: readers of
/// the tables can test no code against them, and can read neither waiting mail nor a second factor. During a change of keys there are two:
/// new values are made with the first, and values of the previous one still hold.
package struct CodeKey: Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    /// The purposes of sealing, each with its own key: learning one reveals nothing of the other.
    package enum Use: Sendable { case mail, secondFactor }

    package static let bytesMin = 32
    private static let bytesMax = 4_096
    private let now: Keys
    private let before: Keys?

    /// Keys from the bytes of a file: at least 32 that nobody can guess (`openssl rand -out FILE 32`).
    package init(_ bytes: [UInt8], before old: [UInt8]? = nil) throws {
        now = try Keys(bytes)
        before = try old.map { try Keys($0) }
    }

    /// Eight digits, each as likely as any other.
    package static func randomCode() -> String {
        let digits = String(Secrets.random(below: 100_000_000))
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The stored form of a person's code: keyed BLAKE2b over the person and the code.
    package func digest(code: String, campus: String, person: String) -> [UInt8] {
        CodeKey.digest(code, campus, person, now.codes)
    }

    /// The same of a code that was mailed before the keys were changed; nil: there is no key from before.
    package func digestBefore(code: String, campus: String, person: String) -> [UInt8]? {
        before.map { CodeKey.digest(code, campus, person, $0.codes) }
    }

    private static func digest(_ code: String, _ campus: String, _ person: String, _ key: [UInt8]) -> [UInt8] {
        Secrets.digest(Array("\(campus)\u{0}\(person)\u{0}\(code)".utf8), key: key)
    }

    /// The token in a mailed link: always the same for one purpose and subject, and unknown without the key.
    package func link(_ purpose: String, _ of: String) -> Token { CodeKey.link(purpose, of, now.links) }

    /// Whether a link is that of its purpose, by either key.
    package func isLink(_ shown: Token, _ purpose: String, _ of: String) -> Bool {
        // Digests: how long it takes to compare them says nothing of the link.
        [now, before].contains { keys in keys.map { CodeKey.link(purpose, of, $0.links).digest } == shown.digest }
    }

    private static func link(_ purpose: String, _ of: String, _ key: [UInt8]) -> Token {
        Token(secret: Secrets.digest(Array("\(purpose)\u{0}\(of)".utf8), key: key))
    }

    /// Encrypted and authenticated (XSalsa20-Poly1305) with a nonce of chance in front.
    package func seal(_ bytes: [UInt8], for use: Use = .mail) -> [UInt8] {
        let nonce = Secrets.random(Int(crypto_secretbox_NONCEBYTES))
        var box = [UInt8](repeating: 0, count: bytes.count + Int(crypto_secretbox_MACBYTES))
        unsafe crypto_secretbox_easy(&box, bytes, UInt64(bytes.count), nonce, now.key(use))
        return nonce + box
    }

    /// Nil: sealed with neither key, or changed since.
    package func open(_ sealed: [UInt8], for use: Use = .mail) -> [UInt8]? {
        CodeKey.open(sealed, now.key(use)) ?? before.flatMap { CodeKey.open(sealed, $0.key(use)) }
    }

    /// It opens with the key of before alone.
    package func needsKeyBefore(_ sealed: [UInt8], for use: Use = .mail) -> Bool {
        CodeKey.open(sealed, now.key(use)) == nil && open(sealed, for: use) != nil
    }

    private static func open(_ sealed: [UInt8], _ key: [UInt8]) -> [UInt8]? {
        let (nonce, box) = (
            Array(sealed.prefix(Int(crypto_secretbox_NONCEBYTES))),
            Array(sealed.dropFirst(Int(crypto_secretbox_NONCEBYTES)))
        )
        guard box.count >= Int(crypto_secretbox_MACBYTES) else { return nil }
        var bytes = [UInt8](repeating: 0, count: box.count - Int(crypto_secretbox_MACBYTES))
        let code = unsafe crypto_secretbox_open_easy(&bytes, box, UInt64(box.count), nonce, key)
        return code == 0 ? bytes : nil
    }

    /// One key a use, of one file.
    private struct Keys {
        let codes, links: [UInt8]
        private let mail, secondFactor: [UInt8]

        init(_ bytes: [UInt8]) throws {
            guard (CodeKey.bytesMin...CodeKey.bytesMax).contains(bytes.count) else {
                throw Fault(
                    description: "holds \(bytes.count) bytes, must hold \(CodeKey.bytesMin) to \(CodeKey.bytesMax): "
                        + "make it with `openssl rand -out FILE 32`")
            }
            let whole = Secrets.digest(bytes)
            codes = Secrets.digest(Array("drover code".utf8), key: whole)
            links = Secrets.digest(Array("drover link".utf8), key: whole)
            mail = Secrets.digest(Array("drover mail".utf8), key: whole)
            secondFactor = Secrets.digest(Array("drover second factor".utf8), key: whole)
        }

        func key(_ use: Use) -> [UInt8] {
            switch use {
            case .mail: mail
            case .secondFactor: secondFactor
            }
        }
    }
}
