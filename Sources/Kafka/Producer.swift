internal import CRdkafka

/// Sends records and knows which of them the broker has acknowledged (acks=all, idempotent). One thread.
@safe
public final class Producer {
    /// A full local queue is waited for this long.
    private static let queueWaitMsMax = 60_000

    private let handle: Handle

    public init(_ settings: KafkaSettings) throws {
        handle = try unsafe Handle(
            RD_KAFKA_PRODUCER, settings,
            [
                ("enable.idempotence", "true"), ("acks", "all"), ("linger.ms", "10"), ("partitioner", "murmur2_random"),
                ("queue.buffering.max.messages", "100000"), ("message.timeout.ms", "30000"),
                ("compression.type", "lz4"),
            ]
        ) { conf in
            unsafe rd_kafka_conf_set_dr_msg_cb(conf) { _, message, opaque in
                let context = unsafe CallbackContext.of(opaque)
                guard let code = unsafe message?.pointee.err, code != RD_KAFKA_RESP_ERR_NO_ERROR else {
                    context.delivered += 1
                    return
                }
                context.failed += 1
                if context.firstFailure == nil { context.firstFailure = KafkaError(code, "sending a record") }
            }
        }
    }

    public var delivered: Int { handle.context.delivered }

    /// Queues a record; `partition` nil: chosen by the key (murmur2, as Java clients do).
    public func produce(topic: String, partition: Int32?, key: [UInt8], value: [UInt8], timestampMs: Int64?) throws {
        var waitedMs = 0
        while true {
            let code = send(topic, partition, key, value, timestampMs)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { break }
            guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL, waitedMs < Producer.queueWaitMsMax else {
                throw KafkaError(code, "sending to \(topic)")
            }
            unsafe rd_kafka_poll(handle.client, 100)
            waitedMs += 100
            try checkFailures()
        }
        unsafe rd_kafka_poll(handle.client, 0)
        try checkFailures()
    }

    private func send(
        _ topic: String, _ partition: Int32?, _ key: [UInt8], _ value: [UInt8], _ timestampMs: Int64?
    ) -> rd_kafka_resp_err_t {
        unsafe topic.withCString { topic in
            unsafe key.withUnsafeBytes { key in
                unsafe value.withUnsafeBytes { value in
                    // The values are copied by librdkafka (RD_KAFKA_MSG_F_COPY), so they live for the call only.
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
                    guard let error = unsafe rd_kafka_produceva(handle.client, &fields, fields.count) else {
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }
                    defer { unsafe rd_kafka_error_destroy(error) }

                    return unsafe rd_kafka_error_code(error)
                }
            }
        }
    }

    /// Waits until the broker has acknowledged everything; throws when anything failed or is still under way.
    public func flush(timeoutMs: Int32) throws {
        let code = unsafe rd_kafka_flush(handle.client, timeoutMs)
        try checkFailures()
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(code, "waiting for the broker's acknowledgement")
        }
    }

    private func checkFailures() throws { if let failure = handle.context.firstFailure { throw failure } }

    /// Nil when the topic is not there.
    public func partitionCount(of topic: String, timeoutMs: Int32) throws -> Int? {
        try handle.partitions(of: topic, timeoutMs: timeoutMs)[topic].map { Int($0) }
    }
}
