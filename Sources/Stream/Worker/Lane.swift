internal import Dispatch
internal import Kafka
internal import Storage
internal import Telemetry
internal import Threads

/// One lane: the partitions it owns, the state of their vehicles in memory shared with nobody, on a thread of its own,
/// and a committer. It goes on with the next records while a commit is in flight.
final class Lane: @unchecked Sendable {
    // What is not a constant is used on the lane's thread only.
    enum Item: Sendable {
        case records(MessageBatch)
        case own([LanePartition])
        case release([TopicPartition])
        case answered(Commit, Result<Commit.Outcome, any Error>)
        case recalled(TopicPartition, Result<Void, any Error>)
        case stop
    }

    /// A message to the worker.
    enum Report: Sendable {
        case committed([TopicPartition: PartitionProgress])
        /// Another worker wrote these partitions: they are dropped here.
        case lost(Set<TopicPartition>)
        /// Nothing is certain any more of these partitions: they are dropped here, to be loaded again.
        case failed([TopicPartition], String)
        case broken(TopicPartition, LanePartition.Fault)
    }

    /// Records that may wait for a commit that is slow; then the lane waits with it.
    private static let pendingRecordsMax: Int64 = 1_000_000
    /// The same for rows, some kilobytes of memory each with their copies: a tick may close many cars' minutes at once.
    private static let waitingRowsMax = 50_000

    private static let notTakenPeriodMs: Int64 = 60_000

    /// How long partitions are written one by one after the database refused a commit.
    private static let apartMs: Int64 = 300_000

    let committer: Committer
    private let commitIntervalMs: Int64
    private let recordsAtOnce: Int
    private let metrics: WorkerMetrics
    private let loop: Loop
    private let log: Log
    private let report: @Sendable (Report) -> Void
    private let mailbox = Mailbox<Item>()
    private let thread = WorkerThread()

    private var owned: [TopicPartition: LanePartition] = [:]
    private var counts = RecordCounts()
    /// The number of vehicles of all that it owns, as it last said so.
    private var vehicles = 0
    private var isInFlight = false
    private var lastCommitMs = Clock.steadyMs()
    /// Until then each commit is of one partition, so that one that cannot be written holds up no other.
    private var apartUntilMs = Int64.min
    /// The partition that was written last, in that time.
    private var lastApart: TopicPartition?
    private var notTaken = RecordCounts()
    private var saidNotTakenMs = -Lane.notTakenPeriodMs

    /// - Parameter recordsAtOnce: after so many it is looked whether a commit is due, also amid a batch.
    init(
        _ number: Int, _ settings: Committer.Settings, commitIntervalMs: Int64, recordsAtOnce: Int = .max,
        metrics: WorkerMetrics, health: Health, log: Log, report: @escaping @Sendable (Report) -> Void
    ) {
        (self.commitIntervalMs, self.recordsAtOnce) = (commitIntervalMs, recordsAtOnce)
        (self.metrics, self.log, self.report) = (metrics, log, report)
        loop = health.loop("lane-\(number)")
        committer = Committer(
            settings, name: "commit-\(number)", loop: health.loop("commit-\(number)"), log: log)
        thread.start("lane-\(number)", loop: loop) { [self] _ in run() }
    }

    // MARK: From other threads

    /// Messages that wait.
    var waiting: Int { mailbox.waiting }
    func put(_ batch: MessageBatch) { mailbox.put(.records(batch), weight: batch.count) }
    func put(_ item: Item) { mailbox.put(item) }
    func waitUntil(atMost limit: Int, timeoutMs: Int64) -> Bool {
        mailbox.waitUntil(atMost: limit, timeoutMs: timeoutMs)
    }

    /// Writes what was taken and ends the threads.
    func stop() {
        mailbox.put(.stop)
        thread.stop()
        committer.stop()
    }

    // MARK: On the lane's thread

