import Ingest
import Testing

struct TopicShapeTests {
    /// One broker may be away without a stop, and none is lost with what only it had.
    @Test(arguments: [(1, nil), (2, "1"), (3, "2"), (5, "2")] as [(Int32, String?)])
    func aRecordIsAcknowledgedByTwoCopiesWhereOneMoreIsThere(copies: Int32, acknowledging: String?) {
        let shape = TopicShape(partitions: 8, replication: copies)
        #expect(shape.config["min.insync.replicas"] == acknowledging)
    }
}
