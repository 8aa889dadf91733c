package import Alerts
internal import Codecs
internal import Fleet
package import Kafka
internal import Storage
package import Telemetry
internal import Threads
package import Trips

/// What a worker is made of.
package struct WorkerSettings {
    package var kafka: KafkaSettings
    package var group: String
    /// Static member id; nil: dynamic membership.
    package var instanceID: String?
    package var conninfo: String
    package var lanes: Int
    package var batchMax: Int
    package var commitIntervalMs: Int64
    package var tripRules: TripRules
    package var alertRules: RuleSet
    package var topics: [String]
    package var sessionTimeoutMs: Int64
    /// So many vehicles of a partition may be set apart; 0: none.
    package var quarantineMax = 16
    package var kept: (cars: KeptSpan, machines: KeptSpan) = (KeptSpan(days: nil), KeptSpan(days: nil))
    /// Told of the group's assignment whenever it changes, on the worker's thread.
    package var onAssignment: ([TopicPartition]) -> Void = { _ in }
    /// Where the results go, and by what they are made; nil: by the product's cars and machines.
    package var schema = Store.liveSchema
    package var stages: StageFactory?

    package init(
        kafka: KafkaSettings, group: String, instanceID: String?, sessionTimeoutMs: Int64, conninfo: String, lanes: Int,
        batchMax: Int, commitIntervalMs: Int64, tripRules: TripRules, alertRules: RuleSet, topics: [String]
    ) {
        (self.kafka, self.group, self.instanceID, self.conninfo) = (kafka, group, instanceID, conninfo)
        self.sessionTimeoutMs = sessionTimeoutMs
        (self.lanes, self.batchMax, self.commitIntervalMs) = (lanes, batchMax, commitIntervalMs)
        (self.tripRules, self.alertRules, self.topics) = (tripRules, alertRules, topics)
    }
}

