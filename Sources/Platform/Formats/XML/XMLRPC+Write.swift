extension XMLRPC {
    public static func response(_ value: Value) -> [UInt8] {
        document("<params><param>" + text(of: value) + "</param></params>")
    }

    /// - Parameter code: stable, for programs.
    public static func fault(code: Int32, _ reason: String) -> [UInt8] {
        document(
            "<fault>"
                + text(
                    of: .structure([
                        Member("faultCode", .integer(Int64(code))), Member("faultString", .text(reason)),
                    ])) + "</fault>")
    }

    private static func document(_ inner: String) -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<methodResponse>\(inner)</methodResponse>\n".utf8)
    }

    private static func text(of value: Value) -> String {
        let inner =
            switch value {
            case .integer(let number):
                Int32(exactly: number) == nil ? "<i8>\(number)</i8>" : "<int>\(number)</int>"
            case .bool(let isTrue): "<boolean>\(isTrue ? 1 : 0)</boolean>"
            case .double(let number): "<double>\(number)</double>"
            case .text(let text): "<string>\(escaped(text))</string>"
            case .time(let text): "<dateTime.iso8601>\(escaped(text))</dateTime.iso8601>"
            case .bytes(let bytes): "<base64>\(Base64.text(bytes))</base64>"
            case .list(let values): "<array><data>\(values.map(text(of:)).joined())</data></array>"
            case .structure(let members):
                "<struct>"
                    + members.map { "<member><name>\(escaped($0.name))</name>\(text(of: $0.value))</member>" }.joined()
                    + "</struct>"
            case .null: "<nil/>"
            }
        return "<value>\(inner)</value>"
    }

    /// Characters that XML 1.0 does not allow (2.2) become the replacement character.
    public static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\r": out += "&#13;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}

extension Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                out.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : 0x3D)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
