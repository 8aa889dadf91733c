internal import CRdkafka

/// Messages polled together, in runs of one partition each. Keys and values are librdkafka's memory and live exactly as
/// long as the batch.
///
/// It is made by the thread that polls, then handed over whole and used by one thread at a time; librdkafka lets any
/// thread destroy a message. That is why it may be sent.
@safe
public final class MessageBatch: @unchecked Sendable {
    /// Messages of one partition that stand together.
    public struct Run: Sendable {
        public let partition: TopicPartition
        public let messages: Range<Int>
    }

    private let messages: [UnsafeMutablePointer<rd_kafka_message_t>]
    public let runs: [Run]

    /// Takes the messages over.
    /// - Parameter runs: where each of them begins.
    init(_ messages: [UnsafeMutablePointer<rd_kafka_message_t>], runs: [(partition: TopicPartition, first: Int)]) {
        unsafe self.messages = unsafe messages
        let ends = unsafe runs.dropFirst().map(\.first) + [messages.count]
        self.runs = zip(runs, ends).map { Run(partition: $0.partition, messages: $0.first..<$1) }
    }

    deinit { unsafe messages.forEach { unsafe rd_kafka_message_destroy($0) } }

    public var count: Int { unsafe messages.count }

    public func offset(_ index: Int) -> Int64 { unsafe messages[index].pointee.offset }

    /// When the record was pushed, by the broker's or the producer's clock (the topic's choice); epoch milliseconds.
    public func timestampMs(_ index: Int) -> Int64 {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        return unsafe rd_kafka_message_timestamp(messages[index], &type)
    }

    /// Whether that is the producer's clock. False where the broker does not say.
    public func isStampedBySender(_ index: Int) -> Bool {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        _ = unsafe rd_kafka_message_timestamp(messages[index], &type)
        return type == RD_KAFKA_TIMESTAMP_CREATE_TIME
    }

    /// Lends key and value; the value of a tombstone is nil.
    @inline(__always)
    public func withBytes<R>(
        _ index: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> R
    ) rethrows -> R {
        let message = unsafe messages[index]
        let key = unsafe UnsafeRawBufferPointer(
            start: message.pointee.key, count: message.pointee.key == nil ? 0 : message.pointee.key_len)
        let value = unsafe message.pointee.payload.map {
            unsafe UnsafeRawBufferPointer(start: $0, count: message.pointee.len)
        }
        return try unsafe body(key, value)
    }

    /// Tells whether a record is the one that was read before: FNV-1a over stamp, key and value, never 0. Not against
    /// forgery.
    public func fingerprint(_ index: Int) -> Int64 {
        unsafe withBytes(index) { key, value in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            unsafe withUnsafeBytes(of: timestampMs(index).littleEndian) { unsafe $0.forEach(add) }
            unsafe key.forEach(add)
            add(0)
            if let value = unsafe value { unsafe value.forEach(add) }
            return hash == 0 ? 1 : Int64(bitPattern: hash)
        }
    }
}
