internal import Alerts
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Wire

/// Machines: records to the book as events, and what follows from them to the tables. Machines report once a minute, so
/// every cycle reads back what it needs and waits for its commit.
final class MachineStage: Stage {
    private let partition: TopicPartition
    private let place: KeyPlace
    private let decoder: RecordDecoder
    private let kept: KeptSpan
    private let rejects: Rejects
    private let ticks: PartitionTicks
    private var book: MachineBook
    private var events: [MachineEvent] = []
    /// No rule set is on record.
    var needsRules = false

    init(
        _ partition: TopicPartition, place: KeyPlace, book: MachineBook, decoder: RecordDecoder, kept: KeptSpan,
        rejects: Rejects, ticks: PartitionTicks
    ) {
        (self.kept, self.ticks) = (kept, ticks)
        (self.partition, self.place, self.book, self.decoder, self.rejects) = (partition, place, book, decoder, rejects)
    }

    func take(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) {
        for index in messages {
            do throws(DecodeError) {
                if let fact = try fact(batch, index, &counts) {
                    events.append(
                        MachineEvent(fact, offset: batch.offset(index), pushedMs: batch.timestampMs(index)))
                }
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
    }

    /// Nil: a tick that is left out.
    private func fact(
        _ batch: MessageBatch, _ index: Int, _ counts: inout RecordCounts
    ) throws(DecodeError) -> MachineEvent.Fact? {
        let result = unsafe batch.withBytes(index) { key, value in
            Result { () throws(DecodeError) -> Record in
                guard let value = unsafe value else { throw .tombstone }
                let record = try unsafe decoder.decode(value, key: key, isMachine: true)
                switch record {
                case .machine: try unsafe place.check(key)
                case .action(let action) where action.vehicle != nil: try unsafe place.check(key)
                default: break
                }
                return record
            }
        }
        let pushedMs = batch.timestampMs(index)
        switch try result.get() {
        case .tick(let tick):
            switch ticks.take(tick, offset: batch.offset(index), pushedMs: pushedMs, &counts) {
            case .counts(let ms): return .tick(ms)
            case .setBack(let ms): return .setBack(ms)
            case .waits, .dropped: return nil
            }
        case .machine(let reading, let dropped):
            if Ahead.isReadingTooFar(reading.ts, pushedMs) { throw .timeAhead(ms: reading.ts - pushedMs) }
            try kept.check(reading.ts, pushedMs)
            counts.droppedFields += dropped
            return .reading(reading.pushed(atMs: pushedMs))
        case .rules(let fromMs, let version, let text):
            return .rules(try RuleTimeline.Entry(fromMs: fromMs, version: version, text: text))
        case .action(let action):
            if Ahead.isReadingTooFar(action.ts, pushedMs) { throw .timeAhead(ms: action.ts - pushedMs) }
            if case .service = action.kind { try kept.check(action.ts, pushedMs) }
            return .action(action)
        case .car: throw .kindUnknown
        }
    }

    var waitingRows: Int { 0 }
    var needsHistory: Bool { !events.isEmpty }
    var replayFrom: (offset: Int64, clockMs: Int64)? { nil }

    func rows() -> StageRows { StageRows() }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageRows {
        let changes = try MachineStore.take(events, into: &book, partition: partition.partition, on: connection)
        events.removeAll(keepingCapacity: true)
        var rows = StageRows()
        rows.count = changes.rowCount
        rows.outbox = changes.transitions.map { OutboxRecord($0) }
        rows.vehicles = changes.machines.filter { !$0.readings.isEmpty }.map {
            VehicleStore.Row(
                vehicle: $0.vehicle.text, kind: "machine", model: $0.model, partition: partition.partition,
                lastMs: $0.lastMs)
        }
        let number = partition.partition
        rows.others = [{ connection in try MachineStore.write(changes, partition: number, on: connection) }]
        return rows
    }
}
