internal import Codecs
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage

/// Campuses: records to their dispatchers, and what it decides to the tables and out to whoever waits for it.
final class CampusStage: Stage {
    private let partition: TopicPartition
    private let place: KeyPartitioner
    private let rejects: RejectBuffer
    private let ticks: PartitionTicks
    private var campuses: CampusPartition

    init(
        _ partition: TopicPartition, place: KeyPartitioner, campuses: CampusPartition, rejects: RejectBuffer,
        ticks: PartitionTicks
    ) {
        self.ticks = ticks
        (self.partition, self.place, self.campuses, self.rejects) = (partition, place, campuses, rejects)
    }

    var canGoOn: Bool { campuses.canGoOn }

    func goOn(_ counts: inout RecordCounts) {
        let anewBefore = campuses.decidedAnew
        campuses.goOn()
        counts.decidedAnew += campuses.decidedAnew - anewBefore
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        let anewBefore = campuses.decidedAnew
        for index in messages {
            do throws(DecodeError) {
                try process(batch, index, &counts)
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
        counts.decidedAnew += campuses.decidedAnew - anewBefore
        return messages.count
    }

    private func process(_ batch: MessageBatch, _ index: Int, _ counts: inout RecordCounts) throws(DecodeError) {
        let (offset, pushedMs) = (batch.offset(index), batch.timestampMs(index))
        switch try unsafe batch.decoded(index, at: place, RideRecords.decode) {
        case .tick(let tick):
            switch ticks.accept(tick, offset: offset, pushedMs: pushedMs, &counts) {
            case .counts(let ms): campuses.tick(ms, offset: offset)
            case .setBack(let ms): campuses.setBack(ms, offset: offset)
            case .waits, .dropped: break
            }
        case .record(let record):
            if Ahead.isReadingTooFar(record.ts, pushedMs) { throw .timeAhead(ms: record.ts - pushedMs) }
            // The broker's stamp orders a campus; a log without stamps has the sender's clocks.
            try campuses.accept(record, offset: offset, atMs: pushedMs >= 0 ? pushedMs : record.ts)
        }
    }

    var waitingRows: Int { 0 }
    var needsHistory: Bool { false }
    var replayFrom: (offset: Int64, clockMs: Int64)? { campuses.waitsFrom.map { ($0, campuses.clockMs) } }

    func changes() -> StageChanges {
        let own = campuses.drainChanges()
        var changes = StageChanges()
        guard !own.isEmpty else { return changes }
        changes.count = own.rides.count + own.vehicles.count + own.decisions.count
        changes.outbox = RideStore.outbox(own)
        changes.own = .campuses(own, partition: partition.partition)
        return changes
    }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges { StageChanges() }
}
