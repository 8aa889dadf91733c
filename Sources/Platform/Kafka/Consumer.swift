internal import CRdkafka

/// A change by the consumer group or the broker since the last poll.
public enum AssignmentChange: Sendable {
    /// These partitions are ours from now on; nothing of them is read before `add` says from where.
    case assigned([TopicPartition])
    /// These partitions go to another member, or were lost: nothing of them comes any more.
    case revoked([TopicPartition])
    /// The broker does not have the offset that we asked for.
    case outOfRange(TopicPartition)
}

/// A partition's log as the broker knows it.
public struct PartitionLog: Sendable {
    public let partition: TopicPartition
    /// The first offset that is there.
    public let firstOffset: Int64
    /// The offset after the last that was there; nil: it was not asked for.
    public let endOffset: Int64?
    /// The topic's, when the log was asked for.
    public let identity: TopicIdentity
}

/// A member of a consumer group, or (without `subscribe`) a plain reader. One thread polls it.
///
/// Offsets committed to the broker are for lag tools only: `add` sets where to begin. Rebalances are cooperative: partitions that stay are
/// not interrupted.
@safe
public final class Consumer {
    private let handle: Handle
    private let batchMax: Int
    /// An error that came behind messages: those first, then this. librdkafka tells it only once.
    private var pendingFailure: KafkaError?
    /// Topic handles are few and live as long as the client.
    private var names: [OpaquePointer: String] = unsafe [:]

