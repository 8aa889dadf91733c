package import Fleet
package import Kafka
internal import Pipeline
package import Postgres

/// Vehicles that are set apart from their partition (`drover.quarantine`), each with a progress of its own.
package enum QuarantineStore {
    package struct Held: Sendable {
        package let partition: TopicPartition
        package let vehicle: VehicleID
        package let reason: String
        package let heldMs: Int64
        /// Where it stands.
        package let progress: PartitionProgress
    }

    package static func list(on connection: Connection) throws -> [Held] {
        try connection.query(
            """
            SELECT topic, partition, vehicle, reason, held_at, next_offset, clock_at, replay_offset, replay_clock_at,
                last_record_hash, clock_waits, replay_clock_waits
            FROM drover.quarantine ORDER BY topic, partition, vehicle COLLATE "C"
            """
        ).map { row in
            var place = PartitionProgress(nextOffset: Int64(try row.int("next_offset")!))
            place.clockMs = try row.timestampMs("clock_at") ?? 0
            place.replayFrom = Int64(try row.int("replay_offset")!)
            place.replayClockMs = try row.timestampMs("replay_clock_at") ?? 0
            place.lastRecordHash = try row.int("last_record_hash").map { Int64($0) }
            place.clockWaits = try row.text("clock_waits")
            place.replayClockWaits = try row.text("replay_clock_waits")
            // What its partition took is taken, whoever stamped it.
            place.createTimeBefore = .max
            return Held(
                partition: TopicPartition(topic: try row.text("topic")!, partition: Int32(try row.int("partition")!)),
                vehicle: VehicleID(try row.text("vehicle")!)!, reason: try row.text("reason")!,
                heldMs: try row.timestampMs("held_at")!, progress: place)
        }
    }

    package static func vehicles(
        of partitions: some Collection<TopicPartition>, on connection: Connection
    ) throws -> [TopicPartition: Set<VehicleID>] {
        var vehicles: [TopicPartition: Set<VehicleID>] = [:]
        for row in try connection.query(
            """
            SELECT topic, partition, vehicle FROM drover.quarantine
            WHERE (topic, partition) IN (SELECT * FROM unnest($1::text[], $2::int[]))
            """, [.textArray(partitions.map(\.topic)), .int4Array(partitions.map(\.partition))])
        {
            let partition = TopicPartition(topic: try row.text(0)!, partition: Int32(try row.int(1)!))
            vehicles[partition, default: []].insert(VehicleID(try row.text(2)!)!)
        }
        return vehicles
    }

    /// Vehicles that have rows of this partition.
    package static func stored(_ partition: TopicPartition, on connection: Connection) throws -> [VehicleID] {
        guard let kind = RecordStage(topic: partition.topic)?.vehicleKind else { return [] }
        return try connection.query(
            "SELECT vehicle FROM drover.vehicle WHERE kind = $1 AND topic_partition = $2",
            [.text(kind.rawValue), .int4(partition.partition)]
        ).map { VehicleID(try $0.text(0)!)! }
    }

    /// Sets vehicles apart where their partition stands. False: it stands elsewhere by now, and nothing was done.
    package static func hold(
        _ vehicles: [(vehicle: VehicleID, reason: String)], of partition: TopicPartition, at place: PartitionProgress,
        on connection: Connection
    ) throws -> Bool {
        try connection.transaction {
            let moved = try connection.query(
                """
                UPDATE drover.partition_progress SET generation = generation + 1
                WHERE topic = $1 AND partition = $2 AND next_offset = $3 AND replay_offset = $4 AND generation = $5
                """,
                [
                    .text(partition.topic), .int4(partition.partition), .int8(place.nextOffset),
                    .int8(place.replayFrom), .int8(place.generation),
                ]
            ).rowsChanged
            guard moved == 1 else { return false }
            try connection.query(
                """
                INSERT INTO drover.quarantine (topic, partition, vehicle, reason, next_offset, clock_at, replay_offset,
                    replay_clock_at, last_record_hash, clock_waits, replay_clock_waits)
                SELECT p.topic, p.partition, held.vehicle, held.reason, p.next_offset, p.clock_at, p.replay_offset,
                    p.replay_clock_at, p.last_record_hash, p.clock_waits, p.replay_clock_waits
                FROM drover.partition_progress p, unnest($3::text[], $4::text[]) AS held(vehicle, reason)
                WHERE p.topic = $1 AND p.partition = $2
                ON CONFLICT DO NOTHING
                """,
                [
                    .text(partition.topic), .int4(partition.partition), .textArray(vehicles.map(\.vehicle.text)),
                    .textArray(vehicles.map { String($0.reason.prefix(reasonMax)) }),
                ])
            try note(vehicles.map(\.vehicle), of: partition, clockMs: place.clockMs, on: connection)
            return true
        }
    }

    private static let reasonMax = 2_000

    /// Notes changes that are on their way to all of a partition's vehicles and have not come to these.
    private static func note(
        _ vehicles: [VehicleID], of partition: TopicPartition, clockMs: Int64, on connection: Connection
    ) throws {
        let number = partition.partition
        switch RecordStage(topic: partition.topic) {
        case .machines: try MachineSpreadStore.note(of: vehicles, partition: number, on: connection)
        case .cars: try CarSpreadStore.note(of: vehicles, partition: number, clockMs: clockMs, on: connection)
        case .campuses, .surveys, .tours, nil: break
        }
    }

    // MARK: Coming back

    /// As `ProgressStore.advance`, of one that is set apart: the first statement of the transaction. False: somebody else has moved
    /// it.
    package static func advance(
        _ vehicle: VehicleID, _ step: ProgressStep, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            """
            UPDATE drover.quarantine
            SET next_offset = $6, clock_at = nullif($7::timestamptz, 'epoch'), replay_offset = $8,
                replay_clock_at = nullif($9::timestamptz, 'epoch'), last_record_hash = $10, clock_waits = $11,
                replay_clock_waits = $12
            WHERE topic = $1 AND partition = $2 AND vehicle = $3 AND next_offset = $4 AND replay_offset = $5
            """,
            [
                .text(step.partition.topic), .int4(step.partition.partition), .text(vehicle.text),
                .int8(step.from.nextOffset), .int8(step.from.replayFrom), .int8(step.to.nextOffset),
                .timestampMs(step.to.clockMs), .int8(step.to.replayFrom), .timestampMs(step.to.replayClockMs),
                step.to.lastRecordHash.map { .int8($0) } ?? .null, .text(step.to.clockWaits),
                .text(step.to.replayClockWaits),
            ]
        ).rowsChanged == 1
    }

    /// Leaves out records that the topic has lost: the vehicle goes on from the first that is there.
    package static func skip(_ held: Held, to offset: Int64, on connection: Connection) throws {
        try connection.query(
            """
            UPDATE drover.quarantine
            SET next_offset = greatest(next_offset, $4), replay_offset = $4, last_record_hash = NULL
            WHERE topic = $1 AND partition = $2 AND vehicle = $3
            """,
            [
                .text(held.partition.topic), .int4(held.partition.partition), .text(held.vehicle.text), .int8(offset),
            ])
    }

    package static func note(_ held: Held, reason: String, on connection: Connection) throws {
        try connection.query(
            "UPDATE drover.quarantine SET reason = $4 WHERE topic = $1 AND partition = $2 AND vehicle = $3",
            [
                .text(held.partition.topic), .int4(held.partition.partition), .text(held.vehicle.text),
                .text(String(reason.prefix(reasonMax))),
            ])
    }

    /// Where the partition stands. With `isLocked` nobody moves it until the end of the transaction.
    package static func place(
        of partition: TopicPartition, isLocked: Bool = false, on connection: Connection
    ) throws -> Int64 {
        let rows = try connection.query(
            """
            SELECT next_offset FROM drover.partition_progress WHERE topic = $1 AND partition = $2
            \(isLocked ? "FOR UPDATE" : "")
            """, [.text(partition.topic), .int4(partition.partition)])
        return Int64(try rows[0].int(0)!)
    }

    /// Puts a vehicle back among the others; whoever has the partition loads it again. False: they do not stand at one place.
    /// Precondition: the transaction has locked the partition's place.
    package static func giveBack(
        _ vehicle: VehicleID, _ partition: TopicPartition, on connection: Connection
    ) throws -> Bool {
        let key: [Parameter] = [.text(partition.topic), .int4(partition.partition), .text(vehicle.text)]
        let moved = try connection.query(
            """
            UPDATE drover.partition_progress p
            SET generation = p.generation + 1, replay_offset = first.replay_offset,
                replay_clock_at = first.replay_clock_at, replay_clock_waits = first.replay_clock_waits
            FROM drover.quarantine q CROSS JOIN LATERAL (
                SELECT replay_offset, replay_clock_at, replay_clock_waits FROM drover.partition_progress
                WHERE topic = q.topic AND partition = q.partition
                UNION ALL SELECT q.replay_offset, q.replay_clock_at, q.replay_clock_waits
                ORDER BY replay_offset LIMIT 1) AS first
            WHERE q.topic = $1 AND q.partition = $2 AND q.vehicle = $3
                AND p.topic = q.topic AND p.partition = q.partition AND p.next_offset = q.next_offset
            """, key
        ).rowsChanged
        guard moved == 1 else { return false }
        try connection.query(
            "DELETE FROM drover.quarantine WHERE topic = $1 AND partition = $2 AND vehicle = $3", key)
        return true
    }
}
