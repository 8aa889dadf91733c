internal import Postgres

/// Steps of a statement that PostgreSQL does not stop within: where two long values meet each with each, as in `LIKE`, `strpos` or `<@`
/// of arrays, neither the clock nor a signal ends it. So of the two one is written out in the statement and short; then a
/// step takes about as long as the other one is (`drover.slow_sides`).
package struct QuestionStepCost {
    /// Bytes of a text, elements of an array.
    package static let most = 100
    /// The most of a statement's steps together when its parts are put into one another: of a text of 100 MB a few minutes.
    package static let mostOfAll = 1_000.0

    /// A function or an operator: whether it looks at values that may be long, and which of its arguments meet each with each.
    package struct Step {
        package let name: String
        package let isOfLong: Bool
        package let sides: [Int]
        package init(name: String, isOfLong: Bool = true, sides: [Int]) {
            self.name = name
            self.isOfLong = isOfLong
            self.sides = sides
        }
    }

    /// By the field that names it in the tree and its number.
    private let steps: [String: Step]

    package init(_ steps: [String: Step]) { self.steps = steps }

    /// Those that a view of the statement calls.
    static func read(on connection: Connection) throws -> QuestionStepCost {
        let rows = try connection.query(
            "SELECT field, id::int8, name, is_of_long, sides FROM drover.question_steps('pg_temp.drover_question'::regclass)"
        )
        return QuestionStepCost(
            try rows.reduce(into: [:]) { steps, row in
                let sides = try row.textArray("sides")!.compactMap { $0.flatMap { Int($0) } }
                steps["\(try row.text("field")!) \(try row.int("id")!)"] = Step(
                    name: try row.text("name")!, isOfLong: try row.bool("is_of_long")!, sides: sides)
            })
    }

    /// Those of the statement that may take without end, each once.
    /// - Parameter tree: `pg_rewrite.ev_action` of a view of it.
    package func endless(in tree: String) -> [String] {
        var found = Set<String>()
        for part in ParseTree.read(tree) ?? [] { look(at: part, &found) }
        return found.sorted()
    }

    /// Whether all steps of the statement together are few: nothing ends PostgreSQL between two of one row either.
    package func areFew(in tree: String) -> Bool {
        QuestionComplexity.sum(ParseTree.read(tree) ?? [], cost: cost) <= QuestionStepCost.mostOfAll
    }

    private func cost(_ part: ParseTree) -> Double {
        guard case .node(let kind, _) = part, !["AGGREF", "WINDOWFUNC"].contains(kind) else { return 0 }
        guard let step = step(part), step.isOfLong else {
            return ["COERCEVIAIO", "SUBSCRIPTINGREF"].contains(kind) ? 1 : 0
        }
        let arguments = part.list("args")
        let sizes = step.sides.compactMap { arguments.indices.contains($0 - 1) ? size(arguments[$0 - 1], true) : nil }
        return Double(max(1, sizes.max() ?? 1))
    }

    private func look(at part: ParseTree, _ found: inout Set<String>) {
        if case .node(let kind, _) = part {
            // Paths of JSON compare what they find each with each, whatever the path is.
            if kind == "JSONEXPR" { found.insert("a path of JSON") }
            // With ANY each element is a side by itself.
            if let step = step(part), !isShort(step, part.list("args"), each: kind != "SCALARARRAYOPEXPR") {
                found.insert(step.name)
            }
        }
        for child in part.items { look(at: child, &found) }
        for field in part.fields { for child in field.value { look(at: child, &found) } }
    }

    private func step(_ part: ParseTree) -> Step? {
        for field in ["funcid", "opno", "aggfnoid", "winfnoid"] {
            if let step = steps["\(field) \(part.word(field))"] { return step }
        }
        return nil
    }

    /// All but one of the arguments that meet are short.
    private func isShort(_ step: Step, _ arguments: [ParseTree], each: Bool) -> Bool {
        let long = step.sides.filter { side in
            guard arguments.indices.contains(side - 1), let size = size(arguments[side - 1], each) else { return true }
            return size > QuestionStepCost.most
        }
        return long.count <= 1
    }

    /// The size of what is written out in the statement; nil: it is computed.
    /// - Parameter each: an element counts once, however long it is: elements of other lengths are not looked into.
    private func size(_ part: ParseTree, _ each: Bool) -> Int? {
        guard case .node(let kind, _) = part else { return nil }
        switch kind {
        case "CONST": return ofConstant(part)
        case "ARRAYEXPR": return sum(part.list("elements"), each, isList: true)
        // The same in another type.
        case "RELABELTYPE", "COERCEVIAIO", "ARRAYCOERCEEXPR", "COLLATEEXPR": return sum(part["arg"], each)
        case "FUNCEXPR" where QuestionStepCost.ofOneSize.contains(part.word("funcresulttype")):
            return sum(part.list("args"), each)
        case "FUNCEXPR" where step(part)?.name == "like_escape": return sum(part.list("args"), each)
        default: return nil
        }
    }

    private func sum(_ parts: [ParseTree], _ each: Bool, isList: Bool = false) -> Int? {
        var all = 0
        for part in parts {
            guard let size = size(part, each) else { return nil }
            if isList, each, case .node("CONST", _) = part { all += 1 } else { all += max(size, 1) }
        }
        return all
    }

    /// Four bytes of its head aside. Of what is no text, an element takes four bytes at least.
    private func ofConstant(_ part: ParseTree) -> Int {
        let bytes = max(0, (Int(part.word("constvalue")) ?? 0) - 4)
        return QuestionStepCost.texts.contains(part.word("consttype")) ? bytes : (bytes + 3) / 4
    }

    /// Truth, whole numbers, fractions, days and times: their values cannot grow.
    private static let ofOneSize: Set<String> = [
        "16", "20", "21", "23", "700", "701", "1082", "1083", "1114", "1184", "1186", "1266",
    ]
    /// bytea, name, text, unknown, char(n), varchar.
    private static let texts: Set<String> = ["17", "19", "25", "705", "1042", "1043"]
}
