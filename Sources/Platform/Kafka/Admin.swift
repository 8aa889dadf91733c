internal import CRdkafka

public struct NewTopic: Sendable {
    let name: String
    let partitions: Int32
    let replication: Int32
    let config: [String: String]
    public init(name: String, partitions: Int32, replication: Int32, config: [String: String]) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.config = config
    }
}

/// A topic as the brokers have it.
public struct KnownTopic: Sendable {
    public let partitions: Int32
    /// Replicas of the partition that has the fewest.
    public let copies: Int
    /// Those of them that have all that was acknowledged, where they are fewest.
    public let inStep: Int
}

/// Everything that determines where a topic's records go, and whether it is still the topic that was read.
public struct TopicIdentity: Equatable, Sendable {
    public let partitions: Int32
    /// A topic that is made anew has another one; nil: the broker or our librdkafka does not tell it.
    public let id: String?
    public init(partitions: Int32, id: String?) { (self.partitions, self.id) = (partitions, id) }
}

/// The brokers that are there, and what they have.
public struct Cluster: Sendable {
    /// `host:port` of each.
    public let addresses: [String]
    public var brokers: Int { addresses.count }
    public internal(set) var topics: [String: KnownTopic]
}

/// Makes and lists topics.
public final class Admin {
    private let settings: KafkaSettings
    private var handle: Handle

    public init(_ settings: KafkaSettings) throws {
        self.settings = settings
        handle = try unsafe Handle(RD_KAFKA_PRODUCER, settings, [])
    }

    /// Partitions by topic.
    public func topics(timeoutMs: Int32) throws -> [String: Int32] {
        try cluster(timeoutMs: timeoutMs).topics.mapValues(\.partitions)
    }

    public func cluster(timeoutMs: Int32) throws -> Cluster {
        // Repeated callers such as /readyz pick up renewed certificates.
        if handle.isOutdated() { handle = try unsafe Handle(RD_KAFKA_PRODUCER, settings, []) }
        return try handle.cluster(nil, timeoutMs: timeoutMs)
    }

    /// The identities of the topics that exist.
    public func identities(of topics: [String], timeoutMs: Int32) throws -> [String: TopicIdentity] {
        try handle.identities(of: topics, isMember: false, timeoutMs: timeoutMs)
    }

    /// A topic's setting, by topic, where the broker tells it. Not every broker does.
    public func setting(_ property: String, of topics: [String], timeoutMs: Int32) throws -> [String: String] {
        guard !topics.isEmpty else { return [:] }
        var asked: [OpaquePointer?] = unsafe topics.map {
            unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, settings.names.onBrokers($0))
        }
        defer { unsafe asked.forEach { unsafe rd_kafka_ConfigResource_destroy($0) } }
        let queue = unsafe rd_kafka_queue_new(handle.client)
        defer { unsafe rd_kafka_queue_destroy(queue) }

        unsafe rd_kafka_DescribeConfigs(handle.client, &asked, asked.count, nil, queue)
        guard let event = unsafe rd_kafka_queue_poll(queue, timeoutMs) else {
            throw handle.context.error(RD_KAFKA_RESP_ERR__TIMED_OUT, "asking for the topics' settings")
        }
        defer { unsafe rd_kafka_event_destroy(event) }

        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw handle.context.error(code, "asking for the topics' settings")
        }
        var count = 0
        let rows = unsafe rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event), &count)
        var found: [String: String] = [:]
        for index in 0..<count {
            let row = unsafe rows?[index]
            guard unsafe rd_kafka_ConfigResource_error(row) == RD_KAFKA_RESP_ERR_NO_ERROR,
                let name = unsafe rd_kafka_ConfigResource_name(row),
                let topic = unsafe settings.names.ours(String(cString: name))
            else { continue }
            var entries = 0
            let values = unsafe rd_kafka_ConfigResource_configs(row, &entries)
            for entry in 0..<entries {
                guard let key = unsafe rd_kafka_ConfigEntry_name(values?[entry]),
                    let value = unsafe rd_kafka_ConfigEntry_value(values?[entry]),
                    unsafe String(cString: key) == property
                else { continue }
                found[topic] = unsafe String(cString: value)
            }
        }
        return found
    }

    /// A topic that is there already is left as it is.
    public func createTopics(_ topics: [NewTopic], timeoutMs: Int32) throws {
        guard !topics.isEmpty else { return }
        var made: [OpaquePointer?] = unsafe []
        defer { unsafe made.forEach { unsafe rd_kafka_NewTopic_destroy($0) } }

        for topic in topics {
            var problem = [CChar](repeating: 0, count: 512)
            guard
                let new = unsafe rd_kafka_NewTopic_new(
                    settings.names.onBrokers(topic.name), topic.partitions, topic.replication, &problem,
                    problem.count)
            else {
                throw KafkaError(doing: "topic \(topic.name)", message: text(problem))
            }
            unsafe made.append(new)
            for (name, value) in topic.config { unsafe rd_kafka_NewTopic_set_config(new, name, value) }
        }
        let queue = unsafe rd_kafka_queue_new(handle.client)
        defer { unsafe rd_kafka_queue_destroy(queue) }

        unsafe rd_kafka_CreateTopics(handle.client, &made, made.count, nil, queue)
        guard let event = unsafe rd_kafka_queue_poll(queue, timeoutMs) else {
            throw handle.context.error(
                RD_KAFKA_RESP_ERR__TIMED_OUT, "making topics \(topics.map(\.name).joined(separator: ", "))")
        }
        defer { unsafe rd_kafka_event_destroy(event) }

        try unsafe check(event)
    }

    private func check(_ event: OpaquePointer) throws {
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw handle.context.error(code, "making topics") }
        let result = unsafe rd_kafka_event_CreateTopics_result(event)
        var count = 0
        let rows = unsafe rd_kafka_CreateTopics_result_topics(result, &count)
        for index in 0..<count {
            let row = unsafe rows?[index]
            let code = unsafe rd_kafka_topic_result_error(row)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS { continue }
            let detail = unsafe rd_kafka_topic_result_error_string(row).map { unsafe String(cString: $0) }
            throw handle.context.error(
                code, "making topic \(unsafe String(cString: rd_kafka_topic_result_name(row)))", detail: detail)
        }
    }
}
