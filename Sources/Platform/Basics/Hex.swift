/// Bytes as hexadecimal digits, and back.
public enum Hex {
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// 0 to 15, or nil when the character is no hexadecimal digit.
    public static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x37
        case 0x61...0x66: character - 0x57
        default: nil
        }
    }

    /// The bytes of an even number of hexadecimal digits; nil for any other text.
    public static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.compactMap(digit)
        return digits.count == text.utf8.count && digits.count % 2 == 0 ? bytes(digits) : nil
    }

    /// Two digits, each 0 to 15, a byte; one left over at the end is left out.
    public static func bytes(_ digits: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
