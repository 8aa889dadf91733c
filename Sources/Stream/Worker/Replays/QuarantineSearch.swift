internal import Fleet
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage

/// Finds the vehicles for whose sake a partition cannot be written, and sets them apart. Each try is a transaction that is rolled
/// back.
struct QuarantineSearch: Sendable {
    enum Outcome: Sendable {
        /// It can be written by now, or stands elsewhere.
        case nothing
        case setApart([(vehicle: VehicleID, reason: String)])
        case fault(LanePartition.Fault)
    }

    let kafka: KafkaSettings
    let database: Committer.Settings
    let batchMax: Int
    /// So many vehicles of a partition may be set apart.
    let most: Int

    /// Topics in which a record is a vehicle's, by its key. The others are written whole or not at all.
    static let topics = Set(RecordStage.allCases.filter { $0.vehicleKind != nil }.map(\.topic))

    /// - Parameter end: the offset up to which it cannot be written.
    func run(_ partition: TopicPartition, before end: Int64, shouldStop: @escaping () -> Bool) throws -> Outcome {
        let connection = try SchemaConnection.connectForWriting(database.conninfo)
        let side = try VehicleReplay(kafka, batchMax: batchMax, shouldStop: shouldStop)
        let log = try side.log(of: partition)
        guard let place = try ProgressStore.load([partition: log.firstOffset], on: connection)[partition] else {
            return .nothing
        }
        let apart = try QuarantineStore.vehicles(of: [partition], on: connection)[partition] ?? []
        let members = try members(partition, place.replayFrom..<max(end, place.replayFrom), side, connection)
        let finding = try FailureBisection.find(
            among: members.subtracting(apart).sorted(), most: max(0, most - apart.count)
        ) { members in
            guard !shouldStop() else { throw VehicleReplay.Fault.stopped }
            return try failure(log, place, VehicleSelection(only: Set(members)), before: end, side)
        }
        switch finding {
        case .nobody: return .nothing
        case .noMember(let reason): return .fault(.unwritable(reason, before: end))
        case .tooMany(let found):
            let vehicles = (apart + found.map(\.member)).sorted().map(\.text)
            return .fault(.tooMany(vehicles: vehicles, most: most, reason: found[0].reason))
        case .found(let found):
            let vehicles = found.map { (vehicle: $0.member, reason: $0.reason) }
            let isHeld = try QuarantineStore.hold(vehicles, of: partition, at: place, on: connection)
            return isHeld ? .setApart(vehicles) : .nothing
        }
    }

    /// The vehicles whose records or rows it may be.
    private func members(
        _ partition: TopicPartition, _ offsets: Range<Int64>, _ side: VehicleReplay, _ connection: Connection
    ) throws -> Set<VehicleID> {
        var members = Set(try QuarantineStore.stored(partition, on: connection))
        try side.read(partition, offsets) { batch, messages in
            for index in messages {
                let key = unsafe batch.withBytes(index) { key, _ in unsafe String(decoding: key, as: UTF8.self) }
                if let vehicle = VehicleID(key) { members.insert(vehicle) }
            }
        }
        return members
    }

    /// Why these vehicles cannot be written; nil: they can.
    private func failure(
        _ log: PartitionLog, _ place: PartitionProgress, _ selection: VehicleSelection, before end: Int64,
        _ side: VehicleReplay
    ) throws -> String? {
        let connection = try SchemaConnection.connectForWriting(database.conninfo)
        try connection.execute("BEGIN")
        // What was tried must be gone before the next try; a session that is lost takes it along.
        defer { _ = try? connection.execute("ROLLBACK") }
        func refusal(_ body: () throws -> Void) throws {
            do { try body() } catch  where Committer.isRefused(error) { throw Refused(reason: "\(error)") }
        }
        do {
            var owned: LanePartition?
            try refusal {
                let rejected = try RejectedStore.load([log.partition: place.nextOffset], on: connection)
                owned = try database.own(log, place, rejected[log.partition]!, selection, on: connection)
            }
            try side.process(
                owned!, before: end, recall: { stage in try refusal { try stage.recall(on: connection) } }
            ) { commit in
                try refusal {
                    _ = try commit.write(
                        [log.partition], tables: database.tables, schema: database.schema, on: connection)
                }
            }
            // What is only looked at by the end of a transaction.
            try refusal { try connection.execute("SET CONSTRAINTS ALL IMMEDIATE") }
            return nil
        } catch let refused as Refused { return refused.reason }
    }

    private struct Refused: Error { let reason: String }
}
