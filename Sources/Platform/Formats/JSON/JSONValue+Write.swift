internal import Basics

extension JSONValue {
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
        case .number(let text): out += text
        case .text(let text): JSONString.append(text, to: &out)
        case .list(let items):
            JSONValue.wrap("[", "]", items.count, depth, indent, &out) {
                items[$0].render(into: &$1, depth: depth + 1, indent: indent)
            }
        case .object(let fields):
            JSONValue.wrap("{", "}", fields.count, depth, indent, &out) {
                JSONString.append(fields[$0].key, to: &$1)
                $1 += indent ? ": " : ":"
                fields[$0].value.render(into: &$1, depth: depth + 1, indent: indent)
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
