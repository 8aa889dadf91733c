internal import CSodium

/// The key under which codes of few digits are kept. It is in a file of the page's and of `drover notify`, never in the
/// database: who reads the tables can try no code against them, and reads none in mail that waits.
public struct CodeKey: Sendable {
    public struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    public static let bytesMin = 32
    private static let bytesMax = 4_096
    private let codes, mail, links: [UInt8]

    /// Of a file's bytes, whatever they are: 32 or more that nobody can guess (`openssl rand -out FILE 32`).
    public init(_ bytes: [UInt8]) throws {
        guard (CodeKey.bytesMin...CodeKey.bytesMax).contains(bytes.count) else {
            throw Fault(
                description: "holds \(bytes.count) bytes, must hold \(CodeKey.bytesMin) to \(CodeKey.bytesMax): "
                    + "make it with `openssl rand -out FILE 32`")
        }
        // One key a use, so that what is learned of one says nothing of the other.
        codes = Secrets.digest(Array("drover code".utf8), key: Secrets.digest(bytes))
        mail = Secrets.digest(Array("drover mail".utf8), key: Secrets.digest(bytes))
        links = Secrets.digest(Array("drover link".utf8), key: Secrets.digest(bytes))
    }

    /// Eight digits, each as likely as any other.
    public static func randomCode() -> String {
        let digits = String(Secrets.random(below: 100_000_000))
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// What is kept of a person's code: keyed BLAKE2b over whose it is and the code.
    public func digest(code: String, campus: String, person: String) -> [UInt8] {
        Secrets.digest(Array("\(campus)\u{0}\(person)\u{0}\(code)".utf8), key: codes)
    }

    /// What a mailed link shows: of its purpose and what it is for always the same, and nobody without the key knows it.
    public func link(_ purpose: String, _ of: String) -> Token {
        Token(secret: Secrets.digest(Array("\(purpose)\u{0}\(of)".utf8), key: links))
    }

    /// Encrypted and authenticated (XSalsa20-Poly1305) with a nonce of chance in front.
    public func seal(_ bytes: [UInt8]) -> [UInt8] {
        let nonce = Secrets.random(Int(crypto_secretbox_NONCEBYTES))
        var box = [UInt8](repeating: 0, count: bytes.count + Int(crypto_secretbox_MACBYTES))
        unsafe crypto_secretbox_easy(&box, bytes, UInt64(bytes.count), nonce, mail)
        return nonce + box
    }

    /// Nil: sealed with another key, or changed since.
    public func open(_ sealed: [UInt8]) -> [UInt8]? {
        let (nonce, box) = (
            Array(sealed.prefix(Int(crypto_secretbox_NONCEBYTES))),
            Array(sealed.dropFirst(Int(crypto_secretbox_NONCEBYTES)))
        )
        guard box.count >= Int(crypto_secretbox_MACBYTES) else { return nil }
        var bytes = [UInt8](repeating: 0, count: box.count - Int(crypto_secretbox_MACBYTES))
        let code = unsafe crypto_secretbox_open_easy(&bytes, box, UInt64(box.count), nonce, mail)
        return code == 0 ? bytes : nil
    }
}
