import Gateways
import Testing

struct UnansweredTests {
    @Test func aFailureIsToldAtTheSameTimeHoweverSoonItWasKnown() {
        var told = Unanswered<String>(afterMs: 20_000)
        told.asked("refused at once", nowMs: 1_000)
        told.asked("timed out", nowMs: 1_000)
        told.failed("refused at once")
        #expect(told.due(nowMs: 20_999).isEmpty)
        told.failed("timed out")
        #expect(Set(told.due(nowMs: 21_000)) == ["refused at once", "timed out"])
        #expect(told.due(nowMs: 99_000).isEmpty)
    }

    @Test func oneThatFailsLaterIsToldThen() {
        var told = Unanswered<String>(afterMs: 20_000)
        told.asked("slow", nowMs: 0)
        #expect(told.due(nowMs: 30_000).isEmpty)
        told.failed("slow")
        #expect(told.due(nowMs: 30_000) == ["slow"])
    }

    @Test func oneThatNobodyRemembersIsToldAtOnce() {
        var told = Unanswered<String>(afterMs: 20_000)
        told.failed("of before")
        #expect(told.due(nowMs: 5) == ["of before"])
    }
}
