internal import Basics

/// Builds JSON text for results, keys in the order given.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Decimal text that is already a JSON number; nil is null.
    case number(String?)
    case text(String)
    case list([JSONValue])
    case object([(String, JSONValue)])

    public static func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }

    /// One line; with `indent`, objects of a top-level list or object stand on lines of their own.
    public func rendered(indent: Bool = false) -> String {
        var out = ""
        render(into: &out, depth: 0, indent: indent)
        return out
    }

    private func render(into out: inout String, depth: Int, indent: Bool) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        case .number(let text): out += text ?? "null"
        case .text(let text): JSONString.append(text, to: &out)
        case .list(let items):
            JSONValue.wrap("[", "]", items.count, depth, indent, &out) {
                items[$0].render(into: &$1, depth: depth + 1, indent: indent)
            }
        case .object(let fields):
            JSONValue.wrap("{", "}", fields.count, depth, indent, &out) {
                JSONString.append(fields[$0].0, to: &$1)
                $1 += indent ? ": " : ":"
                fields[$0].1.render(into: &$1, depth: depth + 1, indent: indent)
            }
        }
    }

    private static func wrap(
        _ open: String, _ close: String, _ count: Int, _ depth: Int, _ indent: Bool, _ out: inout String,
        _ item: (Int, inout String) -> Void
    ) {
        out += open
        for index in 0..<count {
            if index > 0 { out += "," }
            if indent { out += "\n" + String(repeating: "  ", count: depth + 1) }
            item(index, &out)
        }
        if indent && count > 0 { out += "\n" + String(repeating: "  ", count: depth) }
        out += close
    }
}
