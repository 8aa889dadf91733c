import Storage
import Testing

/// What becomes of a statement in PostgreSQL's planner, by the tree that its parser makes.
struct QuestionComplexityTests {
    /// `SELECT x + x AS x FROM (…)`, so many times.
    private func nested(_ times: Int, isWith: Bool = false, materialized: Int = 2) -> String {
        let sum =
            "({TARGETENTRY :expr {OPEXPR :args ({VAR :varno 1 :varattno 1 :varlevelsup 0} {VAR :varno 1 :varattno 1 :varlevelsup 0})} :resno 1})"
        var tree = "{QUERY :cteList <> :rtable ({RTE :rtekind 0 :relid 1}) :targetList \(sum) :setOperations <>}"
        for _ in 0..<times {
            let source =
                isWith ? "{RTE :rtekind 6 :ctename a\\ b :ctelevelsup 0}" : "{RTE :rtekind 1 :subquery \(tree)}"
            let with =
                isWith
                ? "({COMMONTABLEEXPR :ctename a\\ b :ctematerialized \(materialized) :ctequery \(tree) :cterefcount 2})"
                : "<>"
            tree = "{QUERY :cteList \(with) :rtable (\(source)) :targetList \(sum) :setOperations <>}"
        }
        return "(\(tree))"
    }

    @Test func aFewStepsAreLight() {
        #expect(QuestionComplexity.isLight(nested(8)))
        #expect(QuestionComplexity.isLight(nested(8, isWith: true)))
    }

    @Test func partsThatUseOneAnotherWithoutEndAreNot() {
        #expect(!QuestionComplexity.isLight(nested(30)))
        #expect(!QuestionComplexity.isLight(nested(30, isWith: true)))
        // Unless each is computed once.
        #expect(QuestionComplexity.isLight(nested(30, isWith: true, materialized: 1)))
        #expect(QuestionComplexity.isLight(nested(30, isWith: true, materialized: 0)))
    }

    @Test func eachBranchOfAUnionCounts() {
        let leaf = nested(20).dropFirst().dropLast()
        let one =
            "{QUERY :cteList <> :rtable <> :targetList ({TARGETENTRY :expr {CONST :constvalue 1}}) :setOperations <>}"
        let union =
            "({QUERY :cteList <> :rtable ({RTE :rtekind 1 :subquery \(one)} {RTE :rtekind 1 :subquery \(leaf)}) :targetList ({TARGETENTRY :expr {VAR :varno 1 :varattno 1}}) :setOperations {SETOPERATIONSTMT :op 0}})"
        #expect(!QuestionComplexity.isLight(union))
    }

    @Test func aHundredViewsAndWhatNestsWithoutEndAreNot() {
        let views = { (count: Int) in
            "({QUERY :cteList <> :rtable (\(String(repeating: "{RTE :rtekind 0 :relid 1} ", count: count))) :targetList <> :setOperations <>})"
        }
        #expect(QuestionComplexity.isLight(views(40)) && !QuestionComplexity.isLight(views(100)))
        #expect(!QuestionComplexity.isLight(String(repeating: "{OPEXPR :args (", count: 100_000)))
        // Lines that do not go together are nobody's statement.
        #expect(
            !QuestionComplexity.isLight("({QUERY") && !QuestionComplexity.isLight("(})")
                && QuestionComplexity.isLight(""))
    }

    @Test func whatIsQuotedIsNoPart() {
        #expect(
            QuestionComplexity.isLight(
                #"({QUERY :alias {ALIAS :aliasname \{QUERY\ \(\ \:x :colnames ("\}\ \(\ " "a\)")} :setOperations <>})"#)
        )
    }
}
