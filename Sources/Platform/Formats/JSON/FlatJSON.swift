/// Parses one JSON object of plain values: texts, numbers, true, false and null (RFC 8259). For people's submissions, with an error per
/// key; records go through `JSONScanner`.
public enum FlatJSON {
    public enum Value: Equatable, Sendable {
        case null
        case bool(Bool)
        /// As written.
        case number(String)
        case text(String)

        /// The same as text to be written.
        public var value: JSONValue {
            switch self {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let text): .number(text)
            case .text(let text): .text(text)
            }
        }
    }

    public enum Fault: Error, Equatable, CustomStringConvertible {
        case tooLarge(bytes: Int, most: Int)
        /// The place counts bytes from 0.
        case notJSON(at: Int)
        /// A list or an object.
        case notPlain(key: String)
        case repeated(key: String)
        /// A number that not every reader takes: `JSONNumber`.
        case numberBeyond(key: String)

        public var description: String {
            switch self {
            case .tooLarge(let bytes, let most): "\(bytes) bytes, at most \(most) are read"
            case .notJSON(let at): "not a JSON object: see byte \(at)"
            case .notPlain(let key): "`\(key)` must be a text, a number, true, false or null"
            case .repeated(let key): "`\(key)` stands there more than once"
            case .numberBeyond(let key): "`\(key)` is a number \(JSONNumber.rule)"
            }
        }
    }

    public typealias Field = (key: String, value: Value)

    /// The fields in their order, each key once.
    public static func fields(_ bytes: [UInt8], bytesMax: Int) throws(Fault) -> [Field] {
        guard bytes.count <= bytesMax else { throw .tooLarge(bytes: bytes.count, most: bytesMax) }
        var reader = FlatReader(bytes: bytes)
        return try reader.object()
    }
}

/// The lexer that both JSON readers share.
struct FlatReader {
    let bytes: [UInt8]
    var at = 0

    mutating func object() throws(FlatJSON.Fault) -> [FlatJSON.Field] {
        // A set: a record may hold as many unknown keys as its bytes have room for.
        var (fields, keys): ([FlatJSON.Field], Set<String>) = ([], [])
        try expect("{")
        if !skip("}") {
            repeat {
                blanks()
                let key = try text()
                guard keys.insert(key).inserted else { throw .repeated(key: key) }
                try expect(":")
                let value = try value(of: key)
                if case .number(let text) = value, !JSONNumber.isReadable(text) { throw .numberBeyond(key: key) }
                fields.append((key, value))
            } while skip(",")
            try expect("}")
        }
        blanks()
        guard at == bytes.count else { throw .notJSON(at: at) }
        return fields
    }

    var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func blanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        blanks()
        guard next == UInt8(ascii: sign) else { return false }
        at += 1
        return true
    }

    mutating func expect(_ sign: Unicode.Scalar) throws(FlatJSON.Fault) {
        guard skip(sign) else { throw .notJSON(at: at) }
    }

    mutating func value(of key: String) throws(FlatJSON.Fault) -> FlatJSON.Value {
        blanks()
        switch next {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "{"), UInt8(ascii: "["): throw .notPlain(key: key)
        default: return .number(try number())
        }
    }

    mutating func word(_ word: String, _ value: FlatJSON.Value) throws(FlatJSON.Fault) -> FlatJSON.Value {
        guard bytes[at...].starts(with: word.utf8) else { throw .notJSON(at: at) }
        at += word.utf8.count
        return value
    }

    private mutating func digits() -> Int {
        let start = at
        while let byte = next, (0x30...0x39).contains(byte) { at += 1 }
        return at - start
    }

    /// RFC 8259, 6: no leading zero, no leading plus, digits on both sides of the point.
    mutating func number() throws(FlatJSON.Fault) -> String {
        let start = at
        if next == UInt8(ascii: "-") { at += 1 }
        let first = next
        let count = digits()
        guard count > 0, count == 1 || first != UInt8(ascii: "0") else { throw .notJSON(at: start) }
        if next == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { throw .notJSON(at: at) }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            at += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { at += 1 }
            guard digits() > 0 else { throw .notJSON(at: at) }
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    mutating func text() throws(FlatJSON.Fault) -> String {
        guard next == UInt8(ascii: "\"") else { throw .notJSON(at: at) }
        at += 1
        let start = at
        var out: [UInt8] = []
        while let byte = next {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: out, as: UTF8.self) else { throw .notJSON(at: start) }
                return text
            case UInt8(ascii: "\\"): out += String(try escaped()).utf8
            case 0..<0x20: throw .notJSON(at: at - 1)
            default: out.append(byte)
            }
        }
        throw .notJSON(at: at)
    }

    private mutating func escaped() throws(FlatJSON.Fault) -> Unicode.Scalar {
        guard let byte = next else { throw .notJSON(at: at) }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw .notJSON(at: at - 1)
        }
    }

    /// Two of them make one beyond the first 65,536. NUL is refused: no database takes one in a text.
    private mutating func scalar() throws(FlatJSON.Fault) -> Unicode.Scalar {
        let start = at
        var unit = try unit()
        if (0xD800..<0xDC00).contains(unit), skip("\\"), next == UInt8(ascii: "u") {
            at += 1
            let low = try self.unit()
            guard (0xDC00..<0xE000).contains(low) else { throw .notJSON(at: start) }
            unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard unit != 0, let scalar = Unicode.Scalar(unit) else { throw .notJSON(at: start) }
        return scalar
    }

    private mutating func unit() throws(FlatJSON.Fault) -> UInt32 {
        let digits = bytes[at...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .notJSON(at: at) }
        at += 4
        return unit
    }
}
