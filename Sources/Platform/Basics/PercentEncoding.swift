/// Text in addresses (RFC 3986, 2.1).
public enum PercentEncoding {
    /// A segment of a path, or a name or value of a query: all but what is unreserved (2.3) is escaped.
    public static func text(_ plain: String) -> String {
        var text = ""
        for byte in plain.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hex.text([byte]).uppercased()
            }
        }
        return text
    }

    /// Nil where a percent sign is not followed by two digits.
    /// - Parameter plusIsSpace: as in queries and forms.
    public static func bytes(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(Hex.digit), let low = rest.popFirst().flatMap(Hex.digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }
}
