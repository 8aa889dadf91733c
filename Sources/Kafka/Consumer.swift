internal import CRdkafka

/// What the consumer group decided since the last poll.
public enum AssignmentChange: Sendable {
    /// These partitions are ours; nothing is read before `start` says from where.
    case assigned([TopicPartition])
    /// These partitions go to another member, or were lost.
    case revoked([TopicPartition])
}

/// A member of a consumer group, or (`start` without `subscribe`) a plain reader. One thread polls it.
///
/// Offsets committed to the broker are for lag tools only: where to begin is told by `start`.
@safe
public final class Consumer {
    private let handle: Handle
    private var queue: OpaquePointer?
    private let batchMax: Int
    /// An error that came behind messages: those first, then this. librdkafka tells it only once.
    private var pendingFailure: KafkaError?

    /// `instanceID` makes the membership static: a restart within the session time-out keeps its partitions.
    public init(_ settings: KafkaSettings, group: String, instanceID: String?, batchMax: Int) throws {
        self.batchMax = batchMax
        var properties = [
            ("group.id", group), ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
            ("auto.offset.reset", "error"), ("partition.assignment.strategy", "range"), ("session.timeout.ms", "10000"),
            ("enable.partition.eof", "false"), ("fetch.wait.max.ms", "100"), ("queued.max.messages.kbytes", "131072"),
            ("queued.min.messages", "200000"),
            // The embedded broker answers with whole partitions, whatever is asked for.
            ("receive.message.max.bytes", "1000000000"),
        ]
        if let instanceID { properties.append(("group.instance.id", instanceID)) }
        handle = try unsafe Handle(RD_KAFKA_CONSUMER, settings, properties) { conf in
            unsafe rd_kafka_conf_set_rebalance_cb(conf) { client, code, list, opaque in
                let partitions = unsafe PartitionList.read(list)
                let isAssigned = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
                // A revocation is answered at once, here: closing waits for the answer, too. What was read and not
                // written is the new owner's to read again.
                if !isAssigned { unsafe rd_kafka_assign(client, nil) }
                unsafe CallbackContext.of(opaque).changes.append(
                    isAssigned ? .assigned(partitions) : .revoked(partitions))
            }
        }
        unsafe rd_kafka_poll_set_consumer(handle.client)
        unsafe queue = rd_kafka_queue_get_consumer(handle.client)
    }

    deinit {
        unsafe rd_kafka_queue_destroy(queue)
        // Leaves the group; the callbacks it makes find their context still there.
        unsafe rd_kafka_consumer_close(handle.client)
    }

    public func subscribe(_ topics: [String]) throws {
        let list = unsafe PartitionList.make(topics.map { (TopicPartition(topic: $0, partition: -1), nil) })
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try check(unsafe rd_kafka_subscribe(handle.client, list), "subscribing to \(topics.joined(separator: ", "))")
    }

    /// Reads these partitions, and no others, from these offsets. Also rewinds.
    public func start(_ offsets: [TopicPartition: Int64]) throws {
        let list = unsafe PartitionList.make(offsets.map { ($0.key, $0.value) })
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try check(unsafe rd_kafka_assign(handle.client, list), "starting to read")
    }

    /// Messages as they come: waits for the first, then takes what is there without waiting.
    ///
    /// Not librdkafka's batch call: 2.0.2 hands out messages of partitions that are gone beside a rebalance
    /// (release notes of 2.1.0).
    public func poll(timeoutMs: Int32) throws -> MessageBatch {
        var messages: [UnsafeMutablePointer<rd_kafka_message_t>] = unsafe []
        if let failure = pendingFailure {
            pendingFailure = nil
            throw failure
        }
        var wait = timeoutMs
        while unsafe messages.count < batchMax, let message = unsafe rd_kafka_consumer_poll(handle.client, wait) {
            wait = 0
            if unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
                unsafe messages.append(message)
            } else {
                pendingFailure = unsafe read(message)
                unsafe rd_kafka_message_destroy(message)
                if pendingFailure != nil { break }
            }
            if !handle.context.changes.isEmpty { break }
        }
        return unsafe MessageBatch(messages)
    }

    /// What the group decided during the last poll, in order. Must be handled before the next one.
    public func takeChanges() -> [AssignmentChange] {
        defer { handle.context.changes = [] }
        return handle.context.changes
    }

    /// An error that came as a message; nil when librdkafka gets over it by itself.
    private func read(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaError? {
        switch unsafe message.pointee.err {
        case RD_KAFKA_RESP_ERR__PARTITION_EOF, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__RESOLVE:
            return nil
        case let code:
            let topic =
                unsafe message.pointee.rkt.map { unsafe String(cString: rd_kafka_topic_name($0)) } ?? "the topics"
            let detail = unsafe rd_kafka_message_errstr(message).map { unsafe String(cString: $0) }
            return unsafe KafkaError(code, "reading \(topic)[\(message.pointee.partition)]", detail: detail)
        }
    }

    /// The first offset that is there and the one after the last.
    public func watermarks(of partition: TopicPartition, timeoutMs: Int32) throws -> (low: Int64, high: Int64) {
        var (low, high): (Int64, Int64) = (0, 0)
        try check(
            unsafe rd_kafka_query_watermark_offsets(
                handle.client, partition.topic, partition.partition, &low, &high, timeoutMs),
            "asking for the ends of \(partition)")
        return (low, high)
    }

    public func partitions(of topic: String, timeoutMs: Int32) throws -> Int32? {
        try handle.partitions(of: topic, timeoutMs: timeoutMs)[topic]
    }

    /// For lag tools; the answer is not waited for.
    public func commitForLagTools(_ offsets: [TopicPartition: Int64]) {
        let list = unsafe PartitionList.make(offsets.map { ($0.key, $0.value) })
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        // A failure only makes a lag tool wrong for a while.
        _ = unsafe rd_kafka_commit(handle.client, list, 1)
    }

    private func check(_ code: rd_kafka_resp_err_t, _ doing: String) throws {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing) }
    }
}

/// C lists of partitions.
enum PartitionList {
    static func make(
        _ rows: [(TopicPartition, Int64?)]
    ) -> UnsafeMutablePointer<rd_kafka_topic_partition_list_t> {
        let list = unsafe rd_kafka_topic_partition_list_new(Int32(rows.count))!
        for (partition, offset) in rows {
            let row = unsafe rd_kafka_topic_partition_list_add(list, partition.topic, partition.partition)
            if let offset { unsafe row?.pointee.offset = offset }
        }
        return unsafe list
    }

    static func read(_ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> [TopicPartition] {
        guard let list = unsafe list else { return [] }
        return unsafe (0..<Int(list.pointee.cnt)).map { index in
            let row = unsafe list.pointee.elems[index]
            return unsafe TopicPartition(topic: String(cString: row.topic), partition: row.partition)
        }
    }
}
