import Storage
import Testing

/// Who may ask while others do.
struct QuestionPlacesTests {
    private func full(_ places: inout QuestionPlaces, _ of: [String]) -> QuestionPlaces.Full? {
        do throws(QuestionPlaces.Full) {
            try places.take(of)
            return nil
        } catch {
            return error
        }
    }

    @Test func fourAccountsOfOneCustomerLeavePlacesToOthers() {
        var places = QuestionPlaces()
        #expect((0..<4).map { _ in full(&places, ["fleet south"]) } == [nil, nil, .customer, .customer])
        #expect(full(&places, ["fleet north"]) == nil)
        places.giveBack(["fleet south"])
        #expect(full(&places, ["fleet south"]) == nil)
    }

    @Test func whoIsOfNoCustomerIsOfOneTogether() {
        var places = QuestionPlaces()
        #expect((0..<3).map { _ in full(&places, [""]) } == [nil, nil, .customer])
    }

    @Test func whoIsOfTwoTakesAPlaceOfEach() {
        var places = QuestionPlaces()
        #expect(full(&places, ["fleet north", "fleet south"]) == nil)
        #expect(full(&places, ["fleet south"]) == nil)
        #expect(full(&places, ["fleet north", "fleet south"]) == .customer)
        #expect(full(&places, ["fleet north"]) == nil)
        places.giveBack(["fleet north", "fleet south"])
        #expect(full(&places, ["fleet north", "fleet south"]) == nil)
    }

    @Test func whoRunsTheInstallationAsksBesideThem() {
        var places = QuestionPlaces()
        let asked = ["a", "b", "c", "d", "e"].map { full(&places, ["fleet \($0)"]) }
        #expect(asked == [nil, nil, nil, nil, .all])
        #expect((0..<3).map { _ in full(&places, []) } == [nil, nil, .all])
        places.giveBack([])
        #expect(full(&places, []) == nil)
    }

    @Test func anAccountAsksOneAtATime() throws {
        var places = QuestionPlaces()
        try places.begin("sue")
        #expect(throws: QuestionPlaces.Full.account) { try places.begin("sue") }
        places.end("sue")
        try places.begin("sue")
    }
}
