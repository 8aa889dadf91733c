internal import Codecs
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage

/// Downloads and visits of tours: remembers nothing but the records of the cycle. Rows by id make each count once.
final class TourStage: Stage {
    private let place: KeyPartitioner
    private let rejects: RejectBuffer
    private let ticks: PartitionTicks
    private var taken: [TourEvent] = []

    init(place: KeyPartitioner, rejects: RejectBuffer, ticks: PartitionTicks) {
        self.ticks = ticks
        (self.place, self.rejects) = (place, rejects)
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        for index in messages {
            do throws(DecodeError) {
                if let event = try event(batch, index, &counts) { taken.append(event) }
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
        return messages.count
    }

    /// Nil: a tick.
    private func event(
        _ batch: MessageBatch, _ index: Int, _ counts: inout RecordCounts
    ) throws(DecodeError) -> TourEvent? {
        let pushedMs = batch.timestampMs(index)
        switch try unsafe batch.decoded(index, at: place, TourRecords.decode) {
        case .tick(let tick):
            // Nothing here waits for a time: it only stands beside the offset.
            _ = ticks.accept(tick, offset: batch.offset(index), pushedMs: pushedMs, &counts)
            return nil
        case .record(let event):
            if Ahead.isReadingTooFar(event.ts, pushedMs) { throw .timeAhead(ms: event.ts - pushedMs) }
            return event
        }
    }

    var waitingRows: Int { taken.count }
    var needsHistory: Bool { !taken.isEmpty }
    var replayFrom: (offset: Int64, clockMs: Int64)? { nil }

    func changes() -> StageChanges { StageChanges() }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges {
        let fold = TourFold(taken)
        taken.removeAll(keepingCapacity: true)
        let own = fold.changes(try TourEventStore.known(fold.keys, on: connection))
        var changes = StageChanges()
        (changes.count, changes.own) = (own.rowCount, .tours(own))
        return changes
    }
}
