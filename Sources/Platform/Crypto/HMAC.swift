internal import COpenSSL
internal import CSodium

/// Proves a key without telling it (RFC 2104); a key of any length.
package enum HMAC {
    package enum Digest {
        /// For one-time codes as authenticator programs make them, and for nothing else: under HMAC it still holds.
        case sha1
        case sha256

        fileprivate var method: OpaquePointer? {
            switch self {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            }
        }
    }

    package static func code(_ digest: Digest, of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var (code, count) = ([UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE)), UInt32(0))
        // A NULL key would mean the one before.
        let made = unsafe COpenSSL.HMAC(
            digest.method, key.isEmpty ? [0] : key, Int32(key.count), bytes, bytes.count, &code, &count)
        guard unsafe made != nil else { preconditionFailure("OpenSSL makes no HMAC") }
        return Array(code.prefix(Int(count)))
    }
}

extension Secrets {
    /// HMAC-SHA-256, where others say which it is.
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        HMAC.code(.sha256, of: bytes, key: key)
    }

    /// Whether it is the HMAC-SHA-256 of these bytes. Takes the same time whatever differs.
    package static func isHMACSHA256(_ code: [UInt8], of bytes: [UInt8], key: [UInt8]) -> Bool {
        unsafe code.count == 32 && sodium_memcmp(code, hmacSHA256(bytes, key: key), 32) == 0
    }
}
