internal import Kafka
internal import Storage
internal import Synchronization
internal import Telemetry
internal import Threads

/// Looks now and then whether the logs that a worker reads still are those that it has read: the last record that was written at the look
/// before is read again, and compared with its fingerprint. Not the last one of all: that may be of the other log already. A log that lost its end and was written anew to the same length while a worker
/// reads it (an election of a leader that was behind, a disk that was restored) looks like any other from its new end on.
///
/// And whether the topics still are what they were: partitions are added, and topics made anew.
///
/// A client and a thread of its own, for what the broker answers late must not hold up the poll.
final class LogMonitor: Sendable {
    struct Mark: Equatable, Sendable {
        let offset: Int64
        let fingerprint: Int64
    }

    enum Finding: Sendable {
        /// The log has another record there than was read.
        case replaced(TopicPartition, atOffset: Int64)
        case changed(topic: String, TopicMismatch)
    }

    private struct Marks {
        /// To be compared.
        var last: Mark
        var latest: Mark
    }

    private struct State {
        var topics: [String: TopicIdentity] = [:]
        var marks: [TopicPartition: Marks] = [:]
    }

    /// How often it looks.
    private static let periodMs = 5_000
    /// How long the brokers have to show the records.
    private static let patienceMs: Int64 = 5_000

    private let kafka: KafkaSettings
    private let group: String
    private let log: Log
    private let report: @Sendable (Finding) -> Void
    private let state = Mutex(State())
    private let thread = WorkerThread()

    /// - Parameter report: called on a thread of its own.
    init(
        _ kafka: KafkaSettings, group: String, log: Log, report: @escaping @Sendable (Finding) -> Void
    ) {
        var small = kafka
        // A record of each is wanted, not what follows it.
        small.extra["queued.min.messages"] = "1"
        small.extra["fetch.message.max.bytes"] = "1000"
        (self.kafka, self.group, self.log, self.report) = (small, group, log, report)
        // The thread keeps it alive until it is stopped.
        thread.start("log-watch") { [self] _ in run() }
    }

    /// The last record of the partition that is written; nil: it is not read any more.
    func set(_ mark: Mark?, of partition: TopicPartition) {
        state.withLock { state in
            guard let mark else {
                state.marks[partition] = nil
                return
            }
            state.marks[partition] = Marks(last: state.marks[partition]?.last ?? mark, latest: mark)
        }
    }

    /// Sets the identity that the topic had when its partitions began to be read; nil: none of them is.
    func set(_ identity: TopicIdentity?, of topic: String) { state.withLock { $0.topics[topic] = identity } }

    /// To be called once; returns when the thread has ended.
    func stop() { thread.stop() }

    private func run() {
        var consumer: Consumer?
        while true {
            thread.pause(ms: LogMonitor.periodMs)
            guard !thread.isStopping else { return }
            let now = state.withLock { $0 }
            guard !now.topics.isEmpty else { continue }
            do {
                if consumer?.isOutdated ?? false { consumer = nil }
                let reader = try consumer ?? Consumer(kafka, group: group, instanceID: nil, batchMax: 100)
                consumer = reader
                try look(now.topics, reader)
                if !now.marks.isEmpty { try look(now.marks, reader) }
            } catch {
                // The worker's own client says what ails the broker.
                consumer = nil
                log.debug("logs could not be compared", ["error": "\(error)"])
            }
        }
    }

    private func look(_ topics: [String: TopicIdentity], _ consumer: Consumer) throws {
        let found = try consumer.identities(of: Set(topics.keys), timeoutMs: Int32(LogMonitor.patienceMs))
        for (topic, known) in topics {
            guard let now = found[topic], let mismatch = TopicMismatch(stored: known, found: now) else { continue }
            report(.changed(topic: topic, mismatch))
        }
    }

    private func look(_ marks: [TopicPartition: Marks], _ consumer: Consumer) throws {
        try consumer.add(marks.mapValues(\.last.offset))
        // Leaving them behind costs at most a fetch.
        defer { try? consumer.remove(marks.keys) }
        var waiting = Set(marks.keys)
        let startMs = Clock.steadyMs()
        while !waiting.isEmpty, Clock.steadyMs() - startMs < LogMonitor.patienceMs, !thread.isStopping {
            let batch = try consumer.poll(timeoutMs: 100)
            for run in batch.runs {
                guard waiting.remove(run.partition) != nil, let mark = marks[run.partition] else { continue }
                let first = run.messages.lowerBound
                // A record that is gone (compacted, or a transaction's marker) cannot be compared.
                let isOther =
                    batch.offset(first) == mark.last.offset && batch.fingerprint(first) != mark.last.fingerprint
                let isRead = state.withLock { state in
                    // It may have been given up meanwhile, or begun anew.
                    guard state.marks[run.partition]?.last == mark.last else { return false }
                    if !isOther { state.marks[run.partition]?.last = mark.latest }
                    return true
                }
                if isOther, isRead { report(.replaced(run.partition, atOffset: mark.last.offset)) }
            }
            // The worker asks for what follows, and hears the same of the broker.
            for case .outOfRange(let partition) in consumer.drainChanges() { waiting.remove(partition) }
        }
    }
}
