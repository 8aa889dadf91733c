internal import Codecs
internal import Fleet
package import Kafka
internal import Storage
package import Telemetry
internal import Threads

/// Builds the results of the topics again in a schema of their own, up to given offsets: the lanes, stages and stores of
/// the worker, without a consumer group, and without telling anyone. Stopped in the middle it goes on where it stood.
package final class Replay {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    private enum Event: Sendable {
        case report(Lane.Report)
        case loaded(lane: Int, Result<Committer.Loaded, any Error>)
    }

    private let settings: WorkerSettings
    private let consumer: Consumer
    private let lanes: [Lane]
    private let events = Mailbox<Event>()
    private let targets: [TopicPartition: Int64]
    private var laneOf: [TopicPartition: Int] = [:]
    private var done: [TopicPartition: Int64] = [:]

    /// - Parameter targets: where each partition ends. One of which nothing was built yet begins where its log does.
    package init(
        _ settings: WorkerSettings, schema: String, targets: [TopicPartition: Int64],
        metrics: Metrics, log: Log
    ) throws {
        (self.settings, self.targets) = (settings, targets)
        consumer = try Consumer(
            settings.kafka, group: "drover-replay-\(schema)", instanceID: nil, batchMax: settings.batchMax)
        let database = Committer.Settings(
            conninfo: settings.conninfo, schema: schema,
            stages: settings.stages ?? .product(settings.tripRules, kept: settings.kept, isReplay: true, log: log))
        let (events, figures) = (events, WorkerMetrics(metrics, topics: settings.topics))
        lanes = (0..<settings.lanes).map { number in
            Lane(
                number, database, commitIntervalMs: settings.commitIntervalMs, metrics: figures, health: Health(),
                log: log
            ) {
                events.put(.report($0))
            }
        }
    }

    /// Returns true when every partition has reached its target, false when `shouldStop` said so before.
    ///
    /// - Parameter progress: called now and then with the records that are done and those wanted.
    /// - Throws: `Fault` when a commit fails, a log does not fit, or another replay writes the same schema.
    package func run(progress: (Int64, Int64) -> Void, shouldStop: () -> Bool) throws -> Bool {
        defer { for lane in lanes { lane.stop() } }
        try load()
        var (total, begun): (Int64, [TopicPartition: Int64]) = (0, [:])
        while true {
            while let event = events.dequeue(timeoutMs: 0) {
                if let owned = try handle(event) {
                    for each in owned {
                        begun[each.partition] = each.storedOffset
                        total += max(0, targets[each.partition]! - each.storedOffset)
                    }
                }
            }
            let now = done.reduce(Int64(0)) { $0 + max(0, $1.value - (begun[$1.key] ?? $1.value)) }
            if begun.count == targets.count {
                progress(now, total)
                if targets.allSatisfy({ (done[$0.key] ?? 0) >= $0.value }) { return true }
            }
            if shouldStop() { return false }
            let batches = try consumer.poll(timeoutMs: 20, into: lanes.count) { laneOf[$0]! }
            for case .outOfRange(let partition) in consumer.drainChanges() {
                throw Fault(description: "\(partition): the broker does not have the records that are needed")
            }
            for (lane, batch) in zip(lanes, batches) where batch.count > 0 {
                lane.put(batch)
                // Nobody else waits for this thread: a lane that is behind is simply waited for.
                while !lane.waitUntil(atMost: 2 * settings.batchMax, timeoutMs: 100), !shouldStop() {}
            }
        }
    }

    private func load() throws {
        let logs = try consumer.logs(of: targets.keys, timeoutMs: 10_000)
        var byLane: [Int: [PartitionLog]] = [:]
        for (index, partition) in targets.keys.sorted(by: { ($0.topic, $0.partition) < ($1.topic, $1.partition) })
            .enumerated()
        {
            laneOf[partition] = index % lanes.count
            guard let log = logs[partition] else {
                throw Fault(description: "\(partition): its broker does not say where its log begins; try again")
            }
            byLane[index % lanes.count, default: []].append(log)
        }
        for (lane, partitions) in byLane {
            let events = events
            lanes[lane].committer.put(.load(partitions, distrusted: []) { events.put(.loaded(lane: lane, $0)) })
        }
    }

    private func handle(_ event: Event) throws -> [LanePartition]? {
        switch event {
        case .loaded(let lane, let result):
            let loaded = try result.get()
            if let (partition, fault) = loaded.refused.min(by: { $0.key.description < $1.key.description }) {
                throw Fault(description: "\(partition): \(fault.what); \(fault.detail). \(fault.remedy)")
            }
            let owned = loaded.owned
            for each in owned {
                each.end(before: targets[each.partition]!)
                done[each.partition] = each.storedOffset
            }
            lanes[lane].put(.own(owned))
            let reading = owned.filter { $0.storedOffset < targets[$0.partition]! }
            try consumer.add(Dictionary(uniqueKeysWithValues: reading.map { ($0.partition, $0.startOffset) }))
            return owned
        case .report(.committed(let places)): done.merge(places.mapValues(\.nextOffset)) { $1 }
        case .report(.lost(let lost)):
            throw Fault(description: "\(lost.map(\.description).sorted()): another replay writes this schema")
        case .report(.failed(_, let reason)): throw Fault(description: reason)
        case .report(.broken(let partition, let fault)):
            throw Fault(description: "\(partition): \(fault.what); \(fault.detail)")
        }
        return nil
    }
}
