internal import Alerts
internal import Codecs
internal import Fleet
package import Kafka
internal import Pipeline
package import Postgres
package import Storage
internal import Telemetry
internal import Trips

/// Makes the stages of the partitions that a lane takes over, within the transaction that reads where they stand.
package struct StageFactory: Sendable {
    package typealias Make =
        @Sendable (PartitionLog, PartitionProgress, VehicleSelection, RejectBuffer, PartitionTicks, Connection) throws
        ->
        any Stage

    /// Tables that the stages' rows are written to, in this order; each gets a staging table.
    let tables: [StagedTable]
    let make: Make

    package init(tables: [StagedTable], make: @escaping Make) { (self.tables, self.make) = (tables, make) }

    private struct UnknownTopic: Error, CustomStringConvertible { let description: String }

    /// The product's: a stage a topic, as `RecordStage` lists them.
    ///
    /// - Parameter isReplay: decides nothing; what was decided stands on the log.
    static func product(
        _ tripRules: TripRules, kept: (cars: KeptSpan, machines: KeptSpan), isReplay: Bool, log: Log
    ) -> StageFactory {
        StageFactory(tables: CarStore.tables + MachineStore.tables + SurveyStore.tables + TourEventStore.tables) {
            partitionLog, progress, selection, rejects, ticks, connection in
            let partition = partitionLog.partition
            guard let kind = RecordStage(topic: partition.topic) else {
                throw UnknownTopic(description: "\(partition.topic): no stage takes its records")
            }
            let (stage, unreadable): (any Stage, Int) =
                switch kind {
                case .machines:
                    try machines(partitionLog, progress, selection, kept.machines, rejects, ticks, on: connection)
                case .campuses:
                    (try campuses(partitionLog, progress, rejects, ticks, isReplay: isReplay, on: connection), 0)
                case .surveys:
                    (
                        SurveyStage(
                            partition, place: partitionLog.place, rejects: rejects,
                            ticks: ticks), 0
                    )
                case .tours:
                    (TourStage(place: partitionLog.place, rejects: rejects, ticks: ticks), 0)
                case .cars:
                    try cars(
                        partitionLog, progress, selection, kept.cars, rejects, ticks, tripRules, isReplay: isReplay,
                        on: connection)
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
        _ log: PartitionLog, _ progress: PartitionProgress, _ selection: VehicleSelection, _ kept: KeptSpan,
        _ rejects: RejectBuffer, _ ticks: PartitionTicks, _ standard: TripRules, isReplay: Bool,
        on connection: Connection
    ) throws -> (CarStage, unreadable: Int) {
        let (rules, isNoted) = try tripRules(log, progress, standard, isReplay: isReplay, on: connection)
        var cars = CarPartition(
            rules: rules,
            progress: CarProgress(
                nextOffset: progress.nextOffset, replayFrom: progress.replayFrom,
                replayClockMs: progress.replayClockMs),
            place: log.place)
        var drivers = DriverPartition(storedOffset: progress.nextOffset)
        let loader = CarLoader(
            log.place.partition, of: selection, before: selection.isOnly ? progress.nextOffset : nil, on: connection)
        let unreadable = try loader.loadAll(into: &cars, &drivers)
        let stage = CarStage(
            log.partition, place: log.place, cars: cars,
            judge: DriverJudge(partition: log.place.partition, selection, drivers),
            decoder: RecordDecoder(), kept: kept, rejects: rejects, ticks: ticks)
        stage.unnotedRules = isNoted ? nil : rules.base
        return (stage, unreadable)
    }

    /// - Parameter standard: the settings' own. They count where a partition begins, and never again.
    private static func tripRules(
        _ log: PartitionLog, _ progress: PartitionProgress, _ standard: TripRules, isReplay: Bool,
        on connection: Connection
    ) throws -> (TripRuleTimeline, isNoted: Bool) {
        let partition = log.place.partition
        if isReplay {
            try TripRuleStore.copyLive(partition, before: progress.nextOffset, on: connection)
        } else {
            try TripRuleStore.begin(partition, with: standard, on: connection)
        }
        let (timeline, isNoted) = try TripRuleStore.load(partition, on: connection)
        // A replay of what no worker of this version has taken over yet.
        return (timeline ?? TripRuleTimeline(base: standard), isNoted)
    }

    private static func campuses(
        _ log: PartitionLog, _ progress: PartitionProgress, _ rejects: RejectBuffer, _ ticks: PartitionTicks,
        isReplay: Bool,
        on connection: Connection
    ) throws -> CampusStage {
        let campuses = CampusPartition(
            dispatchers: try RideStore.dispatchers(partition: log.place.partition, on: connection),
            clockMs: progress.replayClockMs,
            decidesFrom: isReplay ? .max : max(log.endOffset ?? 0, progress.nextOffset), decisionsAtOnce: 1)
        return CampusStage(log.partition, place: log.place, campuses: campuses, rejects: rejects, ticks: ticks)
    }

    private static func machines(
        _ log: PartitionLog, _ progress: PartitionProgress, _ selection: VehicleSelection, _ kept: KeptSpan,
        _ rejects: RejectBuffer, _ ticks: PartitionTicks, on connection: Connection
    ) throws -> (MachineStage, unreadable: Int) {
        let machines = try MachineReadBack.load(
            partition: log.place.partition, of: selection, clockMs: progress.clockMs == 0 ? nil : progress.clockMs,
            // Some alone are judged as the partition judged where they stand.
            rulesBefore: selection.isOnly ? progress.nextOffset : nil, on: connection)
        let stage = MachineStage(
            log.partition, place: log.place, machines: machines, selection: selection, decoder: RecordDecoder(),
            kept: kept,
            rejects: rejects, ticks: ticks)
        stage.needsRules = machines.rules.entries.isEmpty
        return (stage, machines.queue.unreadable)
    }
}

extension PartitionLog {
    fileprivate var place: KeyPartitioner { KeyPartitioner(partition: partition.partition, count: identity.partitions) }
}
