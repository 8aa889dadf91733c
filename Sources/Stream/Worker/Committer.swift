internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Telemetry
internal import Threads

/// Everything of a lane that talks to the database, on a thread of its own, one job after the other: loads partitions
/// that are taken over, writes commits while the lane goes on with the next records.
final class Committer: @unchecked Sendable {
    // The connection is used on the committer's thread only; jobs come through the mailbox.
    struct Settings: Sendable {
        var conninfo: String
        var schema: String
        var stages: StageFactory

        /// A replay's rows go to tables of its own and to nobody's eyes.
        var isLive: Bool { schema == SchemaConnection.liveSchema }
        var tables: [StagedTable] { stages.tables + (isLive ? [LiveTripStore.table] : []) }

        /// Within the transaction that read where it stands.
        func own(
            _ log: PartitionLog, _ progress: PartitionProgress, _ rejected: RejectedLog, _ selection: VehicleSelection,
            on connection: Connection
        ) throws -> LanePartition {
            let rejects = RejectBuffer(rejected, storedOffset: progress.nextOffset)
            let ticks = PartitionTicks(progress)
            let stage = try stages.make(log, progress, selection, rejects, ticks, connection)
            return LanePartition(
                log, progress, of: selection, isLive: isLive, stage: stage, rejects: rejects, ticks: ticks)
        }
    }

    enum Job: Sendable {
        /// Loads partitions. The logs of the distrusted ones were replaced while they were read.
        case load([PartitionLog], distrusted: [TopicPartition], done: @Sendable (Result<Loaded, any Error>) -> Void)
        case write(Commit, done: @Sendable (Result<Commit.Outcome, any Error>) -> Void)
        /// The lane waits for it.
        case recall(LanePartition, done: @Sendable (Result<Void, any Error>) -> Void)
        case stop
    }

    struct Loaded: Sendable {
        var owned: [LanePartition] = []
        /// Partitions of topics that are not what they were.
        var refused: [TopicPartition: LanePartition.Fault] = [:]
    }

    private let settings: Settings
    private let loop: Loop
    private let log: Log
    private let jobs = Mailbox<Job>()
    private let thread = WorkerThread()
    private var connection: Connection?
    private var askedMs = -Committer.askPeriodMs

    /// A thread without work says so often that it is there.
    private static let turnMs: Int64 = 1_000
    /// How often it is asked which cars are looked at.
    private static let askPeriodMs: Int64 = 1_000

    init(_ settings: Settings, name: String, loop: Loop, log: Log) {
        (self.settings, self.loop, self.log) = (settings, loop, log)
        thread.start(name, loop: loop) { [self] _ in run() }
    }

    func put(_ job: Job) { jobs.put(job) }

    /// Ends the thread after the jobs that were put before.
    func stop() {
        jobs.put(.stop)
        thread.stop()
    }

    private func run() {
        while true {
            loop.turned()
            switch jobs.dequeue(timeoutMs: Committer.turnMs) {
            case nil: continue
            case .stop:
                connection = nil
                return
            case .load(let partitions, let distrusted, let done):
                let owned = loop.whileWaiting {
                    Result {
                        try connected { connection in
                            if !distrusted.isEmpty { try ProgressStore.distrust(distrusted, on: connection) }
                            return try load(partitions, on: connection)
                        }
                    }
                }
                done(owned)
            case .write(let commit, let done):
                let outcome = loop.whileWaiting { Result { try connected { try write(commit, on: $0) } } }
                done(outcome)
            case .recall(let partition, let done):
                let outcome = loop.whileWaiting {
                    Result {
                        try connected { connection in
                            try connection.transaction { try partition.stage.recall(on: connection) }
                        }
                    }
                }
                done(outcome)
            }
        }
    }

    private func write(_ commit: Commit, on connection: Connection) throws -> Commit.Outcome {
        var outcome = try commit.write(tables: settings.tables, schema: settings.schema, on: connection)
        if settings.isLive, Clock.steadyMs() - askedMs >= Committer.askPeriodMs {
            askedMs = Clock.steadyMs()
            // It is committed: a page that is not fresh is no reason to take that back.
            outcome.watched = try? LiveTripStore.watched(on: connection)
        }
        return outcome
    }

    /// After an error nothing is known of the session: the next job gets another one.
    private func connected<R>(_ body: (Connection) throws -> R) throws -> R {
        do {
            let connection =
                try self.connection
                ?? SchemaConnection.connectForWriting(settings.conninfo, schema: settings.schema)
            self.connection = connection
            return try body(connection)
        } catch {
            connection = nil
            if (error as? PostgresError)?.sqlState == PostgresError.lockNotAvailable { endStalledSessions() }
            throw error
        }
    }

    private func endStalledSessions() {
        do {
            let ended = try SchemaConnection.endStalledSessions(settings.conninfo)
            guard ended > 0 else { return }
            log.warning("ended sessions of a worker that stood still amid a commit", ["count": "\(ended)"])
        } catch { log.error("looking for sessions that stand still failed", ["error": "\(error)"]) }
    }

    /// The work itself cannot be done, and would fail again: the server refuses it, or a stored row is at fault, which is what is no
    /// error of the server's.
    static func isRefused(_ error: any Error) -> Bool { (error as? PostgresError)?.isRefusal ?? true }

    // MARK: Taking over

    private func load(_ all: [PartitionLog], on connection: Connection) throws -> Loaded {
        let refused = try ProgressStore.claim(all, isLive: settings.isLive, on: connection)
        let logs = all.filter { refused[$0.partition] == nil }
        let owned = try own(logs, on: connection)
        return Loaded(owned: owned, refused: refused.mapValues(LanePartition.Fault.topic))
    }

