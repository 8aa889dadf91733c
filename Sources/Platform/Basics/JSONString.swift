/// A text as JSON has it (RFC 8259, 7).
public enum JSONString {
    public static func quoted(_ text: String) -> String {
        var json = ""
        append(text, to: &json)
        return json
    }

    public static func append(_ text: String, to json: inout String) {
        // Most need no look at each scalar.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else {
            json += "\""
            json += text
            json += "\""
            return
        }
        append(text, to: &json) { $0.value < 0x20 ? escape($0) : nil }
    }

    /// - Parameter special: how a character is written that does not stand for itself, quotes, backslashes, line ends and tabs aside; at
    ///   least those below U+0020 are none in JSON.
    public static func append(_ text: String, to line: inout String, special: (Unicode.Scalar) -> String?) {
        line += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            default: if let written = special(scalar) { line += written } else { line.unicodeScalars.append(scalar) }
            }
        }
        line += "\""
    }

    /// Precondition: one of the first 65,536.
    public static func escape(_ scalar: Unicode.Scalar) -> String {
        "\\u" + Hex.text([UInt8(scalar.value >> 8), UInt8(scalar.value & 0xFF)])
    }
}