    private func run() {
        var isStopping = false
        while true {
            loop.turned()
            if isStopping && !isInFlight && !isPending { break }
            if let item = mailbox.dequeue(timeoutMs: waitMs) {
                switch item {
                // A commit that lags: its answer first.
                case .records(let batch): process(batch)
                case .own(let partitions): for each in partitions { owned[each.partition] = each }
                case .release(let partitions): for each in partitions { owned[each] = nil }
                case .answered(let commit, let result): settle(commit, result)
                case .recalled(let partition, let result): settle(partition, result)
                case .stop: isStopping = true
                }
            }
            commitIfDue(isStopping: isStopping)
            countVehicles()
            while isInFlight, isFull { waitForAnswer(timeoutMs: 1_000) }
        }
    }

    /// Until something is to be done, if nothing comes.
    private var waitMs: Int64 {
        if isInFlight { return 10 }
        guard isPending else { return 100 }
        return min(max(1, commitIntervalMs - (Clock.steadyMs() - lastCommitMs)), 100)
    }

    private var isPending: Bool { owned.values.contains { $0.isPending } }
    private var pendingRecords: Int64 { owned.values.reduce(0) { $0 + $1.pendingRecords } }

    private var isFull: Bool {
        pendingRecords > Lane.pendingRecordsMax
            || owned.values.reduce(0) { $0 + $1.stage.waitingRows } > Lane.waitingRowsMax
    }

    private func countVehicles() {
        let count = owned.values.reduce(0) { $0 + $1.stage.vehicleCount }
        if count != vehicles { metrics.vehicles.add(Double(count - vehicles)) }
        vehicles = count
    }

    private func process(_ batch: MessageBatch) {
        for run in batch.runs {
            var first = run.messages.lowerBound
            // It may be lost amid the batch.
            while first < run.messages.upperBound, let partition = owned[run.partition] {
                let end = first + min(recordsAtOnce, run.messages.upperBound - first)
                do throws(LanePartition.Fault) {
                    first = try partition.processRun(batch, first..<end, &counts)
                } catch {
                    owned[run.partition] = nil
                    report(.broken(run.partition, error))
                    break
                }
                if partition.needsRecall {
                    // It is lost where that fails.
                    if partition.stage.recallsWritten { commit(run.partition) }
                    if owned[run.partition] === partition { recall(partition) }
                } else if first < end {
                    commit(run.partition)
                }
                goOn(run.partition)
                guard first < run.messages.upperBound else { break }
                breathe()
            }
        }
    }

    /// Goes on with a partition that stopped amid its work: it is committed part by part.
    private func goOn(_ partition: TopicPartition) {
        while let each = owned[partition], each.canGoOn {
            breathe()
            each.goOn(&counts)
        }
    }

    private func breathe() {
        loop.turned()
        if isInFlight { waitForAnswer(timeoutMs: 0) }
        commitIfDue(isStopping: false)
    }

    private func commitIfDue(isStopping: Bool) {
        let isDue = isStopping || isFull || Clock.steadyMs() - lastCommitMs >= commitIntervalMs
        if !isInFlight, isDue, isPending { handOver() }
    }

    /// Waits until all that was taken of a partition is written.
    private func commit(_ partition: TopicPartition) {
        repeat {
            while isInFlight { waitForAnswer(timeoutMs: 1_000) }
            guard owned[partition]?.isPending == true else { return }
            handOver()
        } while true
    }

    /// Waits until what the partition's next record is about is read back, behind the commit in flight.
    private func recall(_ partition: LanePartition) {
        let recalled = DispatchSemaphore(value: 0)
        committer.put(
            .recall(partition) { result in
                self.mailbox.put(.recalled(partition.partition, result))
                recalled.signal()
            })
        loop.whileWaiting { recalled.wait() }
        let answer = mailbox.dequeue(timeoutMs: 0) { if case .recalled = $0 { true } else { false } }
        if case .recalled(let partition, let result)? = answer { settle(partition, result) }
    }

