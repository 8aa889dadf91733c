internal import CRdkafka

public struct NewTopic: Sendable {
    let name: String
    let partitions: Int32
    let replication: Int32
    let config: [String: String]
    public init(name: String, partitions: Int32, replication: Int32, config: [String: String]) {
        (self.name, self.partitions, self.replication, self.config) = (name, partitions, replication, config)
    }
}

/// Makes and lists topics.
public final class Admin {
    private let handle: Handle

    public init(_ settings: KafkaSettings) throws { handle = try unsafe Handle(RD_KAFKA_PRODUCER, settings, []) }

    /// Partitions by topic.
    public func topics(timeoutMs: Int32) throws -> [String: Int32] {
        try handle.partitions(of: nil, timeoutMs: timeoutMs)
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
                    topic.name, topic.partitions, topic.replication, &problem, problem.count)
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
            throw KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, "making topics \(topics.map(\.name).joined(separator: ", "))")
        }
        defer { unsafe rd_kafka_event_destroy(event) }

        try unsafe check(event)
    }

    private func check(_ event: OpaquePointer) throws {
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, "making topics") }
        let result = unsafe rd_kafka_event_CreateTopics_result(event)
        var count = 0
        let rows = unsafe rd_kafka_CreateTopics_result_topics(result, &count)
        for index in 0..<count {
            let row = unsafe rows?[index]
            let code = unsafe rd_kafka_topic_result_error(row)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS { continue }
            let detail = unsafe rd_kafka_topic_result_error_string(row).map { unsafe String(cString: $0) }
            throw KafkaError(
                code, "making topic \(unsafe String(cString: rd_kafka_topic_result_name(row)))", detail: detail)
        }
    }
}
