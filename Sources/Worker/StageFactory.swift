internal import Alerts
internal import Fleet
package import Kafka
internal import Observe
internal import Pipeline
package import Postgres
package import Storage
internal import Trips
internal import Wire

/// Makes the stages of the partitions that a lane takes over, within the transaction that reads where they stand.
package struct StageFactory: Sendable {
    package typealias Make =
        @Sendable (PartitionLog, PartitionProgress, Rejects, PartitionTicks, Connection) throws -> any Stage

    /// What the stages' rows are written to, in this order; each gets a staging table.
    let tables: [StagedTable]
    let make: Make

    package init(tables: [StagedTable], make: @escaping Make) { (self.tables, self.make) = (tables, make) }

    /// The product's: a kind of stage a topic.
    ///
    /// - Parameter isReplay: decides nothing; what was decided stands on the log.
    static func product(
        _ tripRules: TripRules, kept: (cars: KeptSpan, machines: KeptSpan), isReplay: Bool, log: Log
    ) -> StageFactory {
        StageFactory(tables: CarStore.tables + MachineStore.tables + SurveyStore.tables + TourEventStore.tables) {
            partitionLog, progress, rejects, ticks, connection in
            let partition = partitionLog.partition
            let (stage, unreadable): (any Stage, Int) =
                switch partition.topic {
                case Topic.machines: try machines(partitionLog, progress, kept.machines, rejects, ticks, on: connection)
                case Topic.dispatch:
                    (try campuses(partitionLog, progress, rejects, ticks, isReplay: isReplay, on: connection), 0)
                case Topic.sightings:
                    (
                        SurveyStage(
                            partition, place: partitionLog.place, rejects: rejects,
                            ticks: ticks), 0
                    )
                case Topic.tours:
                    (TourStage(place: partitionLog.place, rejects: rejects, ticks: ticks), 0)
                default: try cars(partitionLog, progress, kept.cars, rejects, ticks, tripRules, on: connection)
                }
            if unreadable > 0 {
                log.warning(
                    "stored states could not be read; they are made again from the stored readings",
                    [
                        "topic": "\(partition.topic)", "partition": "\(partition.partition)",
                        "vehicles": "\(unreadable)",
                    ])
            }
            return stage
        }
    }

    private static func cars(
        _ log: PartitionLog, _ progress: PartitionProgress, _ kept: KeptSpan, _ rejects: Rejects,
        _ ticks: PartitionTicks,
        _ rules: TripRules,
        on connection: Connection
    ) throws -> (CarStage, unreadable: Int) {
        var book = CarBook(
            rules: rules,
            progress: CarProgress(
                nextOffset: progress.nextOffset, replayFrom: progress.replayFrom,
                replayClockMs: progress.replayClockMs),
            place: log.place)
        let unreadable = try CarStore.load(log.place.partition, into: &book, on: connection)
        let drivers = DriverJudge(partition: log.place.partition)
        try drivers.load(book, on: connection)
        let stage = CarStage(
            log.partition, place: log.place, book: book, drivers: drivers, decoder: RecordDecoder(),
            kept: kept, rejects: rejects,
            ticks: ticks)
        return (stage, unreadable)
    }

    private static func campuses(
        _ log: PartitionLog, _ progress: PartitionProgress, _ rejects: Rejects, _ ticks: PartitionTicks, isReplay: Bool,
        on connection: Connection
    ) throws -> CampusStage {
        let book = try RideStore.load(
            partition: log.place.partition, clockMs: progress.replayClockMs,
            decidesFrom: isReplay ? .max : max(log.endOffset ?? 0, progress.nextOffset), on: connection)
        return CampusStage(log.partition, place: log.place, book: book, rejects: rejects, ticks: ticks)
    }

    private static func machines(
        _ log: PartitionLog, _ progress: PartitionProgress, _ kept: KeptSpan, _ rejects: Rejects,
        _ ticks: PartitionTicks, on connection: Connection
    ) throws -> (MachineStage, unreadable: Int) {
        let book = try MachineStore.load(
            partition: log.place.partition, clockMs: progress.clockMs == 0 ? nil : progress.clockMs, on: connection)
        let stage = MachineStage(
            log.partition, place: log.place, book: book, decoder: RecordDecoder(), kept: kept, rejects: rejects,
            ticks: ticks)
        stage.needsRules = book.rules.entries.isEmpty
        return (stage, book.queue.unreadable)
    }
}

extension PartitionLog {
    fileprivate var place: KeyPlace { KeyPlace(partition: partition.partition, count: identity.partitions) }
}
