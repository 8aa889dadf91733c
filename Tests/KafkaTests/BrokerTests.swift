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
            [NewTopic(name: name, partitions: partitions, replication: 1, config: [:])], timeoutMs: 60_000)
        return name
    }

    private func values(_ consumer: Consumer, until count: Int) throws -> [String: [Int64]] {
        var seen: [String: [Int64]] = [:]
        var total = 0
        for _ in 0..<2_400 where total < count {
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

    /// One partition with the values `v0`, `v1` and so on, and who reads it from an offset on.
    private func filled(_ count: Int, batchMax: Int, from offset: Int64 = 0) throws -> (TopicPartition, Consumer) {
        let partition = TopicPartition(topic: try topic(partitions: 1), partition: 0)
        let producer = try Producer(settings)
        for index in 0..<count {
            try producer.produce(
                topic: partition.topic, partition: 0, key: [], value: Array("v\(index)".utf8), timestampMs: nil)
        }
        try producer.flush(timeoutMs: 60_000)
        let consumer = try Consumer(settings, group: partition.topic, instanceID: nil, batchMax: batchMax)
        try consumer.add([partition: offset])
        return (partition, consumer)
    }

    @Test func whatIsAcknowledgedIsReadFromTheTopicOnce() throws {
        let name = try topic(partitions: 3)
        let producer = try Producer(settings)
        for index in 0..<500 {
            try producer.produce(
                topic: name, partition: nil, key: Array("k\(index % 7)".utf8), value: Array("v\(index)".utf8),
                timestampMs: nil)
        }
        try producer.flush(timeoutMs: 60_000)
        #expect(producer.delivered == 500)
        let consumer = try Consumer(settings, group: name, instanceID: nil, batchMax: 100)
        try consumer.add(
            Dictionary(uniqueKeysWithValues: (0..<3).map { (TopicPartition(topic: name, partition: $0), Int64(0)) }))
        let seen = try values(consumer, until: 500)
        #expect(seen.count == 500 && seen.values.allSatisfy { $0.count == 1 })
    }

    @Test func taggedRecordsAreAcknowledgedOneByOneAndARecordTooLargeIsSaid() throws {
        let name = try topic(partitions: 2)
        let producer = try Producer(settings, Producer.Tuning(lingerMs: 0, timeoutMs: 0))
        for tag in 0..<200 {
            try producer.produce(
                topic: name, partition: nil, key: Array("k\(tag % 5)".utf8), value: Array("v\(tag)".utf8),
                timestampMs: nil, header: (name: "id", value: "r-\(tag)"), tag: tag)
        }
        let error = #expect(throws: KafkaError.self) {
            try producer.produce(
                topic: name, partition: nil, key: [], value: [UInt8](repeating: 0, count: 2_000_000), timestampMs: nil,
                tag: 200)
        }
        #expect(error?.isAboutRecord == true)
        var tags: [Int] = []
        for _ in 0..<1_000 where tags.count < 200 {
            tags += producer.deliveries(timeoutMs: 100).map { delivery in
                #expect(delivery.failure == nil)
                return delivery.tag
            }
        }
        #expect(tags.sorted() == Array(0..<200) && producer.underWay == 0)
    }

    @Test func aPartitionThatIsRemovedAndAddedIsRewound() throws {
        let (partition, consumer) = try filled(10, batchMax: 4)
        #expect(try values(consumer, until: 10).count == 10)
        try consumer.remove([partition])
        try consumer.add([partition: 7])
        #expect(try values(consumer, until: 3).values.flatMap { $0 }.sorted() == [7, 8, 9])
        let ends = try consumer.watermarks(of: partition, timeoutMs: 60_000)
        #expect(ends.low == 0 && ends.high == 10)
    }

    @Test func anOffsetThatTheLogDoesNotHaveIsTold() throws {
        let (partition, consumer) = try filled(1, batchMax: 4, from: 50)
        var told: [TopicPartition] = []
        for _ in 0..<1_000 where told.isEmpty {
            _ = try consumer.poll(timeoutMs: 100)
            for case .outOfRange(let partition) in consumer.drainChanges() { told.append(partition) }
        }
        #expect(told == [partition])
    }

    @Test func aPausedPartitionGoesOnWhereItStopped() throws {
        let (partition, consumer) = try filled(100, batchMax: 10)
        let first = try values(consumer, until: 10).values.flatMap { $0 }
        try consumer.pause([partition])
        #expect(try consumer.poll(timeoutMs: 300).count == 0)
        try consumer.resume([partition])
        let rest = try values(consumer, until: 100 - first.count).values.flatMap { $0 }
        #expect((first + rest).sorted() == Array(0..<100))
    }

    @Test func aGroupMemberIsToldItsPartitionsAndClosesWithThem() throws {
        let name = try topic(partitions: 2)
        let consumer = try Consumer(settings, group: name, instanceID: "member-1", batchMax: 10)
        try consumer.subscribe([name])
        var assigned: [TopicPartition] = []
        for _ in 0..<1_000 where assigned.isEmpty {
            _ = try consumer.poll(timeoutMs: 100).count
            for case .assigned(let partitions) in consumer.drainChanges() { assigned = partitions }
        }
        #expect(Set(assigned.map(\.partition)) == [0, 1])
        // Leaving scope closes the member: a revocation that nobody answers would hang here.
    }

    @Test func aTopicThatIsThereStaysAsItIs() throws {
        let name = try topic(partitions: 2)
        try Admin(settings).createTopics(
            [NewTopic(name: name, partitions: 5, replication: 1, config: [:])], timeoutMs: 60_000)
        #expect(try Admin(settings).topics(timeoutMs: 60_000)[name] == 2)
    }
}

