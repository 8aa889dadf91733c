/// Base64 for addresses, without padding (RFC 4648, 5).
package enum Base64URL {
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var (text, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count = count + 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil: other characters, or a length that no bytes have.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for character in text.utf8 {
            guard let digit = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count = count + 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return text.utf8.count % 4 == 1 ? nil : bytes
    }
}
