/// PostgreSQL's own writing of a parse tree: `{KIND :field value …}`, `(…)`.
indirect enum ParseTree {
    case node(String, [(name: String, value: [ParseTree])])
    case list([ParseTree])
    case word(String)

    private static let deepest = 1_000

    var fields: [(name: String, value: [ParseTree])] { if case .node(_, let fields) = self { fields } else { [] } }
    var items: [ParseTree] { if case .list(let items) = self { items } else { [] } }
    var isNode: Bool { if case .node = self { true } else { false } }
    subscript(_ name: String) -> [ParseTree] { fields.first { $0.name == name }?.value ?? [] }
    func list(_ name: String) -> [ParseTree] { self[name].first?.items ?? [] }
    func word(_ name: String) -> String { if case .word(let word)? = self[name].first { word } else { "" } }

    private struct Open {
        var kind: String?
        var fields = [(name: String, value: [ParseTree])](), items = [ParseTree]()
        mutating func append(_ part: ParseTree) {
            if fields.isEmpty { items.append(part) } else { fields[fields.count - 1].value.append(part) }
        }
    }

    /// Nil: it nests too deep.
    static func read(_ text: String) -> [ParseTree]? {
        let bytes = Array(text.utf8)
        var (open, place) = ([Open()], 0)
        func isEnd(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09, 0x28, 0x29, 0x7B, 0x7D].contains(byte) }
        func word() -> String {
            let start = place
            while place < bytes.count, !isEnd(bytes[place]) { place += bytes[place] == 0x5C ? 2 : 1 }
            place = min(place, bytes.count)
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "("):
                let isNode = bytes[place] == UInt8(ascii: "{")
                place += 1
                open.append(Open(kind: isNode ? word() : nil))
                guard open.count <= ParseTree.deepest else { return nil }
            case UInt8(ascii: "}"), UInt8(ascii: ")"):
                place += 1
                guard open.count > 1, let done = open.popLast() else { return nil }
                open[open.count - 1].append(done.kind.map { .node($0, done.fields) } ?? .list(done.items))
            case UInt8(ascii: ":") where open[open.count - 1].kind != nil:
                place += 1
                open[open.count - 1].fields.append((word(), []))
            case let byte where isEnd(byte): place += 1
            default: open[open.count - 1].append(.word(word()))
            }
        }
        return open.count == 1 ? open[0].items : nil
    }
}