struct KafkaErrorTests {
    @Test func aBrokerThatIsNotThereIsSaidWithWhatToDo() throws {
        let admin = try Admin(KafkaSettings(brokers: "127.0.0.1:1", clientID: "kafka-tests"))
        let error = #expect(throws: KafkaError.self) { try admin.topics(timeoutMs: 500) }
        #expect(error?.description.contains("kafka.brokers") == true)
    }

    private func away(_ timeoutMs: Int) throws -> Producer {
        try Producer(
            KafkaSettings(
                brokers: "127.0.0.1:1", clientID: "kafka-tests", extra: ["queue.buffering.max.messages": "10"]),
            Producer.Tuning(lingerMs: 0, timeoutMs: timeoutMs))
    }

    @Test func aFullQueueMakesTheSenderWaitAndAFailureNamesItsRecord() throws {
        let producer = try away(5_000)
        let error = #expect(throws: KafkaError.self) {
            for index in 0..<1_000 {
                try producer.produce(
                    topic: "t", partition: nil, key: Array("car-\(index)".utf8), value: [1], timestampMs: nil)
            }
        }
        #expect(
            error?.description.contains("sending the record of `car-0` to t") == true, "\(String(describing: error))")
        // They came within milliseconds, and the library looks for those whose time is over now and then: not always at all ten.
        #expect(producer.queued == 10 && producer.delivered == 0 && (1...10).contains(producer.failed))
        #expect(throws: KafkaError.self) { try producer.flush(timeoutMs: 500) }
    }

    @Test func whatIsNotAcknowledgedIsNotTakenForDone() throws {
        let producer = try away(0)
        try producer.produce(topic: "t", partition: nil, key: [1], value: [1], timestampMs: nil)
        let error = #expect(throws: KafkaError.self) { try producer.flush(timeoutMs: 600) }
        #expect(error?.description.contains("acknowledgement of 1 records") == true)
    }

    @Test func tickLikeRecordsEndAtTheirTimeEachWithItsOutcome() throws {
        let producer = try away(500)
        for tag in 0..<3 {
            try producer.produce(topic: "t", partition: nil, key: [], value: [1], timestampMs: nil, tag: tag)
        }
        var failed: [Int] = []
        for _ in 0..<1_000 where failed.count < 3 {
            failed += producer.deliveries(timeoutMs: 100).filter { $0.failure != nil }.map(\.tag)
        }
        #expect(failed.sorted() == [0, 1, 2])
    }

    @Test func anUnknownPropertyIsNamed() {
        let settings = KafkaSettings(brokers: "127.0.0.1:1", clientID: "x", extra: ["no.such.property": "1"])
        let error = #expect(throws: KafkaError.self) { try Producer(settings) }
        #expect(error?.description.contains("no.such.property") == true)
    }
}
