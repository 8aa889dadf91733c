internal import Basics
internal import CSodium

/// Codes of the time (TOTP, RFC 6238, over HOTP, RFC 4226): SHA-1, six digits, 30 s, as every authenticator program takes them.
package enum OneTimeCode {
    package static let secretBytes = 20
    package static let digits = 6
    private static let stepMs: Int64 = 30_000
    /// Clocks of phones may be so many steps off.
    private static let slack: Int64 = 1

    package static func randomSecret() -> [UInt8] { Secrets.random(secretBytes) }

    package static func step(ofMs now: Int64) -> Int64 { now / stepMs }

    /// The step that the code is of, one that is newer than the last one that was taken; nil: it is another code.
    /// Codes of all steps are compared, each in the same time, whatever matches.
    package static func step(of code: String, secret: [UInt8], atMs now: Int64, after last: Int64) -> Int64? {
        var found: Int64?
        for step in step(ofMs: now) - slack...step(ofMs: now) + slack {
            if isSame(Array(code.utf8), Array(text(secret, step: step).utf8)), step > last { found = step }
        }
        return found
    }

    /// RFC 4226, 5.3.
    package static func text(_ secret: [UInt8], step: Int64, digits: Int = digits) -> String {
        let counter = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: step >> Int64($0)) }
        let digest = HMAC.code(.sha1, of: counter, key: secret)
        let at = Int(digest[19] & 0x0F)
        let number = digest[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let bound = (0..<digits).reduce(UInt32(1)) { bound, _ in bound * 10 }
        let text = String(number % bound)
        return String(repeating: "0", count: digits - text.count) + text
    }

    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe sodium_memcmp(one, other, one.count) == 0
    }

    /// The address that authenticator apps read as a link or picture (Google Authenticator's "Key Uri Format").
    package static func address(_ secret: [UInt8], account: String, issuer: String) -> String {
        let (issuer, account) = (PercentEncoding.text(issuer), PercentEncoding.text(account))
        return "otpauth://totp/\(issuer):\(account)?secret=\(Base32.text(secret))&issuer=\(issuer)"
            + "&algorithm=SHA1&digits=\(digits)&period=\(stepMs / 1_000)"
    }
}

/// RFC 4648, 6, without padding: letters and digits that people tell apart.
package enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var (text, bits, count): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count = count + 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> count & 31)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Single-use codes for people who lost their phone: 80 random bits, written down.
package enum RecoveryCode {
    package static let count = 10
    private static let letters = 16

    /// Like `K3QX-7ZPA-…`, four by four.
    package static func random() -> String {
        let text = Array(Base32.text(Secrets.random(letters * 5 / 8)))
        return stride(from: 0, to: letters, by: 4).map { String(text[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// The stored form of a code, bound to its account; nil when it is not well-formed. Blanks, hyphens and case do not matter.
    package static func digest(_ code: String, account: String) -> [UInt8]? {
        let text = code.uppercased().filter { !" -".contains($0) }
        guard text.utf8.count == letters, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            return nil
        }
        return Secrets.digest(Array("drover recovery\u{0}\(account)\u{0}\(text)".utf8))
    }
}
