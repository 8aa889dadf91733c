/// The signs, words, numbers and texts of JSON (RFC 8259), one after the other: what every reader of JSON is made of, but
/// the records' (`JSONScanner`).
struct JSONLexer {
    struct Fault: Error {
        /// Counts bytes from 0.
        let at: Int
    }

    let bytes: [UInt8]
    private(set) var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func blanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    mutating func isAtEnd() -> Bool {
        blanks()
        return at == bytes.count
    }

    /// Whether it comes next; then it is behind us.
    mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        guard comes(sign) else { return false }
        at += 1
        return true
    }

    mutating func comes(_ sign: Unicode.Scalar) -> Bool {
        blanks()
        return next == UInt8(ascii: sign)
    }

    /// A value that is neither list nor object.
    mutating func plain() throws(Fault) -> JSONValue {
        blanks()
        switch next {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Fault) -> JSONValue {
        guard bytes[at...].starts(with: word.utf8) else { throw Fault(at: at) }
        at += word.utf8.count
        return value
    }

    private mutating func digits() -> Int {
        let start = at
        while let byte = next, (0x30...0x39).contains(byte) { at += 1 }
        return at - start
    }

    /// RFC 8259, 6: no leading zero, no leading plus, digits on both sides of the point.
    private mutating func number() throws(Fault) -> String {
        let start = at
        if next == UInt8(ascii: "-") { at += 1 }
        let first = next
        let count = digits()
        guard count > 0, count == 1 || first != UInt8(ascii: "0") else { throw Fault(at: start) }
        if next == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { throw Fault(at: at) }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            at += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { at += 1 }
            guard digits() > 0 else { throw Fault(at: at) }
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    mutating func text() throws(Fault) -> String {
        blanks()
        guard next == UInt8(ascii: "\"") else { throw Fault(at: at) }
        at += 1
        let start = at
        var out: [UInt8] = []
        while let byte = next {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: out, as: UTF8.self) else { throw Fault(at: start) }
                return text
            case UInt8(ascii: "\\"): out += String(try escaped()).utf8
            case 0..<0x20: throw Fault(at: at - 1)
            default: out.append(byte)
            }
        }
        throw Fault(at: at)
    }

    private mutating func escaped() throws(Fault) -> Unicode.Scalar {
        guard let byte = next else { throw Fault(at: at) }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw Fault(at: at - 1)
        }
    }

    /// Two of them make one beyond the first 65,536. NUL is refused: no database takes one in a text.
    private mutating func scalar() throws(Fault) -> Unicode.Scalar {
        let start = at
        var unit = try unit()
        if (0xD800..<0xDC00).contains(unit), skip("\\"), next == UInt8(ascii: "u") {
            at += 1
            let low = try self.unit()
            guard (0xDC00..<0xE000).contains(low) else { throw Fault(at: start) }
            unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard unit != 0, let scalar = Unicode.Scalar(unit) else { throw Fault(at: start) }
        return scalar
    }

    private mutating func unit() throws(Fault) -> UInt32 {
        let digits = bytes[at...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Fault(at: at) }
        at += 4
        return unit
    }
}
