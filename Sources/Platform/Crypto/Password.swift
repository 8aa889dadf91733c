internal import CSodium

/// Argon2id (RFC 9106) for passwords. The stored and compared value is a digest of its output, made here and compared in the database, so
/// that readers of the database get nothing to test passwords against.
package enum Password {
    /// The cost of one try.
    package struct Cost: Equatable, Sendable {
        package let memoryKiB: Int32
        package let passes: Int32
        package init(memoryKiB: Int32, passes: Int32) { (self.memoryKiB, self.passes) = (memoryKiB, passes) }
        /// libsodium's for log-ins; OWASP's Password Storage Cheat Sheet asks for 19 MiB and two passes at least.
        package static let standard = Cost(memoryKiB: 65_536, passes: 2)
        fileprivate static let memoryKiBMax: Int32 = 1 << 20
        fileprivate static let passesMax: Int32 = 16
    }

    package static let saltBytes = 16
    /// In bytes of UTF-8. NIST SP 800-63B: 8 characters at least, 64 and more must be taken, no rules of composition.
    package static let length = 10...200

    /// Two at a time, since each holds its memory, and four that wait: a flood of log-ins holds 6 of the 12 threads that
    /// answer pages.
    private static let line = ConcurrencyLimiter(atWork: 2, waiting: 4)

    /// True when another hash would be refused. Ask before counting a try.
    package static var isBusy: Bool { line.isFull }

    package static func randomSalt() -> [UInt8] { Secrets.random(saltBytes) }

    /// Takes some 60 ms of a core. Nil: the cost is invalid, or too many are waiting.
    package static func digest(_ password: String, salt: [UInt8], cost: Cost = .standard) -> [UInt8]? {
        guard salt.count == saltBytes, (8...Cost.memoryKiBMax).contains(cost.memoryKiB),
            (1...Cost.passesMax).contains(cost.passes)
        else { return nil }
        return line.run { made(password, salt: salt, cost: cost) } ?? nil
    }

    private static func made(_ password: String, salt: [UInt8], cost: Cost) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: 32)
        let text = password.utf8.map { CChar(bitPattern: $0) }
        let code = unsafe crypto_pwhash(
            &key, UInt64(key.count), text, UInt64(text.count), salt, UInt64(cost.passes), Int(cost.memoryKiB) * 1_024,
            crypto_pwhash_ALG_ARGON2ID13)
        return code == 0 ? Secrets.digest(key) : nil
    }
}
