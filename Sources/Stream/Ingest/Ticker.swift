internal import Codecs
package import Kafka
internal import Synchronization
package import Telemetry
internal import Threads

/// Tells the workers through the log what time it is: a tick record in each partition of the reading topics, again and
/// again, from a thread and a producer of its own. Repeats are harmless, and so is a wrong clock: a tick that runs
/// ahead of the broker's stamp is dropped by the worker, and one that jumps waits for another to agree.
///
/// A tick that cannot be sent at its time is not sent: the next one says more.
package final class Ticker: Sendable {
    private let kafka: KafkaSettings
    private let topics: [String]
    private let name: String
    private let intervalMs: Int
    private let log: Log
    /// Nil: all.
    private let owned = Mutex<[TopicPartition]?>(nil)
    private let thread = WorkerThread()

    /// Nothing is asked of the broker before `start`.
    ///
    /// - Parameter name: as `Tick.sender` makes it.
    package init(
        _ kafka: KafkaSettings, name: String, topics: [String] = Topics.readings, intervalS: Int64, log: Log
    ) {
        self.name = name
        self.kafka = kafka
        self.topics = topics
        self.intervalMs = Int(intervalS) * 1_000
        self.log = log
    }

    /// From now on only these partitions get ticks; nil: all there are. For a worker, which ticks what it owns.
    /// Safe from any thread; never waits.
    package func own(_ partitions: [TopicPartition]?) { owned.withLock { $0 = partitions } }

    /// Call it once.
    package func start() {
        // The thread keeps the ticker alive until it is stopped.
        thread.start("ticker") { [self] _ in run() }
    }

    /// Returns when the thread has ended: at once, or after a request to a broker that does not answer. To be called
    /// once, after `start`.
    package func stop() { thread.stop() }

    private func run() {
        var producer: Producer?
        var trouble = FailureLog(
            cannot: "ticks cannot be sent; missed ones are left out", again: "ticks are sent again", level: .warning,
            log: log)
        while !thread.isStopping {
            do {
                let sender = try producer ?? makeProducer()
                producer = sender
                try send(sender)
                trouble.isOver()
            } catch {
                // A producer that failed for good fails for ever.
                producer = nil
                trouble.failed("\(error)")
            }
            thread.pause(ms: intervalMs)
        }
    }

    /// Tried once and not kept longer than until the next one is due.
    private func makeProducer() throws -> Producer {
        try Producer(kafka, Producer.Tuning(lingerMs: 0, timeoutMs: intervalMs, isIdempotent: false))
    }

    private func send(_ producer: Producer) throws {
        let known = try producer.topics(timeoutMs: Int32(min(intervalMs, 2_000)))
        let all = topics.flatMap { topic in
            (0..<(known[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let wanted = owned.withLock { $0 }.map { $0.filter { $0.partition < known[$0.topic] ?? 0 } } ?? all
        let tick = RecordWriter.tick(Clock.nowMs(), by: name)
        for partition in wanted {
            try producer.produce(
                topic: partition.topic, partition: partition.partition, key: [], value: tick, timestampMs: nil, tag: 0)
        }
        var open = wanted.count
        let deadline = Clock.steadyMs() + Int64(intervalMs)
        while open > 0, Clock.steadyMs() < deadline, !thread.isStopping {
            let deliveries = producer.deliveries(timeoutMs: 100)
            open -= deliveries.count
            if let failure = deliveries.lazy.compactMap(\.failure).first { throw failure }
        }
    }
}