    private func own(_ logs: [PartitionLog], on connection: Connection) throws -> [LanePartition] {
        guard !logs.isEmpty else { return [] }
        return try connection.transaction {
            let firsts = Dictionary(uniqueKeysWithValues: logs.map { ($0.partition, $0.firstOffset) })
            let progress = try ProgressStore.load(firsts, on: connection)
            let rejected = try RejectedStore.load(progress.mapValues(\.nextOffset), on: connection)
            // After where they stand: who is set apart or comes back meanwhile makes the first commit fail.
            let apart = settings.isLive ? try QuarantineStore.vehicles(of: logs.map(\.partition), on: connection) : [:]
            return try logs.map { log in
                try settings.own(
                    log, progress[log.partition]!, rejected[log.partition]!,
                    VehicleSelection(allBut: apart[log.partition] ?? []), on: connection)
            }
        }
    }
}

/// The changes of a lane that are written in one transaction.
///
/// Made by the lane, then the committer's alone; with `resolving` the lane waits meanwhile.
final class Commit: @unchecked Sendable {
    struct Part {
        let step: ProgressStep
        let changes: StageChanges
        /// Nil: known when the partition is resolved.
        let rejected: RejectedLog.Changes?
    }

    struct Outcome: Sendable {
        let kept: Set<TopicPartition>
        let lost: Set<TopicPartition>
        let rows: Int
        let durationMs: Int64
        var refused = 0
        /// Vehicles that somebody looks at; nil: it was not asked this time.
        var watched: Set<String>?
    }

    private let parts: [Part]
    private let resolving: [LanePartition]
    let counts: RecordCounts

    /// Takes over what follows from the records that they took.
    init(of pending: [LanePartition], counts: RecordCounts) {
        self.counts = counts
        parts = pending.map { partition in
            Commit.Part(
                step: partition.handOver(), changes: partition.stage.changes(),
                // What reads back may reject more.
                rejected: partition.stage.needsHistory
                    ? nil : partition.rejects.drainChanges(nextOffset: partition.nextOffset))
        }
        resolving = pending.filter(\.stage.needsHistory)
    }

    var isResolving: Bool { !resolving.isEmpty }
    var steps: [ProgressStep] { parts.map(\.step) }

    var partitions: [TopicPartition] { parts.map(\.step.partition) }
    /// Where they stand when it is written.
    var places: [TopicPartition: PartitionProgress] {
        Dictionary(uniqueKeysWithValues: parts.map { ($0.step.partition, $0.step.to) })
    }

    func write(tables: [StagedTable], schema: String, on connection: Connection) throws -> Outcome {
        let startMs = Clock.steadyMs()
        return try connection.transaction {
            let kept = try ProgressStore.advance(steps, on: connection)
            return try write(kept, since: startMs, tables: tables, schema: schema, on: connection)
        }
    }

    /// Precondition: within the transaction that has moved the offsets of `kept`.
    func write(
        _ kept: Set<TopicPartition>, since startMs: Int64 = Clock.steadyMs(), tables: [StagedTable], schema: String,
        on connection: Connection
    ) throws -> Outcome {
        let ours = parts.filter { kept.contains($0.step.partition) }
        let resolving = self.resolving.filter { kept.contains($0.partition) }
        var rows = try StageStore.write(ours.map(\.changes), tables: tables, on: connection)
        var told = Told(ours.map(\.changes))
        var waiting = resolving
        while !waiting.isEmpty {
            let now = try waiting.map { try $0.stage.resolve(nextOffset: $0.nextOffset, on: connection) }
            rows += try StageStore.write(now, tables: tables, on: connection)
            told.add(now)
            waiting.removeAll { !$0.stage.hasMore }
        }
        for each in resolving {
            told.outbox += try each.stage.conclude(nextOffset: each.nextOffset, on: connection)
        }
        let late = Dictionary(
            uniqueKeysWithValues: resolving.map { owned in
                (owned.partition, owned.rejects.drainChanges(nextOffset: owned.nextOffset))
            })
        let rejected = ours.compactMap { part in
            (part.rejected ?? late[part.step.partition]).map { (part.step.partition, $0) }
        }
        try RejectedStore.write(rejected, on: connection)
        let records = RejectedStore.outbox(rejected) + told.outbox
        if schema == SchemaConnection.liveSchema {
            try OutboxStore.write(records, on: connection)
            try NoticeStore.write(records.compactMap(\.notice), on: connection)
            try ForwardStore.write(told.versions, on: connection)
            try OutboxStore.writeEvents(records, on: connection)
        } else {
            // A replay tells nobody: it keeps what it would tell, for `drover verify`.
            try OutboxStore.keep(records, on: connection)
            try NoticeStore.write(records.compactMap(\.notice), schema: schema, on: connection)
        }
        return Outcome(
            kept: kept, lost: Set(partitions).subtracting(kept), rows: rows,
            durationMs: Clock.steadyMs() - startMs, refused: told.refused)
    }

    /// The part of the changes that is still needed when they are written.
    private struct Told {
        var outbox: [OutboxRecord] = []
        var versions: [StoredVersion] = []
        var refused = 0

        init(_ changes: [StageChanges]) { add(changes) }

        mutating func add(_ changes: [StageChanges]) {
            outbox += changes.flatMap(\.outbox)
            versions += changes.flatMap(\.versions)
            refused += changes.reduce(0) { $0 + $1.refused }
        }
    }
}