    /// `instanceID` makes the membership static: a restart within the session time-out keeps its partitions.
    public init(
        _ settings: KafkaSettings, group: String, instanceID: String?, sessionTimeoutMs: Int64 = 10_000, batchMax: Int
    ) throws {
        self.batchMax = batchMax
        try ConsumerEnd.refuseBeyondMost()
        var properties = [
            ("group.id", settings.names.onBrokers(group)), ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("auto.offset.reset", "error"), ("partition.assignment.strategy", "cooperative-sticky"),
            ("enable.partition.eof", "false"), ("fetch.wait.max.ms", "100"), ("queued.max.messages.kbytes", "65536"),
            // More than the queue ever holds: a queue that is emptied fast must not wait for the next fetch.
            ("queued.min.messages", "1000000"),
            // A client that is given up waits for what it asked last: a stop must end before its operator loses patience.
            ("socket.timeout.ms", "30000"),
            // The embedded broker answers with whole partitions, whatever is asked for.
            ("receive.message.max.bytes", "1000000000"),
        ]
        properties.append(("session.timeout.ms", String(sessionTimeoutMs)))
        if let instanceID { properties.append(("group.instance.id", instanceID)) }
        // Without it a consumer that empties its queue stalls for a second at a time; 2.0.2 does not know it yet.
        if rd_kafka_version() >= 0x0202_00FF { properties.append(("fetch.queue.backoff.ms", "10")) }
        handle = try unsafe Handle(RD_KAFKA_CONSUMER, settings, properties) { conf in
            unsafe FetchPace.watch(conf)
            unsafe GroupJoin.watch(conf)
            unsafe rd_kafka_conf_set_rebalance_cb(conf) { client, code, list, opaque in
                let context = unsafe CallbackContext.of(opaque)
                let partitions = unsafe PartitionList.read(list, context.names)
                if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
                    context.join.isAssigned = true
                    context.changes.append(.assigned(partitions))
                    return
                }
                // A revocation is answered here at once, because closing waits for the answer, too. Records read and not written are read
                // again by the new owner. Only partitions that were started can be revoked.
                let begun = partitions.filter { context.reading.contains($0) }
                context.reading.subtract(begun)
                let list = unsafe PartitionList.make(begun.map { ($0, nil) }, context.names)
                defer { unsafe rd_kafka_topic_partition_list_destroy(list) }
                if let error = unsafe rd_kafka_incremental_unassign(client, list) {
                    context.log(4, unsafe String(cString: rd_kafka_error_string(error)))
                    unsafe rd_kafka_error_destroy(error)
                }
                context.changes.append(.revoked(partitions))
            }
        }
        unsafe rd_kafka_poll_set_consumer(handle.client)
    }

    deinit { ConsumerEnd.end(handle) }

    /// Clients of this process that could not leave their group, and live on.
    public static var givenUp: Int { ConsumerEnd.count }

    public func subscribe(_ topics: [String]) throws {
        let list = unsafe PartitionList.make(
            topics.map { (TopicPartition(topic: $0, partition: -1), nil) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try check(unsafe rd_kafka_subscribe(handle.client, list), "subscribing to \(topics.joined(separator: ", "))")
    }

    /// Begins to read these partitions, beside those that are read already, at these offsets.
    public func add(_ offsets: [TopicPartition: Int64]) throws {
        let list = unsafe PartitionList.make(offsets.map { ($0.key, $0.value) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try unsafe check(rd_kafka_incremental_assign(handle.client, list), "starting to read")
        handle.context.reading.formUnion(offsets.keys)
    }

    /// Stops reading these partitions; the group still counts them as ours.
    public func remove(_ partitions: some Sequence<TopicPartition>) throws {
        let begun = partitions.filter { handle.context.reading.contains($0) }
        guard !begun.isEmpty else { return }
        handle.context.reading.subtract(begun)
        let list = unsafe PartitionList.make(begun.map { ($0, nil) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try unsafe check(rd_kafka_incremental_unassign(handle.client, list), "stopping to read")
    }

    /// Pauses and resumes partitions whose lane cannot keep up. Records fetched and not polled are fetched again.
    public func pause(_ partitions: [TopicPartition]) throws { try unsafe flow(partitions, rd_kafka_pause_partitions) }
    public func resume(_ partitions: [TopicPartition]) throws {
        try unsafe flow(partitions, rd_kafka_resume_partitions)
    }

    private func flow(
        _ partitions: [TopicPartition],
        _ call: (OpaquePointer?, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> rd_kafka_resp_err_t
    ) throws {
        guard !partitions.isEmpty else { return }
        let list = unsafe PartitionList.make(partitions.map { ($0, nil) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try check(unsafe call(handle.client, list), "pausing or resuming partitions")
    }

    /// Why this client stopped for good (for example another member with the same static id); nil while it works. Nothing is polled after
    /// it.
    public var fatalError: String? {
        var reason = [CChar](repeating: 0, count: 512)
        guard unsafe rd_kafka_fatal_error(handle.client, &reason, reason.count) != RD_KAFKA_RESP_ERR_NO_ERROR else {
            return nil
        }
        return text(reason)
    }

    /// Whether certificates or passwords were renewed, and another client can be made with them. This one goes on with those that
    /// it has, as long as brokers take them.
    public var isOutdated: Bool { handle.isOutdated() }

    /// Whether the group is about to give this member its first partitions: not the time to make another client.
    public var isJoining: Bool { handle.context.join.isWorthWaiting }

    /// Whether the group has revoked everything from this member, which does not know it yet.
    public var isAssignmentLost: Bool { unsafe rd_kafka_assignment_lost(handle.client) != 0 }

    /// Messages as they come: waits for the first, then returns all that are available.
    public func poll(timeoutMs: Int32) throws -> MessageBatch { try poll(timeoutMs: timeoutMs, into: 1) { _ in 0 }[0] }

    /// The same, into `count` batches: `place` tells which one a partition's messages go to.
    ///
    /// Not librdkafka's batch call: 2.0.2 hands out messages of partitions that are gone beside a rebalance
    /// (release notes of 2.1.0).
    public func poll(
        timeoutMs: Int32, into count: Int, _ place: (TopicPartition) -> Int
    ) throws -> [MessageBatch] {
        if let failure = pendingFailure {
            pendingFailure = nil
            throw failure
        }
        // Local, because access to class members is checked each time; batches are made from it at the end.
        var gathered = unsafe [[UnsafeMutablePointer<rd_kafka_message_t>]](repeating: [], count: count)
        var runs = [[(partition: TopicPartition, first: Int)]](repeating: [], count: count)
        var (wait, taken) = (timeoutMs, 0)
        var lastTopic: OpaquePointer?
        var (lastPartition, last): (Int32, Int) = (-1, 0)
        while taken < batchMax, let message = unsafe rd_kafka_consumer_poll(handle.client, wait) {
            wait = 0
            if unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
                if unsafe message.pointee.partition != lastPartition || message.pointee.rkt != lastTopic {
                    unsafe (lastPartition, lastTopic) = (message.pointee.partition, message.pointee.rkt)
                    let partition = unsafe TopicPartition(topic: name(message.pointee.rkt), partition: lastPartition)
                    last = place(partition)
                    if runs[last].last?.partition != partition {
                        runs[last].append((partition, unsafe gathered[last].count))
                    }
                }
                unsafe gathered[last].append(message)
                taken += 1
            } else {
                pendingFailure = unsafe read(message)
                unsafe rd_kafka_message_destroy(message)
                if pendingFailure != nil { break }
            }
            if !handle.context.changes.isEmpty { break }
        }
        return unsafe zip(gathered, runs).map { unsafe MessageBatch($0, runs: $1) }
    }

    private func name(_ topic: OpaquePointer) -> String {
        if let name = unsafe names[topic] { return name }
        let onBrokers = unsafe String(cString: rd_kafka_topic_name(topic))
        let name = handle.context.names.ours(onBrokers) ?? onBrokers
        unsafe names[topic] = name
        return name
    }

    /// The group's changes during the last poll, in order. Handle them before the next one.
    public func drainChanges() -> [AssignmentChange] {
        defer { handle.context.changes = [] }
        return handle.context.changes
    }

    /// A leader says that the log has lost its end (RD_KAFKA_RESP_ERR__LOG_TRUNCATION, since 2.1.0).
    private static let logTruncated = rd_kafka_resp_err_t(rawValue: -139)

    /// An error that came as a message; nil when librdkafka gets over it by itself.
    private func read(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaError? {
        switch unsafe message.pointee.err {
        case RD_KAFKA_RESP_ERR__PARTITION_EOF, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__SSL,
            RD_KAFKA_RESP_ERR__AUTHENTICATION:
            return nil
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, Consumer.logTruncated:
            guard let topic = unsafe message.pointee.rkt else { return nil }
            handle.context.changes.append(
                .outOfRange(unsafe TopicPartition(topic: name(topic), partition: message.pointee.partition)))
            return nil
        case let code:
            let topic = unsafe message.pointee.rkt.map { unsafe name($0) } ?? "the topics"
            let detail = unsafe rd_kafka_message_errstr(message).map { unsafe String(cString: $0) }
            return unsafe KafkaError(code, "reading \(topic)[\(message.pointee.partition)]", detail: detail)
        }
    }

    /// The first offset that is there and the one after the last.
    public func watermarks(of partition: TopicPartition, timeoutMs: Int32) throws -> (low: Int64, high: Int64) {
        var (low, high): (Int64, Int64) = (0, 0)
        try check(
            unsafe rd_kafka_query_watermark_offsets(
                handle.client, handle.context.names.onBrokers(partition.topic), partition.partition, &low, &high,
                timeoutMs),
            "asking for the ends of \(partition)")
        return (low, high)
    }

    /// The offset after the last record, as the last fetch told it; nil: nothing was fetched yet. Asks nobody.
    public func knownEnd(of partition: TopicPartition) -> Int64? {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = unsafe rd_kafka_get_watermark_offsets(
            handle.client, handle.context.names.onBrokers(partition.topic), partition.partition, &low, &high)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }

    /// The logs of partitions as their brokers tell them, asked together: there may be hundreds. One whose broker does not
    /// answer is left out.
    ///
    /// - Parameter ends: topics whose ends are asked for, too.
    public func logs(
        of partitions: some Collection<TopicPartition>, ends: Set<String> = [], timeoutMs: Int32
    ) throws -> [TopicPartition: PartitionLog] {
        let identities = try identities(of: Set(partitions.map(\.topic)), timeoutMs: timeoutMs)
        let firsts = try offsets(of: Array(partitions), fromMs: Consumer.earliest, timeoutMs: timeoutMs)
        let ending = partitions.filter { ends.contains($0.topic) }
        let lasts =
            ending.isEmpty ? [:] : try offsets(of: Array(ending), fromMs: Consumer.latest, timeoutMs: timeoutMs)
        var logs: [TopicPartition: PartitionLog] = [:]
        for case (let partition, let first?) in firsts {
            guard let identity = identities[partition.topic], identity.partitions > partition.partition else {
                continue
            }
            let end = lasts[partition] ?? nil
            // Its broker did not say.
            if ends.contains(partition.topic), end == nil { continue }
            logs[partition] = PartitionLog(
                partition: partition, firstOffset: first, endOffset: end, identity: identity)
        }
        return logs
    }

    /// A special time: the first available offset (ListOffsets in the protocol).
    private static let earliest: Int64 = -2
    private static let latest: Int64 = -1

    /// The first offset of each partition pushed at this time or later; nil where there is none. A partition whose broker does not answer
    /// is left out.
    public func offsets(
        of partitions: [TopicPartition], fromMs ms: Int64, timeoutMs: Int32
    ) throws -> [TopicPartition: Int64?] {
        let list = unsafe PartitionList.make(partitions.map { ($0, ms) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        try check(
            unsafe rd_kafka_offsets_for_times(handle.client, list, timeoutMs), "asking for the offsets of a time")
        var offsets: [TopicPartition: Int64?] = [:]
        for index in unsafe 0..<Int(list.pointee.cnt) {
            let row = unsafe list.pointee.elems[index]
            guard unsafe row.err == RD_KAFKA_RESP_ERR_NO_ERROR,
                let partition = unsafe PartitionList.partition(row, handle.context.names)
            else { continue }
            offsets[partition] = unsafe .some(row.offset >= 0 ? row.offset : nil)
        }
        return offsets
    }

    /// The identities of the topics that exist.
    public func identities(of topics: Set<String>, timeoutMs: Int32) throws -> [String: TopicIdentity] {
        try handle.identities(of: topics.sorted(), isMember: true, timeoutMs: timeoutMs)
    }

    public func partitions(of topic: String, timeoutMs: Int32) throws -> Int32? {
        try handle.partitions(of: topic, timeoutMs: timeoutMs)[topic]
    }

    /// For lag tools; the answer is not waited for.
    public func commitForLagTools(_ offsets: [TopicPartition: Int64]) {
        let list = unsafe PartitionList.make(offsets.map { ($0.key, $0.value) }, handle.context.names)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }

        // A failure only makes a lag tool wrong for a while.
        _ = unsafe rd_kafka_commit(handle.client, list, 1)
    }

    private func check(_ error: OpaquePointer?, _ doing: String) throws {
        guard let error = unsafe error else { return }
        defer { unsafe rd_kafka_error_destroy(error) }

        let detail = unsafe String(cString: rd_kafka_error_string(error))
        throw unsafe handle.context.error(rd_kafka_error_code(error), doing, detail: detail)
    }

    private func check(_ code: rd_kafka_resp_err_t, _ doing: String) throws {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw handle.context.error(code, doing) }
    }
}

/// C lists of partitions.
enum PartitionList {
    static func make(
        _ rows: [(TopicPartition, Int64?)], _ names: TopicNames
    ) -> UnsafeMutablePointer<rd_kafka_topic_partition_list_t> {
        let list = unsafe rd_kafka_topic_partition_list_new(Int32(rows.count))!
        for (partition, offset) in rows {
            let row = unsafe rd_kafka_topic_partition_list_add(
                list, names.onBrokers(partition.topic), partition.partition)
            if let offset { unsafe row?.pointee.offset = offset }
        }
        return unsafe list
    }

    static func read(
        _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?, _ names: TopicNames
    ) -> [TopicPartition] {
        guard let list = unsafe list else { return [] }
        return unsafe (0..<Int(list.pointee.cnt)).compactMap { unsafe partition(list.pointee.elems[$0], names) }
    }

    static func partition(_ row: rd_kafka_topic_partition_t, _ names: TopicNames) -> TopicPartition? {
        unsafe names.ours(String(cString: row.topic)).map { TopicPartition(topic: $0, partition: unsafe row.partition) }
    }
}
