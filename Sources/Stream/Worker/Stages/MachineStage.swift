internal import Alerts
internal import Codecs
internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage

/// Machines: records to `MachinePartition` as events, and what follows from them to the tables. Machines report once a minute, so
/// every cycle reads back what it needs and waits for its commit.
final class MachineStage: Stage {
    private let partition: TopicPartition
    private let place: KeyPartitioner
    private let decoder: RecordDecoder
    private let kept: KeptSpan
    private let rejects: RejectBuffer
    private let ticks: PartitionTicks
    private var machines: MachinePartition
    private let selection: VehicleSelection
    private var events: [MachineEvent] = []
    /// So many of them were folded in this commit.
    private var folded = 0
    /// The latest readings of `events`.
    private var newestMs: [VehicleID: Int64] = [:]
    /// At the next tick readings may be judged again.
    private var mayRejudge: Bool
    /// Nothing more is taken before a commit.
    private var isFull = false
    /// No rule set is on record.
    var needsRules = false

    init(
        _ partition: TopicPartition, place: KeyPartitioner, machines: MachinePartition, selection: VehicleSelection,
        decoder: RecordDecoder, kept: KeptSpan, rejects: RejectBuffer, ticks: PartitionTicks
    ) {
        self.selection = selection
        (self.kept, self.ticks, mayRejudge) = (kept, ticks, machines.isRejudging)
        (self.partition, self.place, self.machines, self.decoder, self.rejects) = (
            partition, place, machines, decoder, rejects
        )
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        for index in messages {
            if isFull { return index - messages.lowerBound }
            do throws(DecodeError) {
                if let fact = try fact(batch, index, &counts) {
                    add(MachineEvent(fact, offset: batch.offset(index), pushedMs: batch.timestampMs(index)))
                }
            } catch {
                rejects.add(batch, index, error, &counts)
            }
        }
        return messages.count
    }

    /// One tick at which something may be judged again a commit, and as many records: what a commit costs has a bound.
    private func add(_ event: MachineEvent) {
        switch event.fact {
        case .reading(let reading):
            let lastMs = newestMs[reading.vehicle] ?? machines.lastMs(of: reading.vehicle)
            mayRejudge = mayRejudge || reading.ts <= lastMs ?? .max
            newestMs[reading.vehicle] = max(reading.ts, lastMs ?? .min)
        case .tick: isFull = mayRejudge
        // They ask for all machines, of which a piece is noted: one of them a commit.
        case .setBack, .rules: (mayRejudge, isFull) = (true, true)
        case .action: mayRejudge = true
        }
        events.append(event)
        if events.count >= MachineStage.recordsMax { isFull = true }
    }

    private static let recordsMax = 8_192

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
                case .action, .tick, .rules, .car, .tripRules: break
                }
                return record
            }
        }
        let pushedMs = batch.timestampMs(index)
        switch try result.get() {
        case .tick(let tick):
            switch ticks.accept(tick, offset: batch.offset(index), pushedMs: pushedMs, &counts) {
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
        case .car, .tripRules: throw .kindUnknown
        }
    }

    var vehicleCount: Int { machines.count }
    var waitingRows: Int { 0 }
    var needsHistory: Bool { !events.isEmpty }
    var replayFrom: (offset: Int64, clockMs: Int64)? { nil }

    func changes() -> StageChanges { StageChanges() }

    /// True: changes that follow from some of the records may have to be written before the next are folded.
    var hasMore: Bool { !events.isEmpty }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges {
        var (own, count) = try MachineReadBack.fold(
            events[folded...], into: &machines, partition: partition.partition, of: selection, on: connection)
        folded += count
        // What is noted of all machines is the partition's; of some alone all are noted at once.
        if selection.isOnly { own.spreads = nil }
        var changes = StageChanges()
        changes.vehicles = own.machines.filter { !$0.readings.isEmpty }.map {
            VehicleStore.Row(
                vehicle: $0.vehicle.text, kind: .machine, model: $0.model, partition: partition.partition,
                lastMs: $0.lastMs, machineID: $0.machineID)
        }
        changes.count = own.rowCount
        changes.outbox = own.transitions.map { OutboxRecord($0) }
        changes.own = .machines(own, partition: partition.partition)
        if folded == events.count { begin() }
        return changes
    }

    /// The next commit's.
    private func begin() {
        events.removeAll(keepingCapacity: true)
        newestMs.removeAll(keepingCapacity: true)
        (folded, mayRejudge, isFull) = (0, machines.isRejudging, false)
    }
}
