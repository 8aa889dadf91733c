internal import Glibc
package import Kafka
internal import Pipeline

/// Makes the topics that are missing and tells how many partitions they have. The number is fixed when a topic is
/// made: a vehicle's partition follows from it.
package enum Topics {
    /// Topics that come in: workers read these, and ticks go to them.
    package static let readings = RecordStage.allCases.map(\.topic)
    /// Topics that go back out, from the outbox.
    package static let results = Publication.allCases.map(\.topic).filter { RecordStage(topic: $0) == nil }

    /// How a topic's records are stamped.
    package static let stampType = "message.timestamp.type"
    package static let brokerStamps = "LogAppendTime"

    /// Topics keep everything: a replay reaches back as far as they do.
    private static let config = [
        "retention.ms": "-1", "retention.bytes": "-1",
        // The broker's own clock judges ticks and readings that run ahead, not the sender's.
        stampType: brokerStamps,
    ]

    /// - Parameter shape: of those that are missing; the others stay as they are.
    package static func ensure(
        _ settings: KafkaSettings, _ shape: TopicShape, timeoutMs: Int32 = 10_000
    ) throws -> [String: Int32] {
        let all = readings + results
        let admin = try Admin(settings)
        let cluster = try admin.cluster(timeoutMs: timeoutMs)
        let missing = all.filter { cluster.topics[$0] == nil }
        if missing.isEmpty { return cluster.topics.filter { all.contains($0.key) }.mapValues(\.partitions) }
        let shape = shape.on(brokers: cluster.brokers)
        guard cluster.brokers >= shape.replication else {
            throw TopicFault(
                description: "kafka.replication: is \(shape.replication), and \(cluster.brokers) brokers are there: "
                    + "\(missing.joined(separator: ", ")) cannot be made. Start the others, or set it to what there is")
        }
        try admin.createTopics(
            missing.map {
                NewTopic(
                    name: $0, partitions: shape.partitions, replication: shape.replication,
                    config: config.merging(shape.config) { $1 })
            }, timeoutMs: 15_000)
        try awaitEverywhere(missing, settings, cluster.addresses)
        return try admin.topics(timeoutMs: timeoutMs).filter { all.contains($0.key) }
    }

    /// A broker that has not heard of a topic yet says that it is not there or has no partitions, and what waits to be sent fails: each is
    /// asked before anything is sent. One that does not answer is away; it hears of them when it is back.
    private static func awaitEverywhere(_ topics: [String], _ settings: KafkaSettings, _ addresses: [String]) throws {
        for address in addresses {
            var alone = settings
            alone.brokers = address
            let admin = try Admin(alone)
            for _ in 0..<knownTries {
                guard let known = try? admin.topics(timeoutMs: 2_000) else { break }
                if topics.allSatisfy({ known[$0] != nil }) { break }
                usleep(knownPauseMs * 1_000)
            }
        }
    }

    private static let knownTries = 100
    private static let knownPauseMs: UInt32 = 100

    /// Properties of the topics that workers read which decide over results, as the brokers have them now.
    package struct Deciding: Sendable {
        package let identities: [String: TopicIdentity]
        /// Topics whose records their senders stamp, where the broker tells it.
        package let stampedBySenders: [String]
    }

    package static func deciding(_ settings: KafkaSettings, timeoutMs: Int32) throws -> Deciding {
        let admin = try Admin(settings)
        let identities = try admin.identities(of: readings, timeoutMs: timeoutMs)
        // A broker that does not tell its topics' settings is no fault.
        let types = (try? admin.setting(stampType, of: identities.keys.sorted(), timeoutMs: timeoutMs)) ?? [:]
        return Deciding(
            identities: identities, stampedBySenders: types.filter { $0.value != brokerStamps }.keys.sorted())
    }

    /// The topics that are there, and what to do where they have not the copies that are wanted; nothing is changed.
    package static func standing(
        _ settings: KafkaSettings, _ shape: TopicShape, timeoutMs: Int32
    ) throws -> TopicState {
        let admin = try Admin(settings)
        let cluster = try admin.cluster(timeoutMs: timeoutMs)
        let (all, isOpen, shape) = (cluster.topics, shape.replication == 0, shape.on(brokers: cluster.brokers))
        let ours = all.filter { (readings + results).contains($0.key) }
        func names(_ isMeant: (KnownTopic) -> Bool) -> String {
            ours.filter { isMeant($0.value) }.keys.sorted().joined(separator: ", ")
        }
        func standing(_ remedy: String?) -> TopicState {
            TopicState(
                topics: all.count, ours: ours.count, copies: ours.values.map(\.copies).min() ?? 0, remedy: remedy)
        }
        let few = names { $0.copies < shape.replication }
        if !few.isEmpty {
            return standing(
                "\(few): fewer copies than "
                    + (isOpen
                        ? "the \(shape.replication) that \(cluster.brokers) brokers hold where kafka.replication is 0"
                        : "kafka.replication, \(shape.replication), wants")
                    + ". kafka-reassign-partitions.sh makes more; "
                    + "Drover changes no topic that is there (docs/operator.md)")
        }
        let behind = names { $0.inStep < $0.copies }
        if !behind.isEmpty { return standing("\(behind): copies are away or behind. Are all brokers up?") }
        guard shape.acknowledging > 1 else { return standing(nil) }
        // A broker that does not tell its topics' settings is no fault.
        let name = TopicShape.acknowledgingName
        let told = (try? admin.setting(name, of: ours.keys.sorted(), timeoutMs: timeoutMs)) ?? [:]
        let weak = told.filter { Int32($0.value).map { $0 < shape.acknowledging } ?? false }.keys.sorted()
        return standing(
            weak.isEmpty
                ? nil
                : "\(weak.joined(separator: ", ")): acknowledged with fewer than \(shape.acknowledging) copies. "
                    + "kafka-configs.sh sets \(name) (docs/operator.md)")
    }
}

/// The topics that brokers have.
package struct TopicState: Sendable {
    package let topics: Int
    package let ours: Int
    /// The copies of that topic of ours that has the fewest.
    package let copies: Int
    /// A remedy; nil: the topics are as they are wanted.
    package let remedy: String?

    package var text: String {
        ours == 0 ? "\(topics) topics" : "\(topics) topics, \(copies) \(copies == 1 ? "copy" : "copies") of ours"
    }
}

/// How topics are made.
package struct TopicShape: Sendable {
    static let acknowledgingName = "min.insync.replicas"

    package let partitions: Int32
    /// Copies of each record, each at another broker; 0: one at each, three at most.
    package let replication: Int32

    package init(partitions: Int32, replication: Int32) {
        self.partitions = partitions
        self.replication = replication
    }

    /// The same, with as many copies as the brokers make sense of.
    package func on(brokers: Int) -> TopicShape {
        replication > 0 ? self : TopicShape(partitions: partitions, replication: Int32(max(1, min(3, brokers))))
    }

    /// Copies that a record has when it is acknowledged. Two outlive the loss of a broker; more would only stand in the way when
    /// one is away.
    var acknowledging: Int32 { max(1, min(2, replication - 1)) }

    package var config: [String: String] {
        replication > 1 ? [TopicShape.acknowledgingName: String(acknowledging)] : [:]
    }
}

/// Topics that cannot be made as they are wanted; complete, with what to do.
package struct TopicFault: Error, CustomStringConvertible { package let description: String }
