import Ingest
import Testing

struct TopicShapeTests {
    /// One broker may be away without a stop, and none is lost with what only it had.
    @Test(arguments: [(1, nil), (2, "1"), (3, "2"), (5, "2")] as [(Int32, String?)])
    func aRecordIsAcknowledgedByTwoCopiesWhereOneMoreIsThere(copies: Int32, acknowledging: String?) {
        let shape = TopicShape(partitions: 8, replication: copies)
        #expect(shape.config["min.insync.replicas"] == acknowledging)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 3), (7, 3)] as [(Int, Int32)])
    func withoutANumberThereIsACopyAtEachBrokerAndThreeAtMost(brokers: Int, copies: Int32) {
        #expect(TopicShape(partitions: 8, replication: 0).on(brokers: brokers).replication == copies)
        #expect(TopicShape(partitions: 8, replication: 2).on(brokers: brokers).replication == 2)
    }
}
