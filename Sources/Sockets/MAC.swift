internal import CSodium

/// Message authentication (HMAC-SHA-256): proves a key without telling it.
public enum MAC {
    public static let keyBytes = 32

    /// Precondition: the key has `keyBytes`.
    public static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(key.count == keyBytes)
        var code = [UInt8](repeating: 0, count: 32)
        unsafe crypto_auth_hmacsha256(&code, message, UInt64(message.count), key)
        return code
    }

    /// Takes the same time whatever differs.
    public static func isRight(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        precondition(key.count == keyBytes)
        guard code.count == 32 else { return false }
        return unsafe crypto_auth_hmacsha256_verify(code, message, UInt64(message.count), key) == 0
    }
}
