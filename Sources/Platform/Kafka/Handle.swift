internal import CRdkafka
internal import Crypto
internal import Glibc
internal import Telemetry

/// How to reach the brokers. `extra` are further librdkafka properties.
public struct KafkaSettings: Sendable {
    public var brokers: String
    public var clientID: String
    public var extra: [String: String]
    /// The prefix of our topics and groups on the brokers, so that two installations can share them.
    public var names = TopicNames()
    public var security = KafkaSecurity()
    /// Receives librdkafka's own lines; the level is syslog's (3 error, 4 warning, 6 info).
    public var log: @Sendable (_ level: Int, _ line: String) -> Void = { _, _ in }

    public init(brokers: String, clientID: String, extra: [String: String] = [:]) {
        self.brokers = brokers
        self.clientID = clientID
        self.extra = extra
    }
}

/// The names of topics and groups, here and on the brokers: there they begin with a prefix. Nobody outside this target sees it.
public struct TopicNames: Sendable {
    private let prefix: String

    public init(prefix: String = "") { self.prefix = prefix }

    func onBrokers(_ name: String) -> String { prefix.isEmpty ? name : prefix + name }

    /// Nil: it is another installation's.
    func ours(_ name: String) -> String? {
        guard !prefix.isEmpty else { return name }
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}

/// The context behind the opaque pointer of C callbacks. librdkafka calls them inside our poll calls, on the polling thread; only the log,
/// certificate checks and group answers come from its own threads, so `log`, `trouble` and `join` are Sendable.
final class CallbackContext {
    let log: @Sendable (Int, String) -> Void
    let names: TopicNames
    /// Written by librdkafka's threads.
    let trouble = BrokerDiagnosis()
    var delivered = 0
    var failed = 0
    var firstFailure: KafkaError?
    /// For records with a tag.
    var deliveries: [Delivery] = []
    var changes: [AssignmentChange] = []
    /// The state of a consumer's first join.
    let join = GroupJoin()
    /// Partitions that a consumer reads.
    var reading: Set<TopicPartition> = []

    init(_ settings: KafkaSettings) { (log, names) = (settings.log, settings.names) }

    /// A line of librdkafka's; in words of ours where it says why a broker is not reached.
    func said(_ level: Int, _ line: String) {
        if let ours = trouble.read(line) { log(min(level, 4), ours) } else { log(level, line) }
    }

    /// Adds why brokers are not reached, if that is known.
    func error(_ code: rd_kafka_resp_err_t, _ doing: String, detail: String? = nil) -> KafkaError {
        KafkaError(code, doing, detail: detail, trouble: trouble.latest)
    }

    static func of(_ opaque: UnsafeMutableRawPointer?) -> CallbackContext {
        unsafe Unmanaged<CallbackContext>.fromOpaque(opaque!).takeUnretainedValue()
    }
}

/// Owns one `rd_kafka_t` and the context that its callbacks use. One thread uses it.
@safe
final class Handle {
    let client: OpaquePointer
    let context: CallbackContext
    private let retained: Unmanaged<CallbackContext>
    private let settings: KafkaSettings
    private var renewal: Renewal

