package import Kafka
package import Telemetry
internal import Threads

/// Brings the spool to the broker, in order, on a thread of its own. A record leaves the file when the broker has
/// acknowledged it; whatever happens before that sends it again, with the same id.
package final class SpoolDrain: Sendable {
    private static let patienceMs: Int64 = 3_000
    private static let stopPatienceMs: Int64 = 1_000
    private static let backOffMs: ClosedRange<Int64> = 250...5_000

    private let spool: Spool
    private let kafka: KafkaSettings
    private let prepareTopics: @Sendable () throws -> Void
    private let pushed: Counter
    private let loop: Loop
    private let log: Log
    private let thread = WorkerThread()

    package init(
        _ spool: Spool, _ kafka: KafkaSettings, prepareTopics: @escaping @Sendable () throws -> Void,
        pushed: Counter, loop: Loop, log: Log
    ) {
        self.spool = spool
        self.kafka = kafka
        self.prepareTopics = prepareTopics
        self.pushed = pushed
        self.loop = loop
        self.log = log
    }

    package func start() { thread.start("drain", loop: loop) { [self] _ in run() } }

    /// Something was put into the spool.
    package func notice() { thread.notice() }

    package func stop() { thread.stop() }

    private var hasToStop: Bool { loop.asking { thread.isStopping } }

    private func run() {
        let retry = RetryLoop(
            SpoolDrain.backOffMs, cannot: "readings cannot be pushed; the spool keeps them",
            again: "readings are pushed again", log: log)
        retry.run(shouldStop: { hasToStop }) {
            try prepareTopics()
            // No time-out: a record that is given up while later ones are sent would break the order.
            let producer = try Producer(kafka, Producer.Tuning(lingerMs: 5, timeoutMs: 0))
            while !hasToStop {
                if try !pass(producer) { thread.pause(ms: 1_000) }
                retry.isWell()
            }
        }
    }

    /// Sends the oldest records; false when there are none.
    private func pass(_ producer: Producer) throws -> Bool {
        let records = try spool.oldest()
        guard !records.isEmpty else { return false }
        var (acknowledged, refused, failure): ([Int64], [(position: Int64, reason: String)], KafkaError?) = (
            [], [], nil
        )
        var open = records.count
        func settle(_ index: Int, _ error: KafkaError?) {
            open -= 1
            guard let error else { return acknowledged.append(records[index].position) }
            if error.isAboutRecord {
                refused.append((records[index].position, error.description))
            } else {
                failure = error
            }
        }
        for (index, record) in records.enumerated() {
            do {
                try producer.produce(
                    topic: record.topic, partition: nil, key: Array(record.vehicle.utf8), value: record.json,
                    timestampMs: nil, tag: index)
            } catch let error as KafkaError where error.isAboutRecord {
                settle(index, error)
            }
        }
        try awaitAcknowledgements(producer) {
            open
        } take: {
            settle($0.tag, $0.failure)
        }
        try spool.settle(acknowledged: acknowledged, refused: refused)
        pushed.add(acknowledged.count)
        for (position, reason) in refused {
            log.error(
                "the broker will not take a reading; it is set aside in the spool",
                ["position": "\(position)", "error": "\(reason)"])
        }
        if let failure { throw failure }
        return true
    }

    private func awaitAcknowledgements(
        _ producer: Producer, _ open: () -> Int, take: (Delivery) -> Void
    ) throws {
        var (movedMs, hasSaid, stopMs): (Int64, Bool, Int64?) = (Clock.steadyMs(), false, nil)
        while open() > 0 {
            loop.turned()
            let deliveries = producer.deliveries(timeoutMs: 100)
            for delivery in deliveries { take(delivery) }
            let now = Clock.steadyMs()
            if !deliveries.isEmpty {
                if hasSaid { log.info("the broker acknowledges again", ["spooled": "\(spool.count)"]) }
                movedMs = now
                hasSaid = false
                continue
            }
            if thread.isStopping {
                stopMs = stopMs ?? now
                if now - stopMs! >= SpoolDrain.stopPatienceMs { return }
            }
            if now - movedMs >= SpoolDrain.patienceMs, !hasSaid {
                hasSaid = true
                log.warning(
                    "the broker does not acknowledge; readings are kept in the spool", ["spooled": "\(spool.count)"])
            }
        }
    }
}
