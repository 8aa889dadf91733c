internal import Fleet
internal import Kafka
internal import Storage
internal import Wire

/// What came from the topics since the last commit, decoded and sorted by vehicle. Pure bookkeeping.
struct Batch {
    struct Held<Reading> {
        let partition: TopicPartition
        var readings: [Reading]
    }

    /// A tick further ahead of the broker's own time stamp than this is somebody's wrong clock.
    static let tickAheadMsMax: Int64 = 60_000

    /// A reading further ahead of that is a device's wrong clock, and would hold its trip open until then.
    static let readingAheadMsMax: Int64 = 86_400_000

    private(set) var records = 0
    private(set) var droppedFields = 0
    private(set) var droppedTicks = 0
    /// The offset after the last record taken, by partition.
    private(set) var nextOffsets: [TopicPartition: Int64] = [:]
    private(set) var clocks: [TopicPartition: Int64] = [:]
    private(set) var cars: [VehicleID: Held<CarReading>] = [:]
    private(set) var machines: [VehicleID: Held<MachineReading>] = [:]
    private(set) var rejected: [RejectedRecord] = []

    var isEmpty: Bool { records == 0 }

    mutating func take(
        _ partition: TopicPartition, offset: Int64, pushedMs: Int64, key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer?, decoder: RecordDecoder
    ) {
        records += 1
        nextOffsets[partition] = offset + 1
        do throws(DecodeError) {
            guard let value = unsafe value else { throw .tombstone }
            switch try unsafe decoder.decode(value, key: key, isMachine: partition.topic == Topic.machines) {
            case .tick(let ts): take(tick: ts, pushedMs: pushedMs, partition)
            case .car(let vehicle, let reading, let dropped):
                try check(reading.ts, pushedMs)
                droppedFields += dropped
                cars[vehicle, default: Held(partition: partition, readings: [])].readings.append(reading)
            case .machine(let reading, let dropped):
                try check(reading.ts, pushedMs)
                droppedFields += dropped
                machines[reading.vehicle, default: Held(partition: partition, readings: [])].readings.append(reading)
            }
        } catch {
            let first = unsafe value.map { unsafe Array($0.prefix(RejectedRecord.firstBytesMax)) } ?? []
            rejected.append(
                RejectedRecord(partition: partition, offset: offset, reason: error.description, firstBytes: first))
        }
    }

    /// The broker's stamp is part of the log, so a replay decides alike; a log without stamps (-1) cannot tell.
    private func check(_ ts: Int64, _ pushedMs: Int64) throws(DecodeError) {
        guard pushedMs >= 0, ts - pushedMs > Batch.readingAheadMsMax else { return }
        throw .timeAhead(ms: ts - pushedMs)
    }

    private mutating func take(tick ts: Int64, pushedMs: Int64, _ partition: TopicPartition) {
        // A log without stamps (-1) cannot tell.
        guard pushedMs < 0 || ts <= pushedMs + Batch.tickAheadMsMax else {
            droppedTicks += 1
            return
        }
        clocks[partition] = max(clocks[partition] ?? ts, ts)
    }

    /// Forgets what came from partitions that went away; their new owner reads the same records.
    mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions {
            guard nextOffsets.removeValue(forKey: partition) != nil else { continue }
            clocks[partition] = nil
            cars = cars.filter { $0.value.partition != partition }
            machines = machines.filter { $0.value.partition != partition }
            rejected.removeAll { $0.partition == partition }
        }
        if nextOffsets.isEmpty { records = 0 }
    }
}
