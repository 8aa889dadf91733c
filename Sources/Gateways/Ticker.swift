internal import Fleet
internal import Foundation
public import Kafka
public import Observe
internal import Synchronization
internal import Wire

/// Tells the workers through the log what time it is: a tick record in each partition of the reading topics, again and
/// again, from a thread and a producer of its own. Repeats are harmless, and so is a wrong clock: a tick that runs
/// ahead of the broker's stamp is dropped by the worker, and one that jumps waits for another to agree.
///
/// A tick that cannot be sent at its time is not sent: the next one says more.
public final class Ticker: Sendable {
    private struct State {
        var partitions: [TopicPartition]?
        var isStopped = false
    }

    private let kafka: KafkaSettings
    private let topics: [String]
    private let name: String
    private let intervalMs: Int
    private let log: Log
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Nothing is asked of the broker before `start`.
    ///
    /// - Parameter name: as `Tick.sender` makes it.
    public init(
        _ kafka: KafkaSettings, name: String, topics: [String] = Topics.readings, intervalS: Int64, log: Log
    ) {
        self.name = name
        (self.kafka, self.topics, self.intervalMs) = (kafka, topics, Int(intervalS) * 1_000)
        self.log = log
    }

    /// From now on only these partitions get ticks; nil: all there are. For a worker, which ticks what it owns.
    /// Safe from any thread; never waits.
    public func own(_ partitions: [TopicPartition]?) { state.withLock { $0.partitions = partitions } }

    /// Call it once.
    public func start() {
        // The thread keeps the ticker alive until it is stopped.
        Threads.start("ticker") { [self] in
            run()
            ended.signal()
        }
    }

    /// Returns when the thread has ended: at once, or after a request to a broker that does not answer. To be called
    /// once, after `start`.
    public func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    private func run() {
        var (producer, isTroubled): (Producer?, Bool) = (nil, false)
        while !state.withLock({ $0.isStopped }) {
            do {
                let sender = try producer ?? makeProducer()
                producer = sender
                try send(sender)
                if isTroubled { log.info("ticks are sent again") }
                isTroubled = false
            } catch {
                // A producer that failed for good fails for ever.
                producer = nil
                if !isTroubled { log.warning("ticks cannot be sent; missed ones are left out", ["error": "\(error)"]) }
                isTroubled = true
            }
            _ = wake.wait(timeout: .now() + .milliseconds(intervalMs))
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
        let wanted = state.withLock { $0.partitions }.map { $0.filter { $0.partition < known[$0.topic] ?? 0 } } ?? all
        let tick = RecordWriter.tick(Clock.nowMs(), by: name)
        for partition in wanted {
            try producer.produce(
                topic: partition.topic, partition: partition.partition, key: [], value: tick, timestampMs: nil, tag: 0)
        }
        var open = wanted.count
        let deadline = Clock.steadyMs() + Int64(intervalMs)
        while open > 0, Clock.steadyMs() < deadline, !state.withLock({ $0.isStopped }) {
            let deliveries = producer.deliveries(timeoutMs: 100)
            open -= deliveries.count
            if let failure = deliveries.lazy.compactMap(\.failure).first { throw failure }
        }
    }
}
