internal import CSodium

/// Chance and digests from libsodium.
public enum Secrets {
    /// Unpredictable bytes.
    public static func random(_ count: Int) -> [UInt8] {
        start()
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe randombytes_buf(&bytes, count)
        return bytes
    }

    public static let digestBytes = 32

    /// BLAKE2b, 256 bits. For what cannot be guessed: a password needs a slow hash.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        start()
        var digest = [UInt8](repeating: 0, count: digestBytes)
        unsafe crypto_generichash(&digest, digestBytes, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }

    /// Cheap to repeat, and safe from several threads (libsodium manual, "Usage").
    private static func start() { precondition(sodium_init() >= 0, "libsodium finds no source of chance") }
}
