public import Alerts
internal import Fleet
public import Kafka
public import Observe
internal import Postgres
internal import Storage
public import Trips

/// What a worker is made of.
public struct WorkerSettings: Sendable {
    public var kafka: KafkaSettings
    public var group: String
    /// Static member id; nil: dynamic membership.
    public var instanceID: String?
    public var conninfo: String
    public var batchMax: Int
    public var commitIntervalMs: Int64
    public var tripRules: TripRules
    public var alertRules: RuleSet
    public var topics: [String]

    public init(
        kafka: KafkaSettings, group: String, instanceID: String?, conninfo: String, batchMax: Int,
        commitIntervalMs: Int64,
        tripRules: TripRules, alertRules: RuleSet, topics: [String]
    ) {
        (self.kafka, self.group, self.instanceID, self.conninfo) = (kafka, group, instanceID, conninfo)
        (self.batchMax, self.commitIntervalMs, self.tripRules) = (batchMax, commitIntervalMs, tripRules)
        (self.alertRules, self.topics) = (alertRules, topics)
    }
}

/// Reads the topics and writes their results, until it is told to stop. It never gives up: what the database or the
/// broker refuses is said and tried again, from the offsets that the database holds.
public final class Worker {
    /// How long to wait before trying again, doubled up to the last.
    private static let backOffMs: ClosedRange<Int> = 250...10_000

    private let settings: WorkerSettings
    private let log: Log
    private let metrics: WorkerMetrics
    private let consumer: Consumer
    private var lane: Lane?
    /// The group's assignment.
    private var assigned: [TopicPartition] = []
    /// Partitions that another worker turned out to own, or whose log does not fit our offset: left alone.
    private var abandoned: Set<TopicPartition> = []
    private var backOffMs = Worker.backOffMs.lowerBound

    public init(_ settings: WorkerSettings, metrics: Metrics, log: Log) throws {
        (self.settings, self.log) = (settings, log)
        self.metrics = WorkerMetrics(metrics)
        consumer = try Consumer(
            settings.kafka, group: settings.group, instanceID: settings.instanceID, batchMax: settings.batchMax)
        try consumer.subscribe(settings.topics)
    }

    /// Returns when `shouldStop` says so. What is not committed then is read again by the next worker.
    public func run(shouldStop: () -> Bool) {
        log.info(
            "worker started", ["topics": "\(settings.topics.joined(separator: ","))", "group": "\(settings.group)"])
        var lastCommitMs = Clock.steadyMs()
        while !shouldStop() {
            do {
                let batch = try consumer.poll(timeoutMs: Int32(min(settings.commitIntervalMs, 100)))
                take(batch)
                for change in consumer.takeChanges() { handle(change) }
                if lane == nil, !assigned.isEmpty { try takeOver() }
                let isDue = Clock.steadyMs() - lastCommitMs >= settings.commitIntervalMs
                if let lane, lane.pendingRecords > 0, isDue || lane.pendingRecords >= settings.batchMax {
                    try commit(lane)
                    lastCommitMs = Clock.steadyMs()
                }
                backOffMs = Worker.backOffMs.lowerBound
            } catch {
                recover(from: error)
            }
        }
        log.info("worker stopped", ["records": "\(metrics.records.value)"])
    }

    private func take(_ batch: borrowing MessageBatch) {
        guard let lane else { return }
        for index in 0..<batch.count {
            unsafe batch.withBytes(index) { key, value in
                unsafe lane.take(
                    batch.partition(index), offset: batch.offset(index), pushedMs: batch.timestampMs(index), key: key,
                    value: value)
            }
        }
    }

    // MARK: Partitions

    private func handle(_ change: AssignmentChange) {
        // Rows that are not written yet are dropped with the lane: whoever owns the partition next reads the same
        // records.
        lane = nil
        switch change {
        case .assigned(let partitions):
            log.info("partitions assigned", ["count": "\(partitions.count)"])
            assigned = partitions
            abandoned = []
        case .revoked(let partitions):
            log.info("partitions revoked", ["count": "\(partitions.count)"])
            assigned = []
        }
    }

