internal import Fleet
internal import Foundation
package import Kafka
internal import Synchronization
package import Telemetry
internal import Threads

/// Brings uploads to their topics and answers when the broker has acknowledged every reading of one. A thread of its
/// own owns the producer; those who hand in wait for it.
package final class UploadSender: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// On the log, on all replicas.
        case acknowledged
        /// The broker does not answer: nothing is promised. Some readings may be there; a repeat with the same ids
        /// changes nothing.
        case brokerAway
        /// So many uploads are under way that this one would have to wait.
        case busy
    }

    /// Each holds a thread of the server while it waits.
    static let uploadsMax = 6
    /// A reading that is not acknowledged by then has failed.
    static let patienceMs = 5_000
    /// Between two looks whether a broker that was away is back.
    static let probeMs = 1_000
    /// Without uploads the thread says so often that it is there.
    static let turnMs = 1_000

    /// Where the last record of an upload stands.
    package struct Place: Equatable, Sendable {
        package let partition: Int32
        package let offset: Int64
        package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }
    }

    /// Ride records and surveys under way at once, which hold no thread.
    static let ridesMax = 1_000

    /// One upload under way.
    private final class Job: Sendable {
        let upload: Upload
        let isRide: Bool
        let open: Atomic<Int>
        let isFailed = Atomic(false)
        let place = Mutex<Place?>(nil)
        let ended: @Sendable (Job) -> Void

        init(_ upload: Upload, isRide: Bool, ended: @escaping @Sendable (Job) -> Void) {
            self.upload = upload
            self.isRide = isRide
            self.ended = ended
            open = Atomic(upload.items.count)
        }

        /// So many more records than it has items.
        func expect(_ more: Int) { open.add(more, ordering: .relaxed) }

        func settle(_ delivery: Delivery) {
            place.withLock { place in
                guard delivery.offset > place?.offset ?? -1 else { return }
                place = Place(partition: delivery.partition, offset: delivery.offset)
            }
            settle(failed: delivery.failure != nil)
        }

        func settle(failed: Bool) {
            if failed { isFailed.store(true, ordering: .relaxed) }
            if open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended(self) }
        }
    }

    private struct State {
        var waiting: [Job] = []
        var underWay = 0
        var ridesUnderWay = 0
        /// The broker failed an upload and has not answered since. Uploads are told at once, or each would hold a
        /// thread of the server, with all connections that wait for it.
        var isAway = false
        var isStopped = false
    }

    private let kafka: KafkaSettings
    private let shape: TopicShape
    private let log: Log
    private let loop: Loop
    private let accepted, refused: Counter
    private let state = Mutex(State())
    /// The number of partitions of the cars' topic, once it was asked for.
    private let partitionCount = Atomic<Int32>(0)
    private let thread = WorkerThread()

    /// Nothing is asked of the broker before the first upload.
    /// - Parameter shape: of a topic that is not there yet.
    package init(_ kafka: KafkaSettings, shape: TopicShape, metrics: Metrics, health: Health = Health(), log: Log) {
        self.kafka = kafka
        self.shape = shape
        self.log = log
        loop = health.loop("uploads", patience: 10)
        accepted = metrics.counter("drover_upload_readings_total", "Readings of uploads that the broker acknowledged.")
        refused = metrics.counter("drover_upload_unavailable_total", "Uploads that were answered with: try again.")
        // The thread keeps the sender alive until it is stopped.
        thread.start("uploads", loop: loop) { [self] _ in run() }
    }

    /// To be called once, when nobody hands in any more.
    package func stop() {
        state.withLock { $0.isStopped = true }
        thread.stop()
    }

    /// Waits until the outcome is known: about `patienceMs` at most, twice that when the broker goes away meanwhile.
    package func send(_ upload: Upload) -> Outcome {
        guard !upload.items.isEmpty else { return .acknowledged }
        let ended = DispatchSemaphore(value: 0)
        let outcome = Mutex(Outcome.busy)
        hand(in: upload, isRide: false) { result, _ in
            outcome.withLock { $0 = result }
            ended.signal()
        }
        ended.wait()
        return outcome.withLock { $0 }
    }

    /// Ride records of one campus. Does not wait: `then` is called once, here or on the sender's thread, which it must not
    /// keep. With `acknowledged` comes the place of the last of them.
    package func send(rides upload: Upload, then: @escaping @Sendable (Outcome, Place?) -> Void) {
        hand(in: upload, isRide: true, then: then)
    }

    /// A survey, in the same manner.
    package func send(survey upload: Upload, then: @escaping @Sendable (Outcome, Place?) -> Void) {
        hand(in: upload, isRide: true, then: then)
    }

    /// Sends what visitors' phones tell of tours, in the same manner.
    package func send(tours upload: Upload, then: @escaping @Sendable (Outcome, Place?) -> Void) {
        hand(in: upload, isRide: true, then: then)
    }

    private func hand(in upload: Upload, isRide: Bool, then: @escaping @Sendable (Outcome, Place?) -> Void) {
        let job = Job(upload, isRide: isRide) { [self] job in
            let isFailed = finish(job)
            then(isFailed ? .brokerAway : .acknowledged, isFailed ? nil : job.place.withLock { $0 })
        }
        let refusal: Outcome? = state.withLock { state in
            if state.isAway { return .brokerAway }
            let isFull =
                isRide ? state.ridesUnderWay >= UploadSender.ridesMax : state.underWay >= UploadSender.uploadsMax
            if isFull || state.isStopped { return .busy }
            if isRide { state.ridesUnderWay += 1 } else { state.underWay += 1 }
            state.waiting.append(job)
            return nil
        }
        if let refusal {
            refused.add()
            return then(refusal, nil)
        }
        thread.notice()
    }

    /// Whether it failed.
    private func finish(_ job: Job) -> Bool {
        let isFailed = job.isFailed.load(ordering: .relaxed)
        let isNews = state.withLock { state in
            if job.isRide { state.ridesUnderWay -= 1 } else { state.underWay -= 1 }
            guard isFailed, !state.isAway else { return false }
            state.isAway = true
            return true
        }
        if isFailed { refused.add() } else { accepted.add(job.upload.reasons.count { $0 == nil }) }
        if isNews {
            log.warning("uploads cannot be sent; they are answered with: try again")
            thread.notice()
        }
        return isFailed
    }

    private func run() {
        var producer: Producer?
        // By the tag of each of their records.
        var (open, nextTag): ([Int: Job], Int) = ([:], 0)
        while !state.withLock({ $0.isStopped && $0.waiting.isEmpty }) || !open.isEmpty {
            if open.isEmpty {
                if state.withLock({ $0.isAway }) {
                    thread.pause(ms: UploadSender.probeMs)
                    producer = probe()
                } else {
                    thread.pause(ms: UploadSender.turnMs)
                }
            }
            loop.turned()
            let jobs = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for job in jobs {
                var left = job.upload.items.count
                do {
                    let sender = try producer ?? makeProducer()
                    producer = sender
                    for item in job.upload.items {
                        let places: [Int32?] = item.isEverywhere ? everywhere : [nil]
                        job.expect(places.count - 1)
                        left += places.count - 1
                        for partition in places {
                            try sender.produce(
                                topic: job.upload.topic, partition: partition, key: item.key, value: item.value,
                                timestampMs: nil, tag: nextTag)
                            open[nextTag] = job
                            nextTag = nextTag + 1
                            left = left - 1
                        }
                    }
                } catch {
                    log.warning("an upload was not sent", ["error": "\(error)"])
                    for _ in 0..<left { job.settle(failed: true) }
                }
            }
            guard !open.isEmpty, let sender = producer else { continue }
            // What is handed in meanwhile waits as long.
            for delivery in sender.deliveries(timeoutMs: 5) {
                open.removeValue(forKey: delivery.tag)?.settle(delivery)
                // It may have failed for good, which no later record would survive.
                if delivery.failure != nil { producer = nil }
            }
            if producer == nil { abandon(sender, &open) }
        }
    }

    /// Looks whether the broker is back.
    private func probe() -> Producer? {
        guard let producer = try? makeProducer() else { return nil }
        state.withLock { $0.isAway = false }
        log.info("uploads are sent again")
        return producer
    }

    /// Waits for what a producer still owes, at most as long as its records live.
    private func abandon(_ producer: Producer, _ open: inout [Int: Job]) {
        while !open.isEmpty {
            for delivery in producer.deliveries(timeoutMs: 100) {
                open.removeValue(forKey: delivery.tag)?.settle(delivery)
            }
        }
    }

    private var everywhere: [Int32?] { (0..<partitionCount.load(ordering: .relaxed)).map { $0 } }

    private func makeProducer() throws -> Producer {
        let topics = try Topics.ensure(kafka, shape, timeoutMs: 3_000)
        partitionCount.store(topics[Topic.cars] ?? 0, ordering: .relaxed)
        return try Producer(kafka, Producer.Tuning(lingerMs: 1, timeoutMs: UploadSender.patienceMs))
    }
}
