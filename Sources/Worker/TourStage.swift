internal import Fleet
internal import Kafka
internal import Postgres
internal import Storage
internal import Wire

/// Downloads and visits of tours: remembers nothing but the records of the cycle. Rows by id make each count once.
final class TourStage: Stage {
    private let place: KeyPlace
    private let rejects: Rejects
    private var taken: [TourEvent] = []
    private(set) var clockMs: Int64

    init(place: KeyPlace, clockMs: Int64, rejects: Rejects) {
        (self.place, self.clockMs, self.rejects) = (place, clockMs, rejects)
    }

    func take(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) {
        for index in messages {
            do throws(DecodeError) {
                if let event = try event(batch, index, &counts) { taken.append(event) }
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
    }

    /// Nil: a tick.
    private func event(
        _ batch: MessageBatch, _ index: Int, _ counts: inout RecordCounts
    ) throws(DecodeError) -> TourEvent? {
        let pushedMs = batch.timestampMs(index)
        switch try unsafe batch.decoded(index, at: place, &counts, TourRecords.decode) {
        case nil: return nil
        case .tick(let ts):
            clockMs = max(clockMs, ts)
            return nil
        case .record(let event):
            if Ahead.isReadingTooFar(event.ts, pushedMs) { throw .timeAhead(ms: event.ts - pushedMs) }
            return event
        }
    }

    var waitingRows: Int { taken.count }
    var needsHistory: Bool { !taken.isEmpty }
    var replayFrom: (offset: Int64, clockMs: Int64)? { nil }

    func rows() -> StageRows { StageRows() }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageRows {
        var rows = StageRows()
        rows.count = try TourEventStore.take(taken, on: connection)
        taken.removeAll(keepingCapacity: true)
        return rows
    }
}
