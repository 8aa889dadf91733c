extension JSONValue {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case tooLarge(bytes: Int, most: Int)
        /// The place counts bytes from 0.
        case notJSON(at: Int)
        case tooDeep(most: Int)
        case tooMany(most: Int)

        public var description: String {
            switch self {
            case .tooLarge(let bytes, let most): "\(bytes) bytes, at most \(most) are read"
            case .notJSON(let at): "not JSON: see byte \(at)"
            case .tooDeep(let most): "nested more than \(most) deep"
            case .tooMany(let most): "more than \(most) values"
            }
        }
    }

    public static let depthMax = 16

    /// Bounded in bytes, depth and number of values.
    public init(_ bytes: [UInt8], bytesMax: Int = 4 << 20, valuesMax: Int = 200_000) throws(Fault) {
        guard bytes.count <= bytesMax else { throw .tooLarge(bytes: bytes.count, most: bytesMax) }
        var reader = Reader(lexer: JSONLexer(bytes: bytes), valuesMax: valuesMax)
        self = try reader.whole()
    }

    private struct Reader {
        var lexer: JSONLexer
        let valuesMax: Int
        private var values = 0

        init(lexer: JSONLexer, valuesMax: Int) {
            self.lexer = lexer
            self.valuesMax = valuesMax
        }

        mutating func whole() throws(Fault) -> JSONValue {
            let value = try value(depth: 0)
            guard lexer.isAtEnd() else { throw .notJSON(at: lexer.at) }
            return value
        }

        private mutating func value(depth: Int) throws(Fault) -> JSONValue {
            values += 1
            guard values <= valuesMax else { throw .tooMany(most: valuesMax) }
            guard depth <= depthMax else { throw .tooDeep(most: depthMax) }
            if lexer.skip("[") { return try list(depth: depth + 1) }
            if lexer.skip("{") { return try object(depth: depth + 1) }
            return try plain()
        }

        private mutating func plain() throws(Fault) -> JSONValue {
            do throws(JSONLexer.Fault) { return try lexer.plain() } catch { throw .notJSON(at: lexer.at) }
        }

        private mutating func list(depth: Int) throws(Fault) -> JSONValue {
            if lexer.skip("]") { return .list([]) }
            var items: [JSONValue] = []
            repeat { items.append(try value(depth: depth)) } while lexer.skip(",")
            guard lexer.skip("]") else { throw .notJSON(at: lexer.at) }
            return .list(items)
        }

        private mutating func object(depth: Int) throws(Fault) -> JSONValue {
            if lexer.skip("}") { return .object([]) }
            var fields: [Field] = []
            repeat {
                guard case .text(let key) = try plain(), lexer.skip(":") else { throw .notJSON(at: lexer.at) }
                fields.append((key, try value(depth: depth)))
            } while lexer.skip(",")
            guard lexer.skip("}") else { throw .notJSON(at: lexer.at) }
            return .object(fields)
        }
    }
}
