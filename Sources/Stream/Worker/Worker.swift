internal import Fleet
internal import Kafka
internal import Storage
package import Telemetry
internal import Threads

/// Reads the topics on one thread, spreads their partitions over the lanes, and keeps to what the consumer group says. It
/// never gives up: what the database or the broker refuses is said and tried again, from the offsets that the database
/// holds.
package final class Worker {
    /// How long until a partition that failed is loaded again, doubled up to the last.
    static let backOffMs: ClosedRange<Int64> = 250...10_000
    /// A partition that another worker wrote is left alone for this long: by then the group has told who owns it.
    static let lostMs: Int64 = 5_000
    /// How often a log that does not fit our offset is looked at again: a person may have reset it.
    static let brokenMs: Int64 = 10_000

    /// How often it is looked for who makes a partition fail.
    static let searchMs: Int64 = 60_000
    /// How long partitions are loaded one by one after some could not be loaded together.
    static let apartMs: Int64 = 300_000

    /// By then a lane has let go of a partition, and its last commit is done.
    static let distrustMs: Int64 = 1_000

    /// How often others are told where it stands.
    static let standingMs: Int64 = 200
    /// How long an answer of the broker is waited for: the poll, and a stop, wait with it.
    static let brokerMs: Int32 = 3_000

    enum Event: Sendable {
        case report(lane: Int, Lane.Report)
        case found(LogMonitor.Finding)
        case loaded(lane: Int, [TopicPartition], Result<Committer.Loaded, any Error>)
        case searched(TopicPartition, Result<QuarantineSearch.Outcome, any Error>)
    }

    enum Place: Equatable {
        case loading(lane: Int)
        case reading(lane: Int)
        /// It is looked for who makes it fail.
        case searching
        /// To be loaded again at this time by the steady clock.
        case waiting(untilMs: Int64)
    }

    let settings: WorkerSettings
    let log: Log
    let metrics: WorkerMetrics
    let consumer: Consumer
    let lanes: [Lane]
    let plan: LanePlan
    let events: Mailbox<Event>
    /// Partitions whose log was replaced while it was read. Marked as such when they are loaded again.
    var distrusted: Set<TopicPartition> = []
    let publisher: RulesPublisher
    let logMonitor: LogMonitor
    /// The group's assignment.
    var places: [TopicPartition: Place] = [:]
    var backOff = BackOff(Worker.backOffMs)
    var faults: [TopicPartition: LanePartition.Fault] = [:]
    var loadApartUntilMs = Int64.min
    let search: QuarantineSearch?
    var searchUnderWay: WorkerThread?
    var searchedMs: [TopicPartition: Int64] = [:]
    /// The vehicles that were set apart when a partition was loaded last.
    var setApart: [TopicPartition: Set<VehicleID>] = [:]
    var isPaused: [Bool]
    var lagOffsets: [TopicPartition: Int64] = [:]
    var lagCommitMs: Int64 = 0

    let loop: Loop
    let readiness: WorkerReadiness
    /// The group has answered.
    var isMember = false
    var standingMs: Int64 = 0
    /// The offsets after what is written, of partitions that are read.
    var written: [TopicPartition: Int64] = [:]

    var assignedMs: Int64 = 0
    /// Every partition of the assignment is being read, and how long it took to get there.
    package internal(set) var isReading = false
    package internal(set) var takeoverMs: Int64 = 0

    package init(_ settings: WorkerSettings, metrics: Metrics, health: Health = Health(), log: Log) throws {
        (self.settings, self.log) = (settings, log)
        loop = health.loop("poll")
        let readiness = WorkerReadiness()
        self.readiness = readiness
        health.check("partitions") { readiness.finding }
        let figures = WorkerMetrics(metrics, topics: settings.topics)
        self.metrics = figures
        consumer = try Consumer(
            settings.kafka, group: settings.group, instanceID: settings.instanceID,
            sessionTimeoutMs: settings.sessionTimeoutMs, batchMax: settings.batchMax)
        publisher = RulesPublisher(settings.kafka)
        let database = Committer.Settings(
            conninfo: settings.conninfo, schema: settings.schema,
            stages: settings.stages ?? .product(settings.tripRules, kept: settings.kept, isReplay: false, log: log))
        search =
            settings.quarantineMax > 0 && database.isLive
            ? QuarantineSearch(
                kafka: settings.kafka, database: database, batchMax: settings.batchMax, most: settings.quarantineMax)
            : nil
        let events = Mailbox<Event>()
        self.events = events
        let plan = LanePlan(topics: settings.topics, lanes: settings.lanes)
        self.plan = plan
        lanes = (0..<plan.count).map { number in
            let intervalMs = plan.commitIntervalMs(number, standard: settings.commitIntervalMs)
            return Lane(
                number, database, commitIntervalMs: intervalMs, recordsAtOnce: plan.recordsAtOnce(number),
                metrics: figures, health: health, log: log
            ) {
                events.put(.report(lane: number, $0))
            }
        }
        isPaused = lanes.map { _ in false }
        logMonitor = LogMonitor(settings.kafka, group: settings.group, log: log) { events.put(.found($0)) }
        do { try consumer.subscribe(settings.topics) } catch {
            logMonitor.stop()
            throw error
        }
    }

    /// Returns when `shouldStop` says so. What is not committed then is read again by the next worker.
    package func run(shouldStop: () -> Bool) {
        log.info(
            "worker started",
            [
                "topics": "\(settings.topics.joined(separator: ","))", "group": "\(settings.group)",
                "lanes": "\(lanes.count)",
            ])
        while !loop.asking(shouldStop) {
            if let reason = consumer.fatalError {
                log.error("this member of the group is ended for good; the worker starts anew", ["error": "\(reason)"])
                _ = StopFlag.wait(timeoutMs: Int(Worker.lostMs))
                break
            }
            if consumer.isOutdated, !consumer.isJoining {
                // Joins again, as after a restart: with a static id nobody else moves.
                log.info("certificates or passwords of the brokers were renewed; the worker joins again with them")
                break
            }
            do {
                try poll()
                // None of these throws: a change or event that is taken must be carried out whole.
                for change in consumer.drainChanges() { handle(change) }
                while let event = events.dequeue(timeoutMs: 0) { handle(event) }
                loadWhatIsDue()
                commitForLagTools()
                reportReadiness()
            } catch {
                metrics.failures.add()
                log.error("reading from the broker failed", ["error": "\(error)", "retry_in_ms": "\(backOff.ms)"])
                _ = StopFlag.wait(timeoutMs: Int(backOff.ms))
                backOff.lengthen()
            }
        }
        loop.ended()
        readiness.set { $0.isMember = false }
        searchUnderWay?.stop()
        for lane in lanes { lane.stop() }
        logMonitor.stop()
        log.info("worker stopped", ["records": "\(metrics.records.value)"])
    }

    // MARK: Records

    func poll() throws {
        let hasWork = places.values.contains { if case .loading = $0 { true } else { false } }
        let wait = Int32(min(settings.commitIntervalMs, hasWork ? 5 : 50))
        let batches = try consumer.poll(timeoutMs: wait, into: lanes.count + 1) { partition in
            if case .reading(let lane)? = places[partition] { return lane }
            // Of a partition just given up: nobody's.
            return lanes.count
        }
        for (number, lane) in lanes.enumerated() where batches[number].count > 0 { lane.put(batches[number]) }
        for number in lanes.indices { try flow(number) }
    }

    /// Back-pressure: a lane that has enough is waited for a moment, then its partitions are paused, so that the poll
    /// goes on for the group and the other lanes.
    func flow(_ number: Int) throws {
        let lane = lanes[number]
        let most = 2 * settings.batchMax
        if isPaused[number] {
            guard lane.waiting <= settings.batchMax / 2 else { return }
            try consumer.resume(partitions(of: number))
            isPaused[number] = false
        } else if lane.waiting > most, !lane.waitUntil(atMost: most, timeoutMs: 50) {
            try consumer.pause(partitions(of: number))
            isPaused[number] = true
            log.debug("lane paused", ["lane": "\(number)", "waiting": "\(lane.waiting)"])
        }
    }

    func partitions(of lane: Int) -> [TopicPartition] {
        places.filter { $0.value == .reading(lane: lane) }.map(\.key)
    }
}
