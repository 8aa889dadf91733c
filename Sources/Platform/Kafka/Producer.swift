internal import CRdkafka
internal import Telemetry

/// The result of producing a record with a tag.
public struct Delivery: Sendable {
    public let tag: Int
    /// Nil: the broker has acknowledged it.
    public let failure: KafkaError?
    /// Its position on the log, once acknowledged.
    public let partition: Int32
    public let offset: Int64
}

/// Sends records and knows which of them the broker has acknowledged (acks=all, idempotent). One thread.
///
/// Its queue is bounded by records and bytes; a full one makes `produce` wait as long as anything moves.
@safe
public final class Producer {
    /// How a producer trades delay for size, and its limits while the broker is away.
    public struct Tuning: Sendable {
        /// How long a record waits for company.
        public var lingerMs: Int
        /// A record that is not acknowledged by then has failed; 0: it is tried for ever.
        public var timeoutMs: Int
        /// Sent once, in order, with every replica's acknowledgement. Without: once tried, one replica's.
        public var isIdempotent: Bool

        public init(lingerMs: Int = 10, timeoutMs: Int = 30_000, isIdempotent: Bool = true) {
            self.lingerMs = lingerMs
            self.timeoutMs = timeoutMs
            self.isIdempotent = isIdempotent
        }
    }

    /// A full local queue in which nothing moves is waited for this long.
    private static let queueWaitMsMax = 60_000
    private static let queueMessagesMax = 100_000
    private static let queueKiBMax = 65_536
    /// How long a client with renewed files may go without an acknowledgement; then its records count as failed, and their owner sends
    /// them again.
    private static let renewMs: Int64 = 5_000

    private let settings: KafkaSettings
    private let tuning: Tuning
    private var handle: Handle
    /// Since when a client with renewed files has waited for the old one's outstanding records, and the count that had been delivered
    /// then.
    private var renewing: (sinceMs: Int64, delivered: Int)?
    /// Records that `produce` has taken.
    public private(set) var queued = 0

    public init(_ settings: KafkaSettings, _ tuning: Tuning = Tuning()) throws {
        self.settings = settings
        self.tuning = tuning
        handle = try Producer.handle(settings, tuning, context: nil)
    }

    private static func handle(
        _ settings: KafkaSettings, _ tuning: Tuning, context: CallbackContext?
    ) throws -> Handle {
        let guarantee =
            tuning.isIdempotent
            ? [("enable.idempotence", "true"), ("acks", "all")]
            : [("enable.idempotence", "false"), ("acks", "1"), ("retries", "0")]
        return try unsafe Handle(
            RD_KAFKA_PRODUCER, settings,
            guarantee + [
                ("linger.ms", "\(tuning.lingerMs)"), ("partitioner", "murmur2_random"),
                ("queue.buffering.max.messages", "\(Producer.queueMessagesMax)"),
                ("queue.buffering.max.kbytes", "\(Producer.queueKiBMax)"),
                ("message.timeout.ms", "\(tuning.timeoutMs)"), ("compression.type", "lz4"),
                // A topic that the broker makes by itself has its number of partitions, not ours.
                ("allow.auto.create.topics", "false"), ("topic.metadata.propagation.max.ms", "10000"),
                // The default backs off to 10 s: a broker that is back would wait for us.
                ("reconnect.backoff.max.ms", "1000"),
            ], context: context
        ) { conf in
            unsafe rd_kafka_conf_set_dr_msg_cb(conf) { _, message, opaque in
                guard let message = unsafe message else { return }
                unsafe Producer.delivered(message, CallbackContext.of(opaque))
            }
        }
    }

