import Delivery
import Kafka
import Storage
import Testing

struct SettledTests {
    private func rows(_ keys: [String]) -> [OutboxRow] {
        keys.enumerated().map { OutboxRow(outboxID: Int64($0), topic: "t", key: $1, recordID: "\($0)", record: "{}") }
    }
    private let away = KafkaError(doing: "sending", message: "away")

    @Test func `what is acknowledged goes, in any order of answers`() {
        var settled = Settled(rows(["a", "b", "a"]))
        for row in [2, 0, 1] { settled.record(row, failure: nil) }
        #expect(settled.openRows == 0 && settled.deletable() == [0, 1, 2] && settled.failure == nil)
    }

    @Test func `what stands behind a failed record of its key is sent again behind it`() {
        var settled = Settled(rows(["a", "b", "a", "b", "a"]))
        settled.record(0, failure: nil)
        settled.record(1, failure: nil)
        settled.record(2, failure: away)
        settled.record(3, failure: nil)
        settled.record(4, failure: nil)
        #expect(settled.deletable() == [0, 1, 3] && settled.failure != nil)
    }

    @Test func `what has no answer yet stays, with all behind it`() {
        var settled = Settled(rows(["a", "a", "b"]))
        settled.record(1, failure: nil)
        settled.record(2, failure: nil)
        settled.record(2, failure: nil)
        #expect(settled.openRows == 1 && settled.acknowledged == 2 && settled.deletable() == [2])
    }
}
