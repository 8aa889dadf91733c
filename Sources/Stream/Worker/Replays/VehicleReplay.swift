internal import Kafka
internal import Storage
internal import Telemetry

/// One partition's records for some of its vehicles, beside the workers: read without a consumer group, and worked on by the thread
/// that calls.
final class VehicleReplay {
    enum Fault: Error, CustomStringConvertible {
        case stopped
        case silent(TopicPartition)
        case gone(TopicPartition)
        case log(TopicPartition, LanePartition.Fault)

        var description: String {
            switch self {
            case .stopped: "it was stopped"
            case .silent(let partition): "\(partition): its broker sends no records"
            case .gone(let partition): "\(partition): the broker does not have the records that are needed"
            case .log(let partition, let fault): "\(partition): \(fault.what); \(fault.detail)"
            }
        }
    }

    /// The most records that are handed over at once.
    private static let recordsMax: Int64 = 100_000
    private static let rowsMax = 20_000
    private static let silentMs: Int64 = 30_000

    private let consumer: Consumer
    private let shouldStop: () -> Bool

    init(_ kafka: KafkaSettings, batchMax: Int, shouldStop: @escaping () -> Bool) throws {
        consumer = try Consumer(kafka, group: "drover-quarantine", instanceID: nil, batchMax: batchMax)
        self.shouldStop = shouldStop
    }

    func log(of partition: TopicPartition) throws -> PartitionLog {
        guard let log = try consumer.logs(of: [partition], timeoutMs: 10_000)[partition] else {
            throw Fault.silent(partition)
        }
        return log
    }

    /// The partition's messages from one offset up to another, in their order.
    func read(
        _ partition: TopicPartition, _ offsets: Range<Int64>, _ take: (MessageBatch, Range<Int>) throws -> Void
    ) throws {
        guard !offsets.isEmpty else { return }
        try consumer.add([partition: offsets.lowerBound])
        // Leaving it behind costs at most a fetch.
        defer { try? consumer.remove([partition]) }
        var (next, heardMs) = (offsets.lowerBound, Clock.steadyMs())
        while next < offsets.upperBound {
            guard !shouldStop() else { throw Fault.stopped }
            let batch = try consumer.poll(timeoutMs: 100)
            for case .outOfRange in consumer.drainChanges() { throw Fault.gone(partition) }
            for run in batch.runs where run.partition == partition && next < offsets.upperBound {
                try take(batch, run.messages)
                (next, heardMs) = (batch.offset(run.messages.upperBound - 1) + 1, Clock.steadyMs())
            }
            guard Clock.steadyMs() - heardMs < VehicleReplay.silentMs else { throw Fault.silent(partition) }
        }
    }

    /// Takes what lies before `end`; `write` gets what follows from it in parts, as a lane would commit them. Where a stage must
    /// read back before it goes on, `recall` lets it.
    ///
    /// Precondition: `owned` is of some alone, whom it has in memory.
    func process(
        _ owned: LanePartition, before end: Int64, recall: (any Stage) throws -> Void, _ write: (Commit) throws -> Void
    ) throws {
        owned.end(before: end)
        var counts = RecordCounts()
        func handOver() throws {
            guard owned.isPending else { return }
            try write(Commit(of: [owned], counts: counts))
            counts = RecordCounts()
        }
        let from = owned.nextOffset == owned.replayOffset ? owned.startOffset : owned.nextOffset
        guard owned.nextOffset < end else { return }
        try read(owned.partition, max(owned.firstOffset, from)..<end) { batch, messages in
            var first = messages.lowerBound
            while first < messages.upperBound {
                do throws(LanePartition.Fault) {
                    first = try owned.processRun(batch, first..<messages.upperBound, &counts)
                } catch { throw Fault.log(owned.partition, error) }
                let isFull =
                    owned.pendingRecords > VehicleReplay.recordsMax || owned.stage.waitingRows > VehicleReplay.rowsMax
                if first < messages.upperBound || isFull { try handOver() }
                if owned.needsRecall { try recall(owned.stage) }
            }
        }
        try handOver()
    }
}