    /// librdkafka reads certificates when a client is made and never again. Between records another client takes this one's place;
    /// its counts and its deliveries go on.
    private func adoptRenewedSettings() {
        guard handle.isOutdated() else { return }
        if underWay == 0 {
            do {
                handle = try Producer.handle(settings, tuning, context: handle.context)
                renewing = nil
            } catch {
                // Gone again since they were looked at: the next call tries.
                handle.context.log(3, "renewed files cannot be used: \(error)")
            }
            return
        }
        let now = Clock.steadyMs()
        if let renewing, renewing.delivered == delivered {
            guard now - renewing.sinceMs >= Producer.renewMs else { return }
            // Tried with the old files for ever otherwise, where records have no time-out.
            unsafe rd_kafka_purge(handle.client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        }
        renewing = (now, delivered)
    }

    private static func delivered(_ message: UnsafePointer<rd_kafka_message_t>, _ context: CallbackContext) {
        let code = unsafe message.pointee.err
        let failure =
            code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : unsafe context.error(code, "sending \(record(message))")
        if failure == nil { context.delivered += 1 } else { context.failed += 1 }
        if let tag = unsafe message.pointee._private {
            // One was added so that no tag is a null pointer.
            unsafe context.deliveries.append(
                Delivery(
                    tag: Int(bitPattern: tag) - 1, failure: failure, partition: message.pointee.partition,
                    offset: message.pointee.offset))
        } else if context.firstFailure == nil {
            context.firstFailure = failure
        }
    }

    /// Names a record in messages: topic and key, never the value.
    private static func record(_ message: UnsafePointer<rd_kafka_message_t>) -> String {
        let topic = unsafe message.pointee.rkt.map { unsafe String(cString: rd_kafka_topic_name($0)) } ?? "a topic"
        guard let key = unsafe message.pointee.key, unsafe message.pointee.key_len > 0 else {
            return unsafe "a record to \(topic)[\(message.pointee.partition)]"
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: key, count: min(64, message.pointee.key_len))
        return unsafe "the record of `\(String(decoding: bytes, as: UTF8.self))` to \(topic)"
    }

    /// Records that the broker has acknowledged.
    public var delivered: Int { handle.context.delivered }
    /// Records that it has not, and that are not tried any more.
    public var failed: Int { handle.context.failed }
    /// Records and requests that are still under way.
    public var underWay: Int { Int(unsafe rd_kafka_outq_len(handle.client)) }

    /// Queues a record; `partition` nil: chosen by the key (murmur2, as Java clients do).
    ///
    /// With a tag its outcome comes from `deliveries`. Without, the first failure is thrown by the next call here or by
    /// `flush`, which names the record.
    public func produce(
        topic: String, partition: Int32?, key: [UInt8], value: [UInt8], timestampMs: Int64?,
        header: (name: String, value: String)? = nil, tag: Int? = nil
    ) throws {
        adoptRenewedSettings()
        var (waitedMs, seen) = (0, handle.context.delivered)
        while true {
            let code = send(topic, partition, key, value, timestampMs, header, tag)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { break }
            guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL, waitedMs < Producer.queueWaitMsMax else {
                throw handle.context.error(code, "sending to \(topic)")
            }
            unsafe rd_kafka_poll(handle.client, 100)
            waitedMs = handle.context.delivered > seen ? 0 : waitedMs + 100
            seen = handle.context.delivered
            try checkFailures()
        }
        queued += 1
        unsafe rd_kafka_poll(handle.client, 0)
        try checkFailures()
    }

    private func send(
        _ topic: String, _ partition: Int32?, _ key: [UInt8], _ value: [UInt8], _ timestampMs: Int64?,
        _ header: (name: String, value: String)?, _ tag: Int?
    ) -> rd_kafka_resp_err_t {
        unsafe handle.context.names.onBrokers(topic).withCString { topic in
            unsafe (header?.name ?? "").withCString { headerName in
                unsafe (header?.value ?? "").withCString { headerValue in
                    unsafe key.withUnsafeBytes { key in
                        unsafe value.withUnsafeBytes { value in
                            var fields = unsafe Producer.fields(topic, partition, key, value, timestampMs)
                            // A list of ours: it stays ours where the record is refused. A single header would be freed twice then, before
                            // librdkafka 2.12.0 (#4627).
                            let headers = unsafe header == nil ? nil : rd_kafka_headers_new(1)
                            if let headers = unsafe headers {
                                unsafe rd_kafka_header_add(headers, headerName, -1, headerValue, -1)
                                var field = unsafe rd_kafka_vu_t()
                                unsafe field.vtype = RD_KAFKA_VTYPE_HEADERS
                                unsafe field.u.headers = headers
                                unsafe fields.append(field)
                            }
                            if let tag {
                                var field = unsafe rd_kafka_vu_t()
                                unsafe field.vtype = RD_KAFKA_VTYPE_OPAQUE
                                unsafe field.u.ptr = UnsafeMutableRawPointer(bitPattern: tag + 1)
                                unsafe fields.append(field)
                            }
                            guard let error = unsafe rd_kafka_produceva(handle.client, &fields, fields.count) else {
                                return RD_KAFKA_RESP_ERR_NO_ERROR
                            }
                            defer { unsafe rd_kafka_error_destroy(error) }

                            unsafe headers.map { unsafe rd_kafka_headers_destroy($0) }
                            return unsafe rd_kafka_error_code(error)
                        }
                    }
                }
            }
        }
    }

    /// The values are copied by librdkafka (RD_KAFKA_MSG_F_COPY), so they live for the call only.
    private static func fields(
        _ topic: UnsafePointer<CChar>, _ partition: Int32?, _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer, _ timestampMs: Int64?
    ) -> [rd_kafka_vu_t] {
        var fields = unsafe [rd_kafka_vu_t](repeating: rd_kafka_vu_t(), count: 5)
        unsafe fields[0].vtype = RD_KAFKA_VTYPE_TOPIC
        unsafe fields[0].u.cstr = topic
        unsafe fields[1].vtype = RD_KAFKA_VTYPE_PARTITION
        unsafe fields[1].u.i32 = partition ?? Int32(RD_KAFKA_PARTITION_UA)
        unsafe fields[2].vtype = RD_KAFKA_VTYPE_KEY
        unsafe fields[2].u.mem.ptr = UnsafeMutableRawPointer(mutating: key.isEmpty ? nil : key.baseAddress)
        unsafe fields[2].u.mem.size = key.count
        unsafe fields[3].vtype = RD_KAFKA_VTYPE_VALUE
        unsafe fields[3].u.mem.ptr = UnsafeMutableRawPointer(mutating: value.baseAddress)
        unsafe fields[3].u.mem.size = value.count
        unsafe fields[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS
        unsafe fields[4].u.i = RD_KAFKA_MSG_F_COPY
        if let timestampMs {
            var stamp = unsafe rd_kafka_vu_t()
            unsafe stamp.vtype = RD_KAFKA_VTYPE_TIMESTAMP
            unsafe stamp.u.i64 = timestampMs
            unsafe fields.append(stamp)
        }
        return unsafe fields
    }

    /// Results of tagged records since the last call; waits for the first.
    public func deliveries(timeoutMs: Int32) -> [Delivery] {
        unsafe rd_kafka_poll(handle.client, handle.context.deliveries.isEmpty ? timeoutMs : 0)
        adoptRenewedSettings()
        defer { handle.context.deliveries = [] }
        return handle.context.deliveries
    }

    /// Waits until the broker has acknowledged everything; throws when anything failed, or when nothing was
    /// acknowledged for `timeoutMs`.
    public func flush(timeoutMs: Int32) throws {
        var (waitedMs, seen): (Int32, Int) = (0, handle.context.delivered)
        while true {
            let step = min(500, max(1, timeoutMs - waitedMs))
            let code = unsafe rd_kafka_flush(handle.client, step)
            try checkFailures()
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { return }
            waitedMs = handle.context.delivered > seen ? 0 : waitedMs + step
            seen = handle.context.delivered
            guard waitedMs < timeoutMs else {
                throw handle.context.error(
                    code, "waiting for the broker's acknowledgement of \(queued - delivered) records")
            }
        }
    }

    private func checkFailures() throws { if let failure = handle.context.firstFailure { throw failure } }

    /// Nil when the topic is not there.
    public func partitionCount(of topic: String, timeoutMs: Int32) throws -> Int? {
        try topics(timeoutMs: timeoutMs)[topic].map { Int($0) }
    }

    /// Partitions by topic. Asks for all of them: a broker may make a topic that is asked for by name.
    public func topics(timeoutMs: Int32) throws -> [String: Int32] {
        adoptRenewedSettings()
        return try handle.partitions(of: nil, timeoutMs: timeoutMs)
    }
}
