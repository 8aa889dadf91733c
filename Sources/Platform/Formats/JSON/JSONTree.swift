/// One JSON value of any shape, for the answers of services: bounded in bytes, depth and number of values. Records go
/// through `JSONScanner`, which is far faster.
public indirect enum JSONTree: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case text(String)
    case list([JSONTree])
    /// Keys in their order; of repeated ones the first counts.
    case object([Field])

    public struct Field: Equatable, Sendable {
        public let key: String
        public let value: JSONTree
        public init(key: String, value: JSONTree) { (self.key, self.value) = (key, value) }
    }

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

    public init(_ bytes: [UInt8], bytesMax: Int = 4 << 20, valuesMax: Int = 200_000) throws(Fault) {
        guard bytes.count <= bytesMax else { throw .tooLarge(bytes: bytes.count, most: bytesMax) }
        var reader = TreeReader(FlatReader(bytes: bytes), valuesMax: valuesMax)
        self = try reader.whole()
    }

    public subscript(_ key: String) -> JSONTree? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.key == key }?.value
    }

    public subscript(_ index: Int) -> JSONTree? {
        guard case .list(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }

    public var items: [JSONTree]? { if case .list(let items) = self { items } else { nil } }
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    public var isNull: Bool { self == .null }

    /// The same as text to be written: numbers as they were.
    public var value: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let text): .number(text)
        case .text(let text): .text(text)
        case .list(let items): .list(items.map(\.value))
        case .object(let fields): .object(fields.map { ($0.key, $0.value.value) })
        }
    }

    /// Whether PostgreSQL's `jsonb` keeps it as it is: numbers that can be read, and no name twice.
    public var isReadable: Bool {
        switch self {
        case .null, .bool, .text: true
        case .number(let text): JSONNumber.isReadable(text)
        case .list(let items): items.allSatisfy(\.isReadable)
        case .object(let fields):
            Set(fields.map(\.key)).count == fields.count && fields.allSatisfy(\.value.isReadable)
        }
    }

    /// A number, or a text that holds one: some services send coordinates so. Nil for what is not finite.
    public var double: Double? {
        switch self {
        case .number(let text), .text(let text):
            guard text.utf8.count <= 40, let value = Double(text), value.isFinite else { return nil }
            return value
        case .null, .bool, .list, .object: return nil
        }
    }

    /// A number without a fraction.
    public var integer: Int64? {
        guard let value = double, value == value.rounded(), value.magnitude < 9.0e15 else { return nil }
        return Int64(value)
    }
}

private struct TreeReader {
    private var reader: FlatReader
    private let valuesMax: Int
    private var values = 0

    init(_ reader: FlatReader, valuesMax: Int) { (self.reader, self.valuesMax) = (reader, valuesMax) }

    mutating func whole() throws(JSONTree.Fault) -> JSONTree {
        let tree = try value(depth: 0)
        reader.blanks()
        guard reader.at == reader.bytes.count else { throw .notJSON(at: reader.at) }
        return tree
    }

    private mutating func value(depth: Int) throws(JSONTree.Fault) -> JSONTree {
        values += 1
        guard values <= valuesMax else { throw .tooMany(most: valuesMax) }
        guard depth <= JSONTree.depthMax else { throw .tooDeep(most: JSONTree.depthMax) }
        reader.blanks()
        switch reader.next {
        case UInt8(ascii: "["): return try list(depth: depth + 1)
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        default: return try plain()
        }
    }

    private mutating func plain() throws(JSONTree.Fault) -> JSONTree {
        do throws(FlatJSON.Fault) {
            switch try reader.value(of: "") {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .number(let text): return .number(text)
            case .text(let text): return .text(text)
            }
        } catch { throw .notJSON(at: reader.at) }
    }

    private mutating func list(depth: Int) throws(JSONTree.Fault) -> JSONTree {
        reader.at += 1
        var items: [JSONTree] = []
        if reader.skip("]") { return .list(items) }
        repeat { items.append(try value(depth: depth)) } while reader.skip(",")
        guard reader.skip("]") else { throw .notJSON(at: reader.at) }
        return .list(items)
    }

    private mutating func object(depth: Int) throws(JSONTree.Fault) -> JSONTree {
        reader.at += 1
        var fields: [JSONTree.Field] = []
        if reader.skip("}") { return .object(fields) }
        repeat {
            reader.blanks()
            guard case .text(let key) = try plain(), reader.skip(":") else { throw .notJSON(at: reader.at) }
            fields.append(JSONTree.Field(key: key, value: try value(depth: depth)))
        } while reader.skip(",")
        guard reader.skip("}") else { throw .notJSON(at: reader.at) }
        return .object(fields)
    }
}
