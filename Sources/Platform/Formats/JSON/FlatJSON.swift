/// Parses one JSON object of plain values: texts, numbers, true, false and null (RFC 8259). For people's submissions, with an error per
/// key; records go through `JSONScanner`.
public enum FlatJSON {
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

    /// The fields in their order, each key once, none a list or an object.
    public static func fields(_ bytes: [UInt8], bytesMax: Int) throws(Fault) -> [JSONValue.Field] {
        guard bytes.count <= bytesMax else { throw .tooLarge(bytes: bytes.count, most: bytesMax) }
        var lexer = JSONLexer(bytes: bytes)
        let fields = try object(&lexer)
        guard lexer.isAtEnd() else { throw .notJSON(at: lexer.at) }
        return fields
    }

    private static func object(_ lexer: inout JSONLexer) throws(Fault) -> [JSONValue.Field] {
        guard lexer.skip("{") else { throw .notJSON(at: lexer.at) }
        if lexer.skip("}") { return [] }
        var fields: [JSONValue.Field] = []
        // A set: a record may hold as many unknown keys as its bytes have room for.
        var keys: Set<String> = []
        repeat {
            let key = try lexed { () throws(JSONLexer.Fault) in try lexer.text() }
            guard keys.insert(key).inserted else { throw .repeated(key: key) }
            guard lexer.skip(":") else { throw .notJSON(at: lexer.at) }
            fields.append((key, try value(of: key, &lexer)))
        } while lexer.skip(",")
        guard lexer.skip("}") else { throw .notJSON(at: lexer.at) }
        return fields
    }

    private static func value(of key: String, _ lexer: inout JSONLexer) throws(Fault) -> JSONValue {
        guard !lexer.comes("{"), !lexer.comes("[") else { throw .notPlain(key: key) }
        let value = try lexed { () throws(JSONLexer.Fault) in try lexer.plain() }
        if case .number(let text) = value, !JSONNumber.isReadable(text) { throw .numberBeyond(key: key) }
        return value
    }

    private static func lexed<Value>(_ read: () throws(JSONLexer.Fault) -> Value) throws(Fault) -> Value {
        do throws(JSONLexer.Fault) { return try read() } catch { throw .notJSON(at: error.at) }
    }
}
