import Foundation
import Kafka
import Testing

/// Against a real broker: DROVER_TEST_BROKERS names it. `Deploy/test` starts one and sets it.
private let brokers = ProcessInfo.processInfo.environment["DROVER_TEST_BROKERS"]

@Suite(.enabled(if: brokers != nil, "set DROVER_TEST_BROKERS, or run Deploy/test"), .serialized)
struct BrokerTests {
    private var settings: KafkaSettings { KafkaSettings(brokers: brokers!, clientID: "kafka-tests") }

    private func topic(partitions: Int32) throws -> String {
        let name = "kafka-tests-\(UUID().uuidString)"
        try Admin(settings).createTopics(
            [NewTopic(name: name, partitions: partitions, replication: 1, config: [:])], timeoutMs: 15_000)
        return name
    }

    private func values(_ consumer: Consumer, until count: Int) throws -> [String: [Int64]] {
        var seen: [String: [Int64]] = [:]
        var total = 0
        for _ in 0..<600 where total < count {
            let batch = try consumer.poll(timeoutMs: 50)
            for index in 0..<batch.count {
                let text = unsafe batch.withBytes(index) { key, value in
                    unsafe "\(String(decoding: key, as: UTF8.self)):\(value.map { unsafe String(decoding: $0, as: UTF8.self) } ?? "tombstone")"
                }
                seen[text, default: []].append(batch.offset(index))
                total += 1
            }
        }
        return seen
    }

    @Test func whatIsAcknowledgedIsReadFromTheTopicOnce() throws {
        let name = try topic(partitions: 3)
        let producer = try Producer(settings)
        for index in 0..<500 {
            try producer.produce(
                topic: name, partition: nil, key: Array("k\(index % 7)".utf8), value: Array("v\(index)".utf8),
                timestampMs: nil)
        }
        try producer.flush(timeoutMs: 15_000)
        #expect(producer.delivered == 500)
        let consumer = try Consumer(settings, group: name, instanceID: nil, batchMax: 100)
        try consumer.start(
            Dictionary(uniqueKeysWithValues: (0..<3).map { (TopicPartition(topic: name, partition: $0), Int64(0)) }))
        let seen = try values(consumer, until: 500)
        #expect(seen.count == 500 && seen.values.allSatisfy { $0.count == 1 })
    }

    @Test func startAlsoRewinds() throws {
        let name = try topic(partitions: 1)
        let producer = try Producer(settings)
        for index in 0..<10 {
            try producer.produce(topic: name, partition: 0, key: [], value: Array("v\(index)".utf8), timestampMs: nil)
        }
        try producer.flush(timeoutMs: 15_000)
        let partition = TopicPartition(topic: name, partition: 0)
        let consumer = try Consumer(settings, group: name, instanceID: nil, batchMax: 4)
        try consumer.start([partition: 0])
        #expect(try values(consumer, until: 10).count == 10)
        try consumer.start([partition: 7])
        #expect(try values(consumer, until: 3).values.flatMap { $0 }.sorted() == [7, 8, 9])
        let ends = try consumer.watermarks(of: partition, timeoutMs: 10_000)
        #expect(ends.low == 0 && ends.high == 10)
    }

    @Test func aGroupMemberIsToldItsPartitionsAndClosesWithThem() throws {
        let name = try topic(partitions: 2)
        let consumer = try Consumer(settings, group: name, instanceID: "member-1", batchMax: 10)
        try consumer.subscribe([name])
        var assigned: [TopicPartition] = []
        for _ in 0..<200 where assigned.isEmpty {
            _ = try consumer.poll(timeoutMs: 100).count
            for case .assigned(let partitions) in consumer.takeChanges() { assigned = partitions }
        }
        #expect(Set(assigned.map(\.partition)) == [0, 1])
        // Leaving scope closes the member: a revocation that nobody answers would hang here.
    }

    @Test func aTopicThatIsThereStaysAsItIs() throws {
        let name = try topic(partitions: 2)
        try Admin(settings).createTopics(
            [NewTopic(name: name, partitions: 5, replication: 1, config: [:])], timeoutMs: 15_000)
        #expect(try Admin(settings).topics(timeoutMs: 10_000)[name] == 2)
    }
}

struct KafkaErrorTests {
    @Test func aBrokerThatIsNotThereIsSaidWithWhatToDo() throws {
        let admin = try Admin(KafkaSettings(brokers: "127.0.0.1:1", clientID: "kafka-tests"))
        let error = #expect(throws: KafkaError.self) { try admin.topics(timeoutMs: 500) }
        #expect(error?.description.contains("kafka.brokers") == true)
    }

    @Test func anUnknownPropertyIsNamed() {
        let settings = KafkaSettings(brokers: "127.0.0.1:1", clientID: "x", extra: ["no.such.property": "1"])
        let error = #expect(throws: KafkaError.self) { try Producer(settings) }
        #expect(error?.description.contains("no.such.property") == true)
    }
}
