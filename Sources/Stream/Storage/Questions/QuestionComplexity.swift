/// The size of a statement when PostgreSQL has put its parts into one another, as its planner does: subqueries' columns into each place that
/// names them, parts of WITH into each place that reads them. Twenty nested `SELECT x + x AS x` are a million parts. The planner does not
/// look at the clock meanwhile, so no time-out ends it before the memory does.
package struct QuestionComplexity {
    /// The most parts: a few hundred megabytes of a plan.
    package static let most = 200_000.0
    /// The count of a view of ours: it is many parts itself, and the order of a hundred is sought for longer than a statement may take.
    private let ofView: Double
    /// The count of each query and of each row of another source.
    private let ofSource: Double
    /// The count of a part by itself.
    private let cost: (ParseTree) -> Double

    /// - Parameter tree: `pg_rewrite.ev_action` of a view of the statement.
    package static func isLight(_ tree: String) -> Bool {
        guard let parts = ParseTree.read(tree) else { return false }
        return QuestionComplexity(ofView: 2_500, ofSource: 1) { _ in 1 }.expression(.list(parts), []) <= most
    }

    /// The cost of a statement's parts together when they are put into one another.
    static func sum(_ parts: [ParseTree], cost: @escaping (ParseTree) -> Double) -> Double {
        QuestionComplexity(ofView: 0, ofSource: 0, cost: cost).expression(.list(parts), [])
    }

    /// The parts that a reader of a query's rows gets: of each column those that come into its place, and of all.
    private struct Weight {
        var columns = [Double](), total = 0.0
        /// - Parameter alone: what a name counts that nothing comes into the place of.
        func column(_ number: Int, alone: Double) -> Double {
            number == 0 ? columns.reduce(alone, +) : columns.indices.contains(number - 1) ? columns[number - 1] : alone
        }
    }

    private final class Scope {
        var sources = [Weight](), named = [String: Weight]()
    }

    private func query(_ query: ParseTree, _ outer: [Scope]) -> Weight {
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
            own.named[with.word("ctename")] = isPutIn ? weight : Weight(total: ofSource)
            if !isPutIn { sum.total += weight.total }
        }
        for source in query.list("rtable") { own.sources.append(self.source(source, scopes)) }
        sum.total += own.sources.reduce(0) { $0 + $1.total }
        for target in query.list("targetList") { sum.columns.append(expression(target, scopes)) }
        sum.total += sum.columns.reduce(ofSource, +)
        for (name, value) in query.fields where !["cteList", "rtable", "targetList"].contains(name) {
            sum.total += expression(.list(value), scopes)
        }
        // Of UNION and the like each branch's.
        if query["setOperations"].contains(where: \.isNode) {
            for place in sum.columns.indices {
                sum.columns[place] = own.sources.reduce(0) { $0 + $1.column(place + 1, alone: ofSource) }
            }
        }
        return sum
    }

    private func source(_ source: ParseTree, _ scopes: [Scope]) -> Weight {
        switch source.word("rtekind") {
        case "1": return source["subquery"].first.map { query($0, scopes) } ?? Weight(total: ofSource)
        case "2":
            let columns = source.list("joinaliasvars").map { expression($0, scopes) }
            return Weight(columns: columns, total: columns.reduce(ofSource, +))
        case "5":
            var all = Weight(total: ofSource)
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
                ? scopes[place].named[source.word("ctename")] ?? Weight(total: ofSource) : Weight(total: ofSource)
        case "0": return Weight(total: ofView)
        default: return Weight(total: source.fields.reduce(ofSource) { $0 + expression(.list($1.value), scopes) })
        }
    }

    private func expression(_ part: ParseTree, _ scopes: [Scope]) -> Double {
        switch part {
        case .word: return 0
        case .list(let items): return items.reduce(0) { $0 + expression($1, scopes) }
        case .node("QUERY", _): return query(part, scopes).total
        case .node("VAR", _):
            let place = scopes.count - 1 - (Int(part.word("varlevelsup")) ?? 0)
            guard scopes.indices.contains(place), let source = Int(part.word("varno")),
                scopes[place].sources.indices.contains(source - 1)
            else { return ofSource }
            return scopes[place].sources[source - 1].column(
                Int(part.word("varattno")) ?? 0, alone: ofSource)
        case .node(_, let fields): return fields.reduce(cost(part)) { $0 + expression(.list($1.value), scopes) }
        }
    }
}
