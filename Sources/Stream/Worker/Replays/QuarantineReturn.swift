package import Fleet
package import Kafka
internal import Postgres
internal import Storage
package import Telemetry

/// Brings a vehicle that was set apart back among the others of its partition. It is taken through the log as its partition
/// was, with nobody else, from where it stands to where they stand: what becomes of it is what would have become of it. Stopped in the
/// middle it goes on from there.
package final class QuarantineReturn {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    package enum Outcome: Equatable, Sendable {
        case isBack
        /// It still cannot be written, for this reason.
        case refused(String)
        case stopped
    }

    /// So close to the others it catches up with them while they wait.
    private static let closeRecords: Int64 = 2_000

    private let settings: WorkerSettings
    private let database: Committer.Settings
    private let side: VehicleReplay
    private let connection: Connection
    private let shouldStop: () -> Bool

    package init(_ settings: WorkerSettings, log: Log, shouldStop: @escaping () -> Bool) throws {
        (self.settings, self.shouldStop) = (settings, shouldStop)
        database = Committer.Settings(
            conninfo: settings.conninfo, schema: SchemaConnection.liveSchema,
            stages: .product(settings.tripRules, kept: settings.kept, isReplay: false, log: log))
        side = try VehicleReplay(settings.kafka, batchMax: settings.batchMax, shouldStop: shouldStop)
        connection = try SchemaConnection.connectForWriting(settings.conninfo)
    }

    /// - Parameters:
    ///   - takesRest: what the topic does not have any more is left out.
    ///   - progress: called with the records that are done and those there are.
    package func run(
        _ vehicle: VehicleID, _ partition: TopicPartition, takesRest: Bool, progress: (Int64, Int64) -> Void
    ) throws -> Outcome {
        guard var held = try held(vehicle, partition) else { throw elsewhere(vehicle) }
        let log = try side.log(of: partition)
        if let mismatch = try ProgressStore.claim([log], isLive: false, on: connection)[partition] {
            throw Fault(description: "\(partition.topic): \(mismatch.what); \(mismatch.detail). \(mismatch.remedy)")
        }
        if held.progress.replayFrom < log.firstOffset {
            guard takesRest else { throw lacking(held, log) }
            try QuarantineStore.skip(held, to: log.firstOffset, on: connection)
            guard let rest = try self.held(vehicle, partition) else { throw elsewhere(vehicle) }
            held = rest
        }
        do {
            try bringBack(held, log, progress)
            return .isBack
        } catch VehicleReplay.Fault.stopped {
            return .stopped
        } catch let refused as Refused {
            let session = try SchemaConnection.connectForWriting(settings.conninfo)
            try QuarantineStore.note(held, reason: refused.reason, on: session)
            return .refused(refused.reason)
        }
    }

    private struct Refused: Error { let reason: String }

    private func held(_ vehicle: VehicleID, _ partition: TopicPartition) throws -> QuarantineStore.Held? {
        try QuarantineStore.list(on: connection).first { $0.vehicle == vehicle && $0.partition == partition }
    }

    private func elsewhere(_ vehicle: VehicleID) -> Fault {
        Fault(description: "\(vehicle): is not where it was; does another `drover quarantine retry` bring it back?")
    }

    private func lacking(_ held: QuarantineStore.Held, _ log: PartitionLog) -> Fault {
        Fault(
            description: """
                \(held.vehicle): its records from offset \(held.progress.replayFrom) to \(log.firstOffset) of \
                \(held.partition) are not on the topic any more. Nothing was done. To take those that are there: drover \
                quarantine retry \(held.vehicle) --rest
                """)
    }

    /// Turns into a refusal what the server refuses, or a stored row does not allow.
    private func refusal<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch  where !(error is Fault) && Committer.isRefused(error) {
            throw Refused(reason: "\(error)")
        }
    }

    private func bringBack(
        _ held: QuarantineStore.Held, _ log: PartitionLog, _ progress: (Int64, Int64) -> Void
    ) throws {
        let (vehicle, partition, place) = (held.vehicle, held.partition, held.progress)
        let owned = try refusal {
            try connection.transaction {
                let rejected = try RejectedStore.load([partition: place.nextOffset], isAside: true, on: connection)
                return try database.own(
                    log, place, rejected[partition]!, VehicleSelection(only: [vehicle]), on: connection)
            }
        }
        func write(_ commit: Commit) throws {
            try refusal {
                for step in commit.steps {
                    guard try QuarantineStore.advance(vehicle, step, on: connection) else { throw elsewhere(vehicle) }
                }
                _ = try commit.write([partition], tables: database.tables, schema: database.schema, on: connection)
            }
        }
        while true {
            let end = try QuarantineStore.place(of: partition, on: connection)
            guard end - owned.storedOffset > QuarantineReturn.closeRecords else { break }
            try side.process(
                owned, before: end, recall: { stage in try connection.transaction { try stage.recall(on: connection) } }
            ) { commit in
                try connection.transaction { try write(commit) }
                progress(owned.storedOffset - place.nextOffset, end - place.nextOffset)
            }
        }
        try connection.transaction {
            let end = try QuarantineStore.place(of: partition, isLocked: true, on: connection)
            try side.process(owned, before: end, recall: { try $0.recall(on: connection) }, write)
            guard try QuarantineStore.giveBack(vehicle, partition, on: connection) else { throw elsewhere(vehicle) }
            progress(end - place.nextOffset, end - place.nextOffset)
        }
    }
}
