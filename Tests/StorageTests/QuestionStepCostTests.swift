import Storage
import Testing

/// Which steps of a statement are not begun, by the tree that PostgreSQL's parser makes of it.
struct QuestionStepCostTests {
    private let steps = QuestionStepCost([
        "opno 1209": .init(name: "LIKE", sides: [1, 2]), "opno 2750": .init(name: "&&", sides: [1, 2]),
        "opno 98": .init(name: "=", sides: []), "funcid 2087": .init(name: "replace", sides: [1, 2]),
        "opno 96": .init(name: "=", isOfLong: false, sides: []),
    ])
    private let column = "{VAR :varno 1 :varattno 1 :varlevelsup 0}"

    private func text(_ bytes: Int) -> String { "{CONST :consttype 25 :constvalue \(bytes + 4) [ 1 2 ]}" }

    private func like(_ left: String, _ right: String, kind: String = "OPEXPR") -> String {
        "({\(kind) :opno 1209 :args (\(left) \(right))})"
    }

    @Test func oneOfTwoIsWrittenOutAndShort() {
        #expect(steps.endless(in: like(column, column)) == ["LIKE"])
        #expect(steps.endless(in: like(column, text(100))).isEmpty && steps.endless(in: like(text(3), column)).isEmpty)
        #expect(steps.endless(in: like(column, text(101))) == ["LIKE"])
        #expect(steps.endless(in: like(column, "{CONST :consttype 25 :constvalue <>}")).isEmpty)
        // In a type whose values keep their length, and in one that fills them up.
        #expect(steps.endless(in: like(column, "{RELABELTYPE :arg \(text(3))}")).isEmpty)
        #expect(
            steps.endless(in: like(column, "{FUNCEXPR :funcid 1 :funcresulttype 1042 :args (\(text(3)))}")) == ["LIKE"])
    }

    @Test func anArraysElementsCountAndOfAnyTheirBytes() {
        func array(_ count: Int, of bytes: Int) -> String {
            "{ARRAYEXPR :elements (\(String(repeating: text(bytes) + " ", count: count)))}"
        }
        func overlap(_ right: String) -> String { "({OPEXPR :opno 2750 :args (\(column) \(right))})" }
        #expect(steps.endless(in: overlap(array(100, of: 20))).isEmpty)
        #expect(steps.endless(in: overlap(array(101, of: 1))) == ["&&"])
        #expect(steps.endless(in: overlap("{ARRAYEXPR :elements (\(text(1)) \(column))}")) == ["&&"])
        #expect(steps.endless(in: like(column, array(10, of: 10), kind: "SCALARARRAYOPEXPR")).isEmpty)
        #expect(steps.endless(in: like(column, array(10, of: 11), kind: "SCALARARRAYOPEXPR")) == ["LIKE"])
    }

    @Test func whatIsPutInMayBeLongAndWhatIsFastIsNotLookedAt() {
        #expect(steps.endless(in: "({FUNCEXPR :funcid 2087 :args (\(column) \(text(1)) \(column))})").isEmpty)
        #expect(steps.endless(in: "({OPEXPR :opno 98 :args (\(column) \(column))})").isEmpty)
        #expect(steps.endless(in: "({JSONEXPR :op 0})") == ["a path of JSON"])
    }

    @Test func aRowHasSoManySteps() {
        func row(_ part: String, _ count: Int) -> String { "(\(String(repeating: part + " ", count: count)))" }
        let equal = "{OPEXPR :opno 98 :args (\(column) \(column))}"
        #expect(steps.areFew(in: row(equal, 1_000)) && !steps.areFew(in: row(equal, 1_001)))
        #expect(steps.areFew(in: row("{OPEXPR :opno 96 :args (\(column) \(column))}", 5_000)))
        // A pattern counts its bytes.
        let pattern = "{OPEXPR :opno 1209 :args (\(column) \(text(100)))}"
        #expect(steps.areFew(in: row(pattern, 10)) && !steps.areFew(in: row(pattern, 11)))
    }
}
