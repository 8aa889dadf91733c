internal import CSodium

/// Chance and digests from libsodium.
package enum Secrets {
    /// Unpredictable bytes.
    package static func random(_ count: Int) -> [UInt8] {
        start()
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe randombytes_buf(&bytes, count)
        return bytes
    }

    /// 0 to `bound` - 1, each as likely as any other.
    package static func random(below bound: UInt32) -> UInt32 {
        start()
        return randombytes_uniform(bound)
    }

    package static let digestBytes = 32

    /// BLAKE2b, 256 bits. For what cannot be guessed: a password needs a slow hash.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        start()
        var digest = [UInt8](repeating: 0, count: digestBytes)
        unsafe crypto_generichash(&digest, digestBytes, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }

    /// The same under a key of `digestBytes`: for what can be guessed, where the key is kept apart.
    package static func digest(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(key.count == digestBytes, "a key of another length")
        start()
        var digest = [UInt8](repeating: 0, count: digestBytes)
        unsafe crypto_generichash(&digest, digestBytes, bytes, UInt64(bytes.count), key, key.count)
        return digest
    }

    /// SHA-256 (FIPS 180-4), where others say which digest it is.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        start()
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return digest
    }

    /// Cheap to repeat, and safe from several threads (libsodium manual, "Usage").
    fileprivate static func start() { precondition(sodium_init() >= 0, "libsodium finds no source of chance") }
}
