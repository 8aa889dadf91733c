internal import Alerts
internal import Fleet
internal import Kafka
internal import Observe
internal import Pipeline
internal import Postgres
internal import Storage
internal import Trips
internal import Wire

/// One lane: the partitions it owns, the state of their vehicles, and the connection that their rows go through.
/// A lane is used by one thread at a time.
final class Lane {
    private let log: Log
    private let tripRules: TripRules
    private let decoder = RecordDecoder()
    private let connection: Connection
    private var cars: CarBook
    private var machines: MachineBook
    private var batch = Batch()
    /// What this lane last wrote, by partition: the fence compares with it.
    private var owned: [TopicPartition: PartitionProgress] = [:]

    init(conninfo: String, tripRules: TripRules, alertRules: RuleSet, log: Log) throws {
        (self.tripRules, self.log) = (tripRules, log)
        cars = CarBook(rules: tripRules)
        machines = MachineBook(rules: alertRules)
        connection = try Connection(conninfo: conninfo)
        try CarStore.prepare(connection)
        try MachineStore.prepare(connection)
        try RejectedStore.prepare(connection)
    }

    var pendingRecords: Int { batch.records }
    var partitions: [TopicPartition] { Array(owned.keys) }

    /// Takes partitions over; returns the offsets to read from. `first` is where a partition never seen begins.
    func own(_ first: [TopicPartition: Int64]) throws -> [TopicPartition: Int64] {
        let progress = try ProgressStore.load(first, on: connection)
        for (partition, state) in progress { owned[partition] = state }
        return progress.mapValues(\.nextOffset)
    }

    /// Gives partitions up. Rows of theirs that are not written yet are dropped: the new owner reads the same records.
    func release(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions { owned[partition] = nil }
        batch.drop(partitions)
        // Which cars were theirs is not worth keeping: the others are read back when they next report.
        cars.forgetAll()
        machines.forgetAll()
    }

    func take(
        _ partition: TopicPartition, offset: Int64, pushedMs: Int64, key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer?
    ) {
        // A record of a partition just given up, or one that comes again after a rewind.
        guard let progress = owned[partition], offset >= batch.nextOffsets[partition] ?? progress.nextOffset else {
            return
        }
        unsafe batch.take(partition, offset: offset, pushedMs: pushedMs, key: key, value: value, decoder: decoder)
    }

    /// Writes the batch in one transaction. Returns partitions that another worker turned out to own; they are dropped.
    /// When it throws, nothing of the batch is certain: the caller drops the lane and reads on from the stored offsets.
    func commit() throws -> (counts: CommitCounts, lost: Set<TopicPartition>) {
        var counts = CommitCounts(batch)
        guard !batch.isEmpty else { return (counts, []) }
        let carChanges = try carChanges()
        let machineChanges = try machineChanges()
        let steps = batch.nextOffsets.map { partition, next in
            ProgressStep(
                partition: partition, from: owned[partition]!.nextOffset, to: next, clockMs: batch.clocks[partition])
        }
        let kept = try connection.transaction {
            let kept = try ProgressStore.advance(steps, on: connection)
            try write(kept, carChanges, machineChanges, &counts)
            return kept
        }
        for step in steps where kept.contains(step.partition) {
            owned[step.partition] = PartitionProgress(nextOffset: step.to, clockMs: clock(step.partition))
        }
        let lost = Set(steps.map(\.partition)).subtracting(kept)
        batch = Batch()
        if !lost.isEmpty { release(lost) }
        return (counts, lost)
    }

    private func clock(_ partition: TopicPartition) -> Int64? {
        [owned[partition]?.clockMs, batch.clocks[partition]].compactMap { $0 }.max()
    }

    private func carChanges() throws -> [(TopicPartition, CarChange)] {
        let readings = batch.cars.mapValues { $0.readings.unioned() }
        let queries = readings.compactMap { cars.query($0.key, $0.value) }
        let histories = try CarStore.history(queries, on: connection)
        return readings.compactMap { vehicle, readings in
            let partition = batch.cars[vehicle]!.partition
            let change = cars.apply(readings, of: vehicle, history: histories[vehicle], clockMs: clock(partition))
            return change.map { (partition, $0) }
        }
    }

    private func machineChanges() throws -> [(TopicPartition, MachineChange)] {
        let readings = batch.machines.mapValues { $0.readings.unioned() }
        let queries = readings.compactMap { machines.query($0.key, $0.value) }
        let histories = try MachineStore.history(queries, on: connection)
        return readings.compactMap { vehicle, readings in
            let change = machines.apply(readings, of: vehicle, history: histories[vehicle])
            return change.map { (batch.machines[vehicle]!.partition, $0) }
        }
    }

    /// Within the transaction, after the compare-and-set: only what belongs to partitions that are still ours.
    private func write(
        _ kept: Set<TopicPartition>, _ carChanges: [(TopicPartition, CarChange)],
        _ machineChanges: [(TopicPartition, MachineChange)], _ counts: inout CommitCounts
    ) throws {
        let carChanges = carChanges.filter { kept.contains($0.0) }
        let machineChanges = machineChanges.filter { kept.contains($0.0) }
        try VehicleStore.write(
            carChanges.map {
                VehicleStore.Row(
                    vehicle: $1.vehicle, kind: "car", model: nil, partition: $0.partition, lastMs: $1.lastMs)
            }
                + machineChanges.map {
                    VehicleStore.Row(
                        vehicle: $1.vehicle, kind: "machine", model: $1.model, partition: $0.partition,
                        lastMs: $1.lastMs)
                }, on: connection)
        try CarStore.write(carChanges.map(\.1), on: connection)
        let clocks = batch.clocks.filter { kept.contains($0.key) && $0.key.topic == Topic.cars }
        try CarStore.closeTrips(
            clocks: clocks.map { (partition: $0.key.partition, clockMs: clock($0.key)!) }, rules: tripRules,
            on: connection)
        try MachineStore.write(machineChanges.map(\.1), on: connection)
        try RejectedStore.write(batch.rejected.filter { kept.contains($0.partition) }, on: connection)
        counts.rows =
            carChanges.reduce(0) { $0 + $1.1.minutes.count + $1.1.trips.count }
            + machineChanges.reduce(0) { $0 + $1.1.readings.count + $1.1.episodes.count }
    }
}

/// What one commit did, as values: the worker publishes them.
struct CommitCounts {
    var records: Int
    var rows = 0
    var rejected: Int
    var droppedFields: Int
    var droppedTicks: Int
    var nextOffsets: [TopicPartition: Int64]

    init(_ batch: Batch) {
        records = batch.records
        rejected = batch.rejected.count
        droppedFields = batch.droppedFields
        droppedTicks = batch.droppedTicks
        nextOffsets = batch.nextOffsets
    }
}