/// Reads the topics on one thread, spreads their partitions over the lanes, and keeps to what the consumer group says. It
/// never gives up: what the database or the broker refuses is said and tried again, from the offsets that the database
/// holds.
package final class Worker {
    /// How long until a partition that failed is loaded again, doubled up to the last.
    private static let backOffMs: ClosedRange<Int64> = 250...10_000
    /// A partition that another worker wrote is left alone for this long: by then the group has told who owns it.
    private static let lostMs: Int64 = 5_000
    /// How often a log that does not fit our offset is looked at again: a person may have reset it.
    private static let brokenMs: Int64 = 10_000

    /// How often it is looked for who makes a partition fail.
    private static let searchMs: Int64 = 60_000
    /// How long partitions are loaded one by one after some could not be loaded together.
    private static let apartMs: Int64 = 300_000

    /// By then a lane has let go of a partition, and its last commit is done.
    private static let distrustMs: Int64 = 1_000

    /// How often others are told where it stands.
    private static let standingMs: Int64 = 200
    /// How long an answer of the broker is waited for: the poll, and a stop, wait with it.
    private static let brokerMs: Int32 = 3_000

    private enum Event: Sendable {
        case report(lane: Int, Lane.Report)
        case found(LogWatch.Finding)
        case loaded(lane: Int, [TopicPartition], Result<Committer.Loaded, any Error>)
        case searched(TopicPartition, Result<QuarantineSearch.Outcome, any Error>)
    }

    private enum Place: Equatable {
        case loading(lane: Int)
        case reading(lane: Int)
        /// It is looked for who makes it fail.
        case searching
        /// To be loaded again at this time by the steady clock.
        case waiting(untilMs: Int64)
    }

    private let settings: WorkerSettings
    private let log: Log
    private let metrics: WorkerMetrics
    private let consumer: Consumer
    private let lanes: [Lane]
    private let plan: LanePlan
    private let events: Mailbox<Event>
    /// Whose log was replaced while it was read. Marked as such when they are loaded again.
    private var distrusted: Set<TopicPartition> = []
    private let publisher: RulesPublisher
    private let watch: LogWatch
    /// The group's assignment.
    private var places: [TopicPartition: Place] = [:]
    private var backOff = BackOff(Worker.backOffMs)
    private var faults: [TopicPartition: OwnedPartition.Fault] = [:]
    private var loadApartUntilMs = Int64.min
    private let search: QuarantineSearch?
    private var searchUnderWay: WorkerThread?
    private var searchedMs: [TopicPartition: Int64] = [:]
    /// When partitions were loaded last.
    private var setApart: [TopicPartition: Set<VehicleID>] = [:]
    private var isPaused: [Bool]
    private var lagOffsets: [TopicPartition: Int64] = [:]
    private var lagCommitMs: Int64 = 0

    private let loop: Loop
    private let standing: WorkerStanding
    /// The group has answered.
    private var isMember = false
    private var standingMs: Int64 = 0
    /// The offsets after what is written, of partitions that are read.
    private var written: [TopicPartition: Int64] = [:]

    private var assignedMs: Int64 = 0
    /// Every partition of the assignment is being read, and how long it took to get there.
    package private(set) var isReading = false
    package private(set) var takeoverMs: Int64 = 0

    package init(_ settings: WorkerSettings, metrics: Metrics, health: Health = Health(), log: Log) throws {
        (self.settings, self.log) = (settings, log)
        loop = health.loop("poll")
        let standing = WorkerStanding()
        self.standing = standing
        health.check("partitions") { standing.finding }
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
        watch = LogWatch(settings.kafka, group: settings.group, log: log) { events.put(.found($0)) }
        do { try consumer.subscribe(settings.topics) } catch {
            watch.stop()
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
                for change in consumer.takeChanges() { handle(change) }
                while let event = events.take(timeoutMs: 0) { handle(event) }
                loadWhatIsDue()
                commitForLagTools()
                tellStanding()
            } catch {
                metrics.failures.add()
                log.error("reading from the broker failed", ["error": "\(error)", "retry_in_ms": "\(backOff.ms)"])
                _ = StopFlag.wait(timeoutMs: Int(backOff.ms))
                backOff.lengthen()
            }
        }
        loop.ended()
        standing.set { $0.isMember = false }
        searchUnderWay?.stop()
        for lane in lanes { lane.stop() }
        watch.stop()
        log.info("worker stopped", ["records": "\(metrics.records.value)"])
    }

    // MARK: Records

    private func poll() throws {
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
    private func flow(_ number: Int) throws {
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

    private func partitions(of lane: Int) -> [TopicPartition] {
        places.filter { $0.value == .reading(lane: lane) }.map(\.key)
    }

    // MARK: Partitions

    private func handle(_ change: AssignmentChange) {
        switch change {
        case .assigned(let partitions):
            isMember = true
            log.info("partitions assigned", ["count": "\(partitions.count)"])
            if partitions.isEmpty { said("answering the group") { try consumer.add([:]) } }
            assignedMs = Clock.steadyMs()
            isReading = false
            for partition in partitions {
                drop(partition)
                places[partition] = .waiting(untilMs: 0)
            }
        case .revoked(let partitions):
            log.info("partitions revoked", ["count": "\(partitions.count)"])
            for partition in partitions { drop(partition) }
        case .outOfRange(let partition):
            isOutOfRange(partition)
            return
        }
        settings.onAssignment(Array(places.keys))
    }

    private func drop(_ partition: TopicPartition) {
        if case .reading(let lane)? = places.removeValue(forKey: partition) { lanes[lane].put(.release([partition])) }
        watch.set(nil, of: partition)
        faults[partition] = nil
        lagOffsets[partition] = nil
        written[partition] = nil
        setApart[partition] = nil
    }

    /// Partitions whose brokers do not answer wait, and the others with them for one turn of the loop, no longer.
    private func load(_ partitions: [TopicPartition]) {
        var byLane: [Int: [PartitionLog]] = [:]
        do {
            for log in try consumer.logs(of: partitions, ends: [Topic.dispatch], timeoutMs: Worker.brokerMs).values {
                let lane = plan.lanes(for: log.partition.topic).min { load(of: $0) < load(of: $1) }!
                places[log.partition] = .loading(lane: lane)
                byLane[lane, default: []].append(log)
            }
            let silent = partitions.filter { if case .waiting? = places[$0] { true } else { false } }
            failed(silent, "no broker says where their logs begin")
        } catch {
            failed(partitions, "\(error)")
        }
        let isApart = Clock.steadyMs() < loadApartUntilMs
        for (lane, logs) in byLane.flatMap({ lane, logs in isApart ? logs.map { (lane, [$0]) } : [(lane, logs)] }) {
            let events = events
            let others = logs.map(\.partition).filter(distrusted.contains)
            lanes[lane].committer.put(
                .load(logs, distrusted: others) { events.put(.loaded(lane: lane, logs.map(\.partition), $0)) })
        }
    }

    private func load(of lane: Int) -> Int {
        places.values.count { $0 == .loading(lane: lane) || $0 == .reading(lane: lane) }
    }

    private func loadWhatIsDue() {
        let nowMs = Clock.steadyMs()
        let due = places.filter { if case .waiting(let untilMs) = $0.value { untilMs <= nowMs } else { false } }
        guard !due.isEmpty, !consumer.isAssignmentLost else { return }
        load(Array(due.keys))
    }

    private func handle(_ event: Event) {
        switch event {
        case .loaded(let lane, let partitions, .success(let loaded)):
            distrusted.subtract(partitions)
            begin(loaded.owned.filter { places[$0.partition] == .loading(lane: lane) }, on: lane)
            for (partition, fault) in loaded.refused where places[partition] == .loading(lane: lane) {
                leaveAlone(partition, fault)
            }
            for (partition, fault) in loaded.refused {
                if case .topic(let mismatch) = fault { changed(partition.topic, mismatch) }
            }
            for partition in partitions where places[partition] == .loading(lane: lane) {
                places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.brokenMs)
            }
        case .loaded(let lane, let partitions, .failure(let error)):
            let failing = partitions.filter { places[$0] == .loading(lane: lane) }
            guard Committer.isRefused(error) else { return failed(failing, "\(error)") }
            loadApartUntilMs = Clock.steadyMs() + Worker.apartMs
            guard let alone = failing.first, partitions.count == 1 else { return failed(failing, "\(error)") }
            metrics.failures.add()
            // Of its records none was taken.
            cannotWrite(alone, "\(error)", before: 0)
        case .searched(let partition, let result): handle(partition, result)
        case .report(_, .committed(let committed)):
            backOff.reset()
            for (partition, place) in committed {
                faults[partition] = nil
                if let hash = place.lastRecordHash, hash != 0, case .reading? = places[partition] {
                    watch.set(LogWatch.Mark(offset: place.nextOffset - 1, fingerprint: hash), of: partition)
                }
            }
            let ours = committed.filter { places[$0.key] != nil }.mapValues(\.nextOffset)
            lagOffsets.merge(ours) { $1 }
            written.merge(ours) { $1 }
        case .found(.changed(let topic, let mismatch)): changed(topic, mismatch)
        case .found(.replaced(let partition, let offset)):
            guard case .reading(let lane)? = places[partition] else { return }
            for partition in giveUp([partition], of: lane) {
                leaveAlone(partition, .replaced(atOffset: offset))
                distrusted.insert(partition)
                places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.distrustMs)
            }
        case .report(let lane, .lost(let lost)):
            for partition in giveUp(lost, of: lane) {
                places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.lostMs)
                log.warning(
                    "another worker owns this partition; nothing of it was written here",
                    ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
            }
        case .report(let lane, .failed(let partitions, let reason)): failed(giveUp(partitions, of: lane), reason)
        case .report(let lane, .broken(let partition, let fault)):
            for partition in giveUp([partition], of: lane) {
                if case .unwritable(let reason, let end) = fault {
                    cannotWrite(partition, reason, before: end)
                } else {
                    leaveAlone(partition, fault)
                }
            }
        }
    }

    /// Stops reading what this lane really has: a report may be older than the partition's place. The lane forgets them,
    /// also where it had begun them anew since it reported. The caller says when they are loaded again.
    private func giveUp(_ partitions: some Sequence<TopicPartition>, of lane: Int) -> [TopicPartition] {
        let reading = partitions.filter { places[$0] == .reading(lane: lane) }
        lanes[lane].put(.release(reading))
        for partition in reading { watch.set(nil, of: partition) }
        said("stopping to read") { try consumer.remove(reading) }
        return reading
    }

    /// Says what failed; nothing hangs on it.
    private func said(_ doing: String, _ body: () throws -> Void) {
        do { try body() } catch {
            metrics.failures.add()
            log.error("\(doing) failed", ["error": "\(error)"])
        }
    }

    private func failed(_ partitions: [TopicPartition], _ reason: String) {
        guard !partitions.isEmpty else { return }
        metrics.failures.add()
        log.error(
            "the partitions have to start again from the stored offsets",
            ["error": "\(reason)", "partitions": "\(partitions.count)", "retry_in_ms": "\(backOff.ms)"])
        for partition in partitions { places[partition] = .waiting(untilMs: Clock.steadyMs() + backOff.ms) }
        backOff.lengthen()
    }

    private func begin(_ partitions: [OwnedPartition], on lane: Int) {
        var offsets: [TopicPartition: Int64] = [:]
        var begun: [OwnedPartition] = []
        do {
            for owned in partitions {
                guard owned.replayOffset >= owned.firstOffset else {
                    leaveAlone(owned.partition, .beginsAfter(neededOffset: owned.replayOffset))
                    continue
                }
                offsets[owned.partition] = max(owned.firstOffset, owned.startOffset)
                begun.append(owned)
            }
            try consumer.add(offsets)
        } catch {
            failed(partitions.map(\.partition).filter { places[$0] == .loading(lane: lane) }, "\(error)")
            return
        }
        // Nothing is polled before this returns: the lane has them before their first record.
        lanes[lane].put(.own(begun))
        for owned in begun {
            places[owned.partition] = .reading(lane: lane)
            written[owned.partition] = owned.startOffset
            watch.set(owned.identity, of: owned.partition.topic)
            setApart[owned.partition] = owned.selection.vehicles
        }
        // A pause of an earlier owner's may still hold.
        said("pausing or resuming") {
            if isPaused[lane] {
                try consumer.pause(begun.map(\.partition))
            } else {
                try consumer.resume(begun.map(\.partition))
            }
        }
        isReading = places.values.allSatisfy { if case .reading = $0 { true } else { false } }
        if isReading { takeoverMs = Clock.steadyMs() - assignedMs }
        for owned in begun where owned.needsRules {
            loop.turned()
            publisher.publishFirst(settings.alertRules, to: owned.partition, log: log)
        }
        for owned in begun {
            guard let rules = owned.unnotedTripRules else { continue }
            loop.turned()
            publisher.publishFirst(rules, to: owned.partition, log: log)
        }
    }

    // MARK: Vehicles that cannot be written

    private func cannotWrite(_ partition: TopicPartition, _ reason: String, before end: Int64) {
        let fault = OwnedPartition.Fault.unwritable(reason, before: end)
        guard let search, QuarantineSearch.topics.contains(partition.topic),
            Clock.steadyMs() - (searchedMs[partition] ?? -Worker.searchMs) >= Worker.searchMs
        else {
            // Till then what was found holds.
            if case .tooMany? = faults[partition] { return leaveAlone(partition, faults[partition]!) }
            return leaveAlone(partition, fault)
        }
        guard searchUnderWay == nil else {
            places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.distrustMs)
            return
        }
        places[partition] = .searching
        log.warning(
            "the database refuses what follows from a partition's records: looking for whose",
            ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "reason": "\(reason)"])
        let events = events
        // The others are read meanwhile.
        let thread = WorkerThread()
        thread.start("quarantine") { thread in
            let found = Result { try search.run(partition, before: end) { thread.isStopping } }
            events.put(.searched(partition, found))
        }
        searchUnderWay = thread
    }

    private func handle(_ partition: TopicPartition, _ found: Result<QuarantineSearch.Outcome, any Error>) {
        searchUnderWay = nil
        if case .success(.setApart(let vehicles)) = found {
            for (vehicle, reason) in vehicles {
                log.error(
                    "this vehicle is set apart, the others of its partition go on. See `drover quarantine list`",
                    [
                        "vehicle": "\(vehicle)", "topic": "\(partition.topic)",
                        "partition": "\(partition.partition)", "reason": "\(reason)",
                    ])
            }
        }
        // It is somebody else's by now: so is what to do about it.
        guard places[partition] == .searching else { return }
        places[partition] = .waiting(untilMs: 0)
        switch found {
        // Where it fails the same, whoever is left out, looking again would not help.
        case .success(.nothing): searchedMs[partition] = Clock.steadyMs()
        case .success(.setApart): break
        case .success(.fault(let fault)):
            searchedMs[partition] = Clock.steadyMs()
            leaveAlone(partition, fault)
        case .failure(let error):
            metrics.failures.add()
            log.error("looking for the vehicle failed", ["error": "\(error)", "topic": "\(partition.topic)"])
            places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.brokenMs)
        }
    }

    // MARK: Logs that do not fit

    private func isOutOfRange(_ partition: TopicPartition) {
        guard case .reading(let lane)? = places[partition] else { return }
        _ = giveUp([partition], of: lane)
        let ends = try? consumer.watermarks(of: partition, timeoutMs: Worker.brokerMs)
        leaveAlone(partition, .outOfRange(ends: ends.map { $0.low..<max($0.low, $0.high) }))
    }

    /// Partitions were added to a live topic, or it was made anew: what is read from here on is not what was read before.
    private func changed(_ topic: String, _ mismatch: TopicMismatch) {
        watch.set(nil, of: topic)
        for (lane, partitions) in reading(of: topic) {
            for partition in giveUp(partitions, of: lane) { leaveAlone(partition, .topic(mismatch)) }
        }
    }

    private func reading(of topic: String) -> [Int: [TopicPartition]] {
        var partitions: [Int: [TopicPartition]] = [:]
        for case (let partition, .reading(let lane)) in places where partition.topic == topic {
            partitions[lane, default: []].append(partition)
        }
        return partitions
    }

    /// Skipping by ourselves would hide what is lost; a person decides.
    private func leaveAlone(_ partition: TopicPartition, _ fault: OwnedPartition.Fault) {
        places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.brokenMs)
        guard faults[partition]?.what != fault.what else { return }
        faults[partition] = fault
        log.error(
            "this partition is left alone, and nothing of it is skipped. See `drover offsets show`",
            [
                "topic": "\(partition.topic)", "partition": "\(partition.partition)", "reason": "\(fault.what)",
                "detail": "\(fault.detail)", "remedy": "\(fault.remedy)",
            ])
    }

    // MARK: What others are told

    private func tellStanding() {
        guard Clock.steadyMs() - standingMs >= Worker.standingMs else { return }
        standingMs = Clock.steadyMs()
        let reading = places.filter { if case .reading = $0.value { true } else { false } }.map(\.key)
        standing.set { state in
            (state.isMember, state.assigned, state.reading) = (isMember, places.count, reading.count)
            state.isLost = consumer.isAssignmentLost
            state.quarantined = setApart.flatMap { partition, vehicles in
                vehicles.map { "\($0) (\(partition.topic))" }
            }.sorted()
            state.left = Set(faults.map { "\($0.key.topic): \($0.value.what)" }).sorted()
        }
        metrics.partitions.set(reading.count)
        for topic in settings.topics where QuarantineSearch.topics.contains(topic) {
            metrics.quarantined[topic].set(setApart.reduce(0) { $0 + ($1.key.topic == topic ? $1.value.count : 0) })
        }
        var lags = Dictionary(uniqueKeysWithValues: settings.topics.map { ($0, Int64(0)) })
        for partition in reading {
            guard let written = written[partition], let end = consumer.knownEnd(of: partition) else { continue }
            lags[partition.topic, default: 0] += max(0, end - written)
        }
        for (topic, lag) in lags { metrics.lag[topic].set(lag) }
    }

    private func commitForLagTools() {
        guard !lagOffsets.isEmpty, Clock.steadyMs() - lagCommitMs >= 1_000 else { return }
        lagCommitMs = Clock.steadyMs()
        consumer.commitForLagTools(lagOffsets)
        lagOffsets.removeAll()
    }
}
