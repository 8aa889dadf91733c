import Storage
import Testing

/// Who may ask while others do.
struct QuestionQuotaTests {
    private func full(_ places: inout QuestionQuota, _ of: [String]) -> QuestionQuota.Full? {
        do throws(QuestionQuota.Full) {
            try places.reserve(of)
            return nil
        } catch {
            return error
        }
    }

    @Test func fourAccountsOfOneCustomerLeavePlacesToOthers() {
        var places = QuestionQuota()
        #expect((0..<4).map { _ in full(&places, ["fleet south"]) } == [nil, nil, .customer, .customer])
        #expect(full(&places, ["fleet north"]) == nil)
        places.release(["fleet south"])
        #expect(full(&places, ["fleet south"]) == nil)
    }

    @Test func whoIsOfNoCustomerIsOfOneTogether() {
        var places = QuestionQuota()
        #expect((0..<3).map { _ in full(&places, [""]) } == [nil, nil, .customer])
    }

    @Test func whoIsOfTwoTakesAPlaceOfEach() {
        var places = QuestionQuota()
        #expect(full(&places, ["fleet north", "fleet south"]) == nil)
        #expect(full(&places, ["fleet south"]) == nil)
        #expect(full(&places, ["fleet north", "fleet south"]) == .customer)
        #expect(full(&places, ["fleet north"]) == nil)
        places.release(["fleet north", "fleet south"])
        #expect(full(&places, ["fleet north", "fleet south"]) == nil)
    }

    @Test func whoRunsTheInstallationAsksBesideThem() {
        var places = QuestionQuota()
        let asked = ["a", "b", "c", "d", "e"].map { full(&places, ["fleet \($0)"]) }
        #expect(asked == [nil, nil, nil, nil, .all])
        #expect((0..<3).map { _ in full(&places, []) } == [nil, nil, .all])
        places.release([])
        #expect(full(&places, []) == nil)
    }

    @Test func anAccountAsksOneAtATime() throws {
        var places = QuestionQuota()
        try places.begin("sue")
        #expect(throws: QuestionQuota.Full.account) { try places.begin("sue") }
        places.end("sue")
        try places.begin("sue")
    }
}
