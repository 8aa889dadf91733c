import Kafka
import Postgres
import Storage
import Testing

/// Who may move a partition, in the real PostgreSQL.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct ProgressStoreTests {
    private static let database = Result { try TestDatabase.migrated("progress") }
    private let partition = TopicPartition(topic: "drover.dispatch", partition: 0)

    @Test("Of two owners one moves it on, also where only what waited for its decisions was decided")
    func comparesBothOffsets() throws {
        let db = try Connection(conninfo: Self.database.get())
        try db.execute("SET search_path = drover")
        func step(_ from: PartitionProgress, next: Int64, replay: Int64) -> ProgressStep {
            var to = from
            (to.nextOffset, to.replayFrom) = (next, replay)
            return ProgressStep(partition: partition, from: from, to: to)
        }
        func isKept(_ step: ProgressStep) throws -> Bool { try ProgressStore.advance([step], on: db) == [partition] }

        let first = try #require(try ProgressStore.load([partition: 5], on: db)[partition])
        let waiting = step(first, next: 40, replay: 5)
        #expect(try isKept(waiting))
        // Both stand where 5 to 39 wait: the first decides 5 to 9, and what the second decided of them is left out.
        let decided = step(waiting.to, next: 40, replay: 10)
        let again = step(waiting.to, next: 40, replay: 12)
        #expect(try isKept(decided))
        #expect(try !isKept(again))
        #expect(try !isKept(waiting))
        #expect(try isKept(step(decided.to, next: 41, replay: 41)))
        let stored = try #require(try ProgressStore.load([partition: 0], on: db)[partition])
        #expect(stored.nextOffset == 41 && stored.replayFrom == 41)
    }
}
