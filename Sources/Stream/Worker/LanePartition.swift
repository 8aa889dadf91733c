internal import Kafka
internal import Storage
internal import Trips

/// A partition that a lane works on: where it stands, and the stage that its records go to.
///
/// Made by the committer, then used by its lane, and by the committer while the lane waits: by one thread at a time.
final class LanePartition: @unchecked Sendable {
    let partition: TopicPartition
    /// The first offset that the log had when the partition was loaded.
    let firstOffset: Int64
    let identity: TopicIdentity
    let stage: any Stage
    /// The vehicles whose records it takes.
    let selection: VehicleSelection
    private let chosen: SelectedRecords?
    let rejects: RejectBuffer
    private let ticks: PartitionTicks
    /// The progress that the commit in flight, or the last one, makes: the next compares with its offset.
    private(set) var handedOver: PartitionProgress
    /// The offset after the last record taken.
    private(set) var nextOffset: Int64
    private(set) var lastRecordHash: Int64?
    /// The record that must be found before `handedOver.nextOffset`; nil when it was, or is not known.
    private var expected: (offset: Int64, hash: Int64)?
    /// The first record that is needed.
    let replayOffset: Int64
    /// Records before it may be stamped by their senders: they were taken, or a person accepted them.
    private let stampedFrom: Int64

    /// - Parameter isLive: a replay takes what the live tables took, whoever stamped it.
    init(
        _ log: PartitionLog, _ progress: PartitionProgress, of selection: VehicleSelection = .all, isLive: Bool,
        stage: any Stage, rejects: RejectBuffer, ticks: PartitionTicks
    ) {
        self.selection = selection
        chosen = selection.isAll ? nil : SelectedRecords(selection, of: log.partition.topic)
        self.ticks = ticks
        stampedFrom = isLive ? max(progress.nextOffset, progress.createTimeBefore ?? 0) : .max
        (partition, firstOffset, identity) = (log.partition, log.firstOffset, log.identity)
        (self.stage, self.rejects, handedOver) = (stage, rejects, progress)
        nextOffset = progress.replayFrom
        replayOffset = progress.replayFrom
        lastRecordHash = progress.lastRecordHash
        if let hash = progress.lastRecordHash, hash != 0, progress.nextOffset > 0 {
            expected = (progress.nextOffset - 1, hash)
        }
    }

    /// Nothing from this offset on is taken: a replay ends there.
    private var endOffset = Int64.max

    /// A replay's end.
    func end(before offset: Int64) { endOffset = offset }

    /// Where the partition stands in the database.
    var storedOffset: Int64 { handedOver.nextOffset }
    /// The record that is compared may lie before the first that is needed.
    var startOffset: Int64 { min(replayOffset, expected?.offset ?? replayOffset) }
    /// No rules are on record for its machines.
    var needsRules: Bool { (stage as? MachineStage)?.needsRules ?? false }
    /// The rules that its trips began with, where its log does not tell them yet.
    var unnotedTripRules: TripRules? { (stage as? CarStage)?.unnotedRules }
    var pendingRecords: Int64 { max(0, nextOffset - handedOver.nextOffset) }
    /// Something is to be committed.
    var isPending: Bool { pendingRecords > 0 || (wentOn && nextOffset == handedOver.nextOffset) }
    /// Since the last hand-over, without a record.
    private var wentOn = false
    var canGoOn: Bool { stage.canGoOn }
    var needsRecall: Bool { stage.needsRecall }
    func goOn(_ counts: inout RecordCounts) {
        stage.goOn(&counts)
        wentOn = true
    }

    /// Takes a run of messages. Those before the partition's place were taken already. Returns where those begin that wait
    /// for a commit.
    func processRun(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) throws(Fault) -> Int {
        try check(batch, messages)
        for index in messages where batch.isStampedBySender(index) && batch.offset(index) >= stampedFrom {
            throw .stampedBySender(atOffset: batch.offset(index))
        }
        var (first, end) = (messages.lowerBound, messages.upperBound)
        while first < end, batch.offset(first) < nextOffset { first += 1 }
        while first < end, batch.offset(end - 1) >= endOffset { end -= 1 }
        if first < end {
            let taken = processSelected(batch, first..<end, &counts)
            guard taken == end else { return taken }
        }
        // The end was passed, also when the record before it is not in the log any more.
        if end < messages.upperBound { nextOffset = max(nextOffset, endOffset) }
        return messages.upperBound
    }

    /// Returns the index after the last that was taken, or belongs to others.
    private func processSelected(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        guard let chosen else { return process(batch, messages, &counts) }
        var first = messages.lowerBound
        while first < messages.upperBound {
            let isOurs = chosen.includes(batch, first)
            var end = first + 1
            while end < messages.upperBound, chosen.includes(batch, end) == isOurs { end += 1 }
            if isOurs {
                let taken = process(batch, first..<end, &counts)
                guard taken == end else { return taken }
            } else {
                var others = RecordCounts()
                moveOn(batch, first..<end, &others)
            }
            first = end
        }
        return first
    }

    private func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        let taken = messages.lowerBound + stage.process(batch, messages, &counts)
        if messages.lowerBound < taken { moveOn(batch, messages.lowerBound..<taken, &counts) }
        return taken
    }

    private func moveOn(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) {
        nextOffset = batch.offset(messages.upperBound - 1) + 1
        // What was replayed up to the stored offset was counted when it was first taken.
        if nextOffset > handedOver.nextOffset {
            counts.records += Int(min(nextOffset - handedOver.nextOffset, Int64(messages.count)))
            lastRecordHash = batch.fingerprint(messages.upperBound - 1)
        }
    }

    private func check(_ batch: MessageBatch, _ messages: Range<Int>) throws(Fault) {
        guard let expected, batch.offset(messages.upperBound - 1) >= expected.offset else { return }
        self.expected = nil
        // A record that is gone (compacted, or a transaction's marker) cannot be compared.
        guard let index = messages.first(where: { batch.offset($0) == expected.offset }) else { return }
        if batch.fingerprint(index) != expected.hash { throw .replaced(atOffset: expected.offset) }
    }

    /// The step that the next commit makes; from then on its end is what this lane has written.
    func handOver() -> ProgressStep {
        var to = handedOver
        to.nextOffset = nextOffset
        to.clockMs = ticks.clockMs
        to.lastRecordHash = lastRecordHash
        if let replay = stage.replayFrom {
            (to.replayFrom, to.replayClockMs) = (min(replay.offset, nextOffset), replay.clockMs)
        } else {
            (to.replayFrom, to.replayClockMs) = (nextOffset, ticks.clockMs)
        }
        (to.clockWaits, to.replayClockWaits) = (ticks.waiting, ticks.waiting(at: to.replayFrom))
        let step = ProgressStep(partition: partition, from: handedOver, to: to)
        (handedOver, wentOn) = (to, false)
        return step
    }
}
