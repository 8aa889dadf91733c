/// What a statement is when PostgreSQL has put its parts into one another, as its planner does: subqueries' columns into each place that
/// names them, parts of WITH into each place that reads them. Twenty nested `SELECT x + x AS x` are a million parts. The planner does not
/// look at the clock meanwhile, so no time-out ends it before the memory does.
package struct QuestionWeight {
    /// Of parts: a few hundred megabytes of a plan.
    package static let most = 200_000.0
    /// A view of ours is many parts itself, and the order of a hundred is sought for longer than a statement may take.
    private static let ofView = 2_500.0
    private static let deepest = 1_000

    /// - Parameter tree: `pg_rewrite.ev_action` of a view of the statement.
    package static func isLight(_ tree: String) -> Bool {
        guard let parts = Part.read(tree) else { return false }
        return QuestionWeight().expression(.list(parts), []) <= most
    }

    /// What one that reads a query's rows gets: of each column what comes into its place, and of all.
    private struct Weight {
        var columns = [Double](), total = 0.0
        func column(_ number: Int) -> Double {
            number == 0 ? columns.reduce(1, +) : columns.indices.contains(number - 1) ? columns[number - 1] : 1
        }
    }

    private final class Scope {
        var sources = [Weight](), named = [String: Weight]()
    }

    private func query(_ query: Part, _ outer: [Scope]) -> Weight {
        let own = Scope()
        let scopes = outer + [own]
        var sum = Weight()
        for with in query.list("cteList") {
            guard let asked = with["ctequery"].first else { continue }
            let weight = self.query(asked, scopes)
            let isPutIn =
                with.word("ctematerialized") == "2"
                || with.word("ctematerialized") == "0" && with.word("cterefcount") == "1"
                    && with.word("cterecursive") != "true"
            own.named[with.word("ctename")] = isPutIn ? weight : Weight(total: 1)
            if !isPutIn { sum.total += weight.total }
        }
        for source in query.list("rtable") { own.sources.append(self.source(source, scopes)) }
        sum.total += own.sources.reduce(0) { $0 + $1.total }
        for target in query.list("targetList") { sum.columns.append(expression(target, scopes)) }
        sum.total += sum.columns.reduce(1, +)
        for (name, value) in query.fields where !["cteList", "rtable", "targetList"].contains(name) {
            sum.total += expression(.list(value), scopes)
        }
        // Of UNION and the like each branch's.
        if query["setOperations"].contains(where: \.isNode) {
            for place in sum.columns.indices {
                sum.columns[place] = own.sources.reduce(0) { $0 + $1.column(place + 1) }
            }
        }
        return sum
    }

    private func source(_ source: Part, _ scopes: [Scope]) -> Weight {
        switch source.word("rtekind") {
        case "1": return source["subquery"].first.map { query($0, scopes) } ?? Weight(total: 1)
        case "2":
            let columns = source.list("joinaliasvars").map { expression($0, scopes) }
            return Weight(columns: columns, total: columns.reduce(1, +))
        case "5":
            var all = Weight(total: 1)
            for row in source.list("values_lists") {
                for (place, value) in row.items.enumerated() {
                    let weight = expression(value, scopes)
                    all.total += weight
                    if place == all.columns.count { all.columns.append(0) }
                    all.columns[place] = max(all.columns[place], weight)
                }
            }
            return all
        case "6":
            let place = scopes.count - 1 - (Int(source.word("ctelevelsup")) ?? 0)
            return scopes.indices.contains(place)
                ? scopes[place].named[source.word("ctename")] ?? Weight(total: 1) : Weight(total: 1)
        case "0": return Weight(total: QuestionWeight.ofView)
        default: return Weight(total: source.fields.reduce(1) { $0 + expression(.list($1.value), scopes) })
        }
    }

    private func expression(_ part: Part, _ scopes: [Scope]) -> Double {
        switch part {
        case .word: return 0
        case .list(let items): return items.reduce(0) { $0 + expression($1, scopes) }
        case .node("QUERY", _): return query(part, scopes).total
        case .node("VAR", _):
            let place = scopes.count - 1 - (Int(part.word("varlevelsup")) ?? 0)
            guard scopes.indices.contains(place), let source = Int(part.word("varno")),
                scopes[place].sources.indices.contains(source - 1)
            else { return 1 }
            return scopes[place].sources[source - 1].column(Int(part.word("varattno")) ?? 0)
        case .node(_, let fields): return fields.reduce(1) { $0 + expression(.list($1.value), scopes) }
        }
    }

    /// PostgreSQL's own writing of a parse tree: `{KIND :field value …}`, `(…)`.
    private indirect enum Part {
        case node(String, [(name: String, value: [Part])])
        case list([Part])
        case word(String)

        var fields: [(name: String, value: [Part])] { if case .node(_, let fields) = self { fields } else { [] } }
        var items: [Part] { if case .list(let items) = self { items } else { [] } }
        var isNode: Bool { if case .node = self { true } else { false } }
        subscript(_ name: String) -> [Part] { fields.first { $0.name == name }?.value ?? [] }
        func list(_ name: String) -> [Part] { self[name].first?.items ?? [] }
        func word(_ name: String) -> String { if case .word(let word)? = self[name].first { word } else { "" } }

        private struct Open {
            var kind: String?
            var fields = [(name: String, value: [Part])](), items = [Part]()
            mutating func take(_ part: Part) {
                if fields.isEmpty { items.append(part) } else { fields[fields.count - 1].value.append(part) }
            }
        }

        /// Nil: it nests too deep.
        static func read(_ text: String) -> [Part]? {
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
                    guard open.count <= QuestionWeight.deepest else { return nil }
                case UInt8(ascii: "}"), UInt8(ascii: ")"):
                    place += 1
                    guard open.count > 1, let done = open.popLast() else { return nil }
                    open[open.count - 1].take(done.kind.map { .node($0, done.fields) } ?? .list(done.items))
                case UInt8(ascii: ":") where open[open.count - 1].kind != nil:
                    place += 1
                    open[open.count - 1].fields.append((word(), []))
                case let byte where isEnd(byte): place += 1
                default: open[open.count - 1].take(.word(word()))
                }
            }
            return open.count == 1 ? open[0].items : nil
        }
    }
}