    private func settle(_ partition: TopicPartition, _ recalled: Result<Void, any Error>) {
        guard case .failure(let error) = recalled, owned[partition] != nil else { return }
        owned[partition] = nil
        metrics.failures.add()
        report(.failed([partition], "\(error)"))
    }

    /// The partitions that the next commit is of.
    private func nextPending() -> [LanePartition] {
        let pending = owned.values.filter(\.isPending)
        guard Clock.steadyMs() < apartUntilMs, pending.count > 1 else { return pending }
        func place(_ each: LanePartition) -> (String, Int32) { (each.partition.topic, each.partition.partition) }
        let sorted = pending.sorted { place($0) < place($1) }
        let next =
            sorted.first { each in lastApart.map { place(each) > ($0.topic, $0.partition) } ?? true } ?? sorted[0]
        lastApart = next.partition
        return [next]
    }

    private func handOver() {
        let commit = Commit(of: nextPending(), counts: counts)
        counts = RecordCounts()
        isInFlight = true
        lastCommitMs = Clock.steadyMs()
        let written = DispatchSemaphore(value: 0)
        committer.put(
            .write(commit) { result in
                self.mailbox.put(.answered(commit, result))
                written.signal()
            })
        // What is read back belongs to this cycle: the partitions stand still until it is folded in.
        if commit.isResolving { loop.whileWaiting { written.wait() } }
    }

    /// At once, and then in sums: a burst of rubbish fills no log.
    private func sayNotTaken(_ counts: RecordCounts) {
        notTaken.rejected += counts.rejected
        notTaken.droppedTicks += counts.droppedTicks
        guard notTaken.rejected > 0 || notTaken.droppedTicks > 0,
            Clock.steadyMs() - saidNotTakenMs >= Lane.notTakenPeriodMs
        else { return }
        log.warning(
            "records not taken", ["rejected": "\(notTaken.rejected)", "ticks_ahead": "\(notTaken.droppedTicks)"])
        (notTaken, saidNotTakenMs) = (RecordCounts(), Clock.steadyMs())
    }

    /// Takes nothing but the answer of the commit in flight; the rest waits in the mailbox, whose weight tells the worker to
    /// pause.
    private func waitForAnswer(timeoutMs: Int64) {
        loop.turned()
        let answer = mailbox.dequeue(timeoutMs: timeoutMs) { if case .answered = $0 { true } else { false } }
        if case .answered(let commit, let result)? = answer { settle(commit, result) }
    }

    private func settle(_ commit: Commit, _ result: Result<Commit.Outcome, any Error>) {
        isInFlight = false
        switch result {
        case .success(let outcome):
            var counts = commit.counts
            counts.rejected += outcome.refused
            metrics.publish(counts, outcome)
            report(.committed(commit.places.filter { outcome.kept.contains($0.key) }))
            sayNotTaken(counts)
            if let watched = outcome.watched { for each in owned.values { each.stage.watch(watched) } }
            log.debug(
                "committed",
                [
                    "records": "\(commit.counts.records)", "rows": "\(outcome.rows)",
                    "duration_ms": "\(outcome.durationMs)",
                ])
            guard !outcome.lost.isEmpty else { return }
            for partition in outcome.lost { owned[partition] = nil }
            report(.lost(outcome.lost))
        case .failure(let error):
            // Whether it happened is not known: the offsets that are read back say so.
            let partitions = commit.partitions.filter { owned[$0] != nil }
            for partition in partitions { owned[partition] = nil }
            metrics.failures.add()
            guard Committer.isRefused(error) else {
                return report(.failed(partitions, "\(error)"))
            }
            apartUntilMs = Clock.steadyMs() + Lane.apartMs
            guard let alone = partitions.first, partitions.count == 1 else {
                return report(.failed(partitions, "\(error)"))
            }
            report(.broken(alone, .unwritable("\(error)", before: commit.places[alone]!.nextOffset)))
        }
    }
}