    /// - Parameter context: of the client that this one takes the place of.
    init(
        _ type: rd_kafka_type_t, _ settings: KafkaSettings, _ properties: [(String, String)],
        context: CallbackContext? = nil, configure: (OpaquePointer) -> Void = { _ in }
    ) throws {
        self.context = context ?? CallbackContext(settings)
        self.settings = settings
        // Before they are read, so that later changes count as newer.
        renewal = Renewal(settings.security.files, nowMs: Clock.steadyMs())
        let all = [("bootstrap.servers", settings.brokers), ("client.id", settings.clientID)] + properties
        let files = try settings.security.tlsFiles()
        let secured = try settings.security.properties() + (files?.paths.map { ($0.part.property, $0.path) } ?? [])
        unsafe retained = Unmanaged.passRetained(self.context)
        let conf = unsafe rd_kafka_conf_new()!
        do {
            for (name, value) in all + secured + settings.extra.sorted(by: { $0.key < $1.key }) {
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
            unsafe CallbackContext.of(rd_kafka_opaque(client)).said(Int(level), String(cString: line))
        }
        unsafe rd_kafka_conf_set_error_cb(conf) { _, _, _, _ in }  // Said by the log line and by the calls that fail.
        if settings.security.isTLS { unsafe Handle.watchCertificates(conf) }
        unsafe configure(conf)
        var problem = [CChar](repeating: 0, count: 512)
        // On success the client owns the configuration; on failure it is still ours, but interceptors are gone from it, which versions
        // before 2.13.0 would free again: those lose its few kilobytes.
        let made = unsafe withExtendedLifetime(files) { unsafe rd_kafka_new(type, conf, &problem, problem.count) }
        guard let made = unsafe made else {
            if rd_kafka_version() >= 0x020D_00FF { unsafe rd_kafka_conf_destroy(conf) }
            unsafe retained.release()
            throw KafkaError(doing: "connecting to \(settings.brokers)", message: Handle.named(text(problem)))
        }
        unsafe client = made
    }

    /// OpenSSL decides; this only records its reason, which librdkafka does not report. librdkafka takes the returned value for the
    /// decision: a certificate that OpenSSL rejected must never become 1.
    private static func watchCertificates(_ conf: OpaquePointer) {
        _ = unsafe rd_kafka_conf_set_ssl_cert_verify_cb(conf) { _, _, _, fault, _, _, _, words, size, opaque in
            guard let fault = unsafe fault else { return 0 }
            guard unsafe fault.pointee != 0 else { return 1 }
            let why = unsafe CallbackContext.of(opaque).trouble.certificateRefused(fault.pointee)
            if let words = unsafe words, size > 0 {
                let bytes = why.utf8CString.prefix(size - 1) + [0]
                for (index, byte) in bytes.enumerated() { unsafe words[index] = byte }
            }
            return 0
        }
    }

    /// Whether files that it was made with (certificates, passwords) were renewed, and another one can be made with them. Looks
    /// at them now and then.
    func isOutdated() -> Bool {
        renewal.look(nowMs: Clock.steadyMs()) {
            do {
                _ = try settings.security.tlsFiles()
                _ = try settings.security.properties()
                return true
            } catch {
                context.log(3, "renewed files cannot be used, those before stay in use: \(error)")
                return false
            }
        }
    }

    /// librdkafka's messages use its own property names.
    private static func named(_ text: String) -> String {
        let names = [
            ("ssl.ca.location", "kafka.ca_file"), ("ssl.certificate.location", "kafka.certificate_file"),
            ("ssl.key.location", "kafka.key_file"), ("ssl.key.password", "kafka.key_password"),
        ]
        return names.reduce(text) { $0.replacing($1.0, with: $1.1) }
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
        try cluster(topic, timeoutMs: timeoutMs).topics.mapValues(\.partitions)
    }

    /// The identities of the topics that exist.
    ///
    /// - Parameter isMember: asked one by one, for an answer about all topics makes a member of a group look whether it has to join again.
    ///   Others ask for all: a broker may make a topic that is asked for by name, where a consumer does not forbid it.
    func identities(of topics: [String], isMember: Bool, timeoutMs: Int32) throws -> [String: TopicIdentity] {
        var known: [String: Int32] = [:]
        if isMember {
            for topic in topics { known[topic] = try partitions(of: topic, timeoutMs: timeoutMs)[topic] }
        } else {
            known = try partitions(of: nil, timeoutMs: timeoutMs).filter { topics.contains($0.key) }
        }
        let ids = topicIDs(known.keys.sorted(), timeoutMs: timeoutMs)
        return Dictionary(
            uniqueKeysWithValues: known.map { ($0.key, TopicIdentity(partitions: $0.value, id: ids[$0.key])) })
    }

    /// Only of those whose broker and library tell it.
    private func topicIDs(_ topics: [String], timeoutMs: Int32) -> [String: String] {
        guard !topics.isEmpty else { return [:] }
        let names = unsafe topics.map { unsafe UnsafePointer<CChar>(strdup(context.names.onBrokers($0))) }
        defer { unsafe names.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
        let size = Int(drover_topic_id_size)
        var ids = [CChar](repeating: 0, count: topics.count * size)
        unsafe names.withUnsafeBufferPointer { names in
            unsafe ids.withUnsafeMutableBufferPointer { ids in
                unsafe drover_topic_ids(client, names.baseAddress, names.count, timeoutMs, ids.baseAddress)
            }
        }
        var found: [String: String] = [:]
        for (index, topic) in topics.enumerated() {
            let id = text(Array(ids[(index * size)..<((index + 1) * size)]))
            if !id.isEmpty { found[topic] = id }
        }
        return found
    }

    /// The brokers with the given topic, or with all.
    func cluster(_ topic: String?, timeoutMs: Int32) throws -> Cluster {
        var handle: OpaquePointer?
        if let topic { unsafe handle = rd_kafka_topic_new(client, context.names.onBrokers(topic), nil) }
        defer { unsafe handle.map { unsafe rd_kafka_topic_destroy($0) } }

        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(client, topic == nil ? 1 : 0, handle, &metadata, timeoutMs)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata = unsafe metadata else {
            throw context.error(code, "asking the broker for its topics")
        }
        defer { unsafe rd_kafka_metadata_destroy(metadata) }

        context.trouble.clear()
        let addresses = unsafe (0..<Int(metadata.pointee.broker_cnt)).map { index in
            let broker = unsafe metadata.pointee.brokers[index]
            let host = unsafe String(cString: broker.host)
            return unsafe "\(host.contains(":") ? "[\(host)]" : host):\(broker.port)"
        }
        var cluster = Cluster(addresses: addresses, topics: [:])
        for index in 0..<Int(unsafe metadata.pointee.topic_cnt) {
            let row = unsafe metadata.pointee.topics[index]
            guard unsafe row.err == RD_KAFKA_RESP_ERR_NO_ERROR,
                let name = unsafe context.names.ours(String(cString: row.topic))
            else { continue }
            let partitions = unsafe (0..<Int(row.partition_cnt)).map { unsafe row.partitions[$0] }
            cluster.topics[name] = unsafe KnownTopic(
                partitions: row.partition_cnt, copies: partitions.map { Int(unsafe $0.replica_cnt) }.min() ?? 0,
                inStep: partitions.map { Int(unsafe $0.isr_cnt) }.min() ?? 0)
        }
        return cluster
    }
}
