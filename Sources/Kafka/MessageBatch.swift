internal import CRdkafka

/// Messages polled together. Keys and values are librdkafka's memory and live exactly as long as the batch.
@safe
public struct MessageBatch: ~Copyable {
    private let messages: [UnsafeMutablePointer<rd_kafka_message_t>]
    /// Topic handles are few and repeat: each name is made once a batch.
    private let topics: [OpaquePointer: String]

    init(_ messages: [UnsafeMutablePointer<rd_kafka_message_t>]) {
        unsafe self.messages = unsafe messages
        var topics: [OpaquePointer: String] = unsafe [:]
        unsafe messages.forEach { message in
            guard let topic = unsafe message.pointee.rkt, unsafe topics[topic] == nil else { return }
            unsafe topics[topic] = unsafe String(cString: rd_kafka_topic_name(topic))
        }
        unsafe self.topics = unsafe topics
    }

    deinit { unsafe messages.forEach { unsafe rd_kafka_message_destroy($0) } }

    public var count: Int { unsafe messages.count }

    public func partition(_ index: Int) -> TopicPartition {
        let message = unsafe messages[index].pointee
        return unsafe TopicPartition(topic: topics[message.rkt]!, partition: message.partition)
    }

    public func offset(_ index: Int) -> Int64 { unsafe messages[index].pointee.offset }

    /// When the record was pushed, by the broker's or the producer's clock (the topic's choice); epoch milliseconds.
    public func timestampMs(_ index: Int) -> Int64 {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        return unsafe rd_kafka_message_timestamp(messages[index], &type)
    }

    /// Lends key and value; the value of a tombstone is nil.
    public func withBytes<R>(
        _ index: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> R
    ) rethrows -> R {
        let message = unsafe messages[index].pointee
        let key = unsafe UnsafeRawBufferPointer(start: message.key, count: message.key == nil ? 0 : message.key_len)
        let value = unsafe message.payload.map { unsafe UnsafeRawBufferPointer(start: $0, count: message.len) }
        return try unsafe body(key, value)
    }
}
