/// One JSON value of any shape. Answers of services and bodies of people are read into it, results are written from it.
/// Records go through `JSONScanner`, which is far faster.
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it is written: what `JSONLexer` takes for a number.
    case number(String)
    case text(String)
    case list([JSONValue])
    /// Keys in their order; of repeated ones the first counts.
    case object([Field])

    public typealias Field = (key: String, value: JSONValue)

    public static func integer(_ value: Int64) -> JSONValue { .number(String(value)) }
    /// Nil is null.
    public static func number(_ text: String?) -> JSONValue { text.map { .number($0) } ?? .null }
    public static func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }

    public subscript(_ key: String) -> JSONValue? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.key == key }?.value
    }

    public subscript(_ index: Int) -> JSONValue? {
        guard case .list(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }

    public var items: [JSONValue]? { if case .list(let items) = self { items } else { nil } }
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    public var isNull: Bool { self == .null }

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

    /// Fields are tuples, which no protocol compares.
    public static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.list(let one), .list(let other)): one == other
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) { $0.key == $1.key && $0.value == $1.value }
        case (.null, _), (.bool, _), (.number, _), (.text, _), (.list, _), (.object, _): false
        }
    }
}
