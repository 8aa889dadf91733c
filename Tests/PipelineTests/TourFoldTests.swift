import Fleet
import Pipeline
import Testing

struct TourFoldTests {
    private func visit(_ id: String, at hour: Int64, of waypoint: String = "gate") -> TourEvent {
        TourEvent(
            id: id, tour: "t", version: 1, ts: 1_700_000_000_000 + hour * 3_600_000, offsetMin: 0,
            kind: .visit(waypoint: waypoint))
    }

    @Test("The same events again change nothing, in whatever order they come") func again() {
        let events = [visit("a", at: 0), visit("b", at: 1), visit("a", at: 0)]
        let first = TourFold(events).changes([])
        #expect(first.events == [visit("a", at: 0), visit("b", at: 1)] && first.rowCount == 3)
        #expect(TourFold(events.reversed()).changes([]).events == first.events)
        #expect(TourFold(events).changes(first.events).rowCount == 0)
    }

    @Test("Of two with one id the greater counts, and the days of both are counted again") func other() {
        let (known, other) = (visit("a", at: 0), visit("a", at: 48))
        let changes = TourFold([other]).changes([known])
        #expect(changes.events == [other] && changes.days.map(\.localDay).sorted() == [known.localDay, other.localDay])
        #expect(TourFold([known]).changes([other]).rowCount == 0)
    }
}