    /// Opens the lane and reads on from the stored offsets. Whatever fails here is tried again by the loop.
    private func takeOver() throws {
        let lane = try Lane(
            conninfo: settings.conninfo, tripRules: settings.tripRules, alertRules: settings.alertRules, log: log)
        var ends: [TopicPartition: (low: Int64, high: Int64)] = [:]
        for partition in assigned where !abandoned.contains(partition) {
            ends[partition] = try consumer.watermarks(of: partition, timeoutMs: 10_000)
        }
        var offsets = try lane.own(ends.mapValues(\.low))
        for (partition, offset) in offsets {
            guard let ends = ends[partition], offset < ends.low || offset > ends.high else { continue }
            // The log was lost or cut. Skipping by ourselves would hide that; a person decides.
            log.error(
                "the log does not reach our offset; this partition is left alone. See `drover offsets`",
                [
                    "topic": "\(partition.topic)", "partition": "\(partition.partition)", "stored": "\(offset)",
                    "first": "\(ends.low)", "next": "\(ends.high)",
                ])
            abandoned.insert(partition)
            lane.release([partition])
            offsets[partition] = nil
        }
        try consumer.start(offsets)
        self.lane = lane
    }

    // MARK: Committing

    private func commit(_ lane: Lane) throws {
        let startMs = Clock.steadyMs()
        let (counts, lost) = try lane.commit()
        metrics.publish(counts, durationMs: Double(Clock.steadyMs() - startMs))
        consumer.commitForLagTools(counts.nextOffsets)
        if counts.rejected > 0 || counts.droppedTicks > 0 {
            log.warning(
                "records not taken", ["rejected": "\(counts.rejected)", "ticks_ahead": "\(counts.droppedTicks)"])
        }
        log.debug(
            "committed",
            ["records": "\(counts.records)", "rows": "\(counts.rows)", "duration_ms": "\(Clock.steadyMs() - startMs)"])
        guard !lost.isEmpty else { return }
        for partition in lost {
            log.warning(
                "another worker owns this partition; nothing of it was written here",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
        }
        abandoned.formUnion(lost)
        self.lane = nil
    }

    /// Nothing of the batch is certain: the lane is dropped and everything is read again from the stored offsets. A
    /// commit whose answer was lost is settled by just that: the offset that is read back says whether it happened.
    private func recover(from error: any Error) {
        metrics.failures.add()
        log.error(
            "the worker has to start again from the stored offsets",
            ["error": "\(error)", "retry_in_ms": "\(backOffMs)"])
        lane = nil
        // Abandoned partitions of a database fault get another chance: the fence decides anew.
        abandoned = []
        _ = StopFlag.wait(timeoutMs: backOffMs)
        backOffMs = min(backOffMs * 2, Worker.backOffMs.upperBound)
    }
}

/// The worker's figures, by the names that Prometheus reads.
struct WorkerMetrics {
    let records: Counter
    let rejected: Counter
    let droppedFields: Counter
    let droppedTicks: Counter
    let failures: Counter
    let commits: Durations

    init(_ metrics: Metrics) {
        records = metrics.counter("drover_records_total", "Records taken from the topics and committed.")
        rejected = metrics.counter("drover_records_rejected_total", "Records that could not be decoded.")
        droppedFields = metrics.counter("drover_fields_dropped_total", "Fields whose value was impossible.")
        droppedTicks = metrics.counter("drover_ticks_dropped_total", "Ticks ahead of the broker's clock.")
        failures = metrics.counter(
            "drover_worker_failures_total", "Times the worker started again from the stored offsets.")
        commits = metrics.durations("drover_commit_seconds", "Time of a commit.")
    }

    func publish(_ counts: CommitCounts, durationMs: Double) {
        records.add(counts.records)
        rejected.add(counts.rejected)
        droppedFields.add(counts.droppedFields)
        droppedTicks.add(counts.droppedTicks)
        commits.observe(ms: durationMs)
    }
}
