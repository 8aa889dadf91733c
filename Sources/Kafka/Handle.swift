internal import CRdkafka

/// How to reach the brokers. `extra` are further librdkafka properties.
public struct KafkaSettings: Sendable {
    public var brokers: String
    public var clientID: String
    public var extra: [String: String]
    /// Where librdkafka's own lines go; the level is syslog's (3 error, 4 warning, 6 info).
    public var log: @Sendable (_ level: Int, _ line: String) -> Void = { _, _ in }

    public init(brokers: String, clientID: String, extra: [String: String] = [:]) {
        (self.brokers, self.clientID, self.extra) = (brokers, clientID, extra)
    }
}

/// What C callbacks find behind their opaque pointer. librdkafka calls them from inside our own poll calls, on the
/// thread that polls, but for the log, which its threads call: `log` is @Sendable.
final class CallbackContext {
    let log: @Sendable (Int, String) -> Void
    var delivered = 0
    var failed = 0
    var firstFailure: KafkaError?
    /// Of records that carry a tag.
    var deliveries: [Delivery] = []
    var changes: [AssignmentChange] = []
    /// Partitions that a consumer reads.
    var reading: Set<TopicPartition> = []

    init(log: @escaping @Sendable (Int, String) -> Void) { self.log = log }

    static func of(_ opaque: UnsafeMutableRawPointer?) -> CallbackContext {
        unsafe Unmanaged<CallbackContext>.fromOpaque(opaque!).takeUnretainedValue()
    }
}

/// Owns one `rd_kafka_t` and the context that its callbacks use.
@safe
final class Handle {
    let client: OpaquePointer
    let context: CallbackContext
    private let retained: Unmanaged<CallbackContext>

    init(
        _ type: rd_kafka_type_t, _ settings: KafkaSettings, _ properties: [(String, String)],
        configure: (OpaquePointer) -> Void = { _ in }
    ) throws {
        context = CallbackContext(log: settings.log)
        unsafe retained = Unmanaged.passRetained(context)
        let conf = unsafe rd_kafka_conf_new()!
        let all = [("bootstrap.servers", settings.brokers), ("client.id", settings.clientID)] + properties
        do {
            for (name, value) in all + settings.extra.sorted(by: { $0.key < $1.key }) {
                try unsafe Handle.set(conf, name, value)
            }
        } catch {
            unsafe rd_kafka_conf_destroy(conf)
            unsafe retained.release()
            throw error
        }
        unsafe rd_kafka_conf_set_opaque(conf, retained.toOpaque())
        unsafe rd_kafka_conf_set_log_cb(conf) { client, level, _, line in
            guard let client = unsafe client, let line = unsafe line else { return }
            unsafe CallbackContext.of(rd_kafka_opaque(client)).log(Int(level), String(cString: line))
        }
        unsafe rd_kafka_conf_set_error_cb(conf) { _, _, _, _ in }  // Said by the log line and by the calls that fail.
        unsafe configure(conf)
        var problem = [CChar](repeating: 0, count: 512)
        // On success the client owns the configuration; on failure it is still ours.
        guard let made = unsafe rd_kafka_new(type, conf, &problem, problem.count) else {
            unsafe rd_kafka_conf_destroy(conf)
            unsafe retained.release()
            throw KafkaError(doing: "connecting to \(settings.brokers)", message: text(problem))
        }
        unsafe client = made
    }

    deinit {
        unsafe rd_kafka_destroy(client)
        // After the destroy call no callback can come any more.
        unsafe retained.release()
    }

    private static func set(_ conf: OpaquePointer, _ name: String, _ value: String) throws {
        var problem = [CChar](repeating: 0, count: 512)
        guard unsafe rd_kafka_conf_set(conf, name, value, &problem, problem.count) == RD_KAFKA_CONF_OK else {
            throw KafkaError(doing: "Kafka property \(name)", message: text(problem))
        }
    }

    /// Topics with their partitions; the given one only, or all.
    func partitions(of topic: String?, timeoutMs: Int32) throws -> [String: Int32] {
        var handle: OpaquePointer?
        if let topic { unsafe handle = rd_kafka_topic_new(client, topic, nil) }
        defer { unsafe handle.map { unsafe rd_kafka_topic_destroy($0) } }

        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(client, topic == nil ? 1 : 0, handle, &metadata, timeoutMs)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata = unsafe metadata else {
            throw KafkaError(code, "asking the broker for its topics")
        }
        defer { unsafe rd_kafka_metadata_destroy(metadata) }

        var counts: [String: Int32] = [:]
        for index in 0..<Int(unsafe metadata.pointee.topic_cnt) {
            let row = unsafe metadata.pointee.topics[index]
            guard unsafe row.err == RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            unsafe counts[String(cString: row.topic)] = unsafe row.partition_cnt
        }
        return counts
    }
}
