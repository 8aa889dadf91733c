internal import Kafka
internal import Pipeline
internal import Storage
internal import Telemetry
internal import Threads

/// Partitions that the group gives and takes, and the lanes that they go to.
extension Worker {
    func handle(_ change: AssignmentChange) {
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

    func drop(_ partition: TopicPartition) {
        if case .reading(let lane)? = places.removeValue(forKey: partition) { lanes[lane].put(.release([partition])) }
        logMonitor.set(nil, of: partition)
        faults[partition] = nil
        lagOffsets[partition] = nil
        written[partition] = nil
        setApart[partition] = nil
    }

    /// Partitions whose brokers do not answer wait, and the others with them for one turn of the loop, no longer.
    func load(_ partitions: [TopicPartition]) {
        var byLane: [Int: [PartitionLog]] = [:]
        do {
            for log in try consumer.logs(of: partitions, ends: [RecordStage.campuses.topic], timeoutMs: Worker.brokerMs)
                .values
            {
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

    func load(of lane: Int) -> Int {
        places.values.count { $0 == .loading(lane: lane) || $0 == .reading(lane: lane) }
    }

    func loadWhatIsDue() {
        let nowMs = Clock.steadyMs()
        let due = places.filter { if case .waiting(let untilMs) = $0.value { untilMs <= nowMs } else { false } }
        guard !due.isEmpty, !consumer.isAssignmentLost else { return }
        load(Array(due.keys))
    }

    func begin(_ partitions: [LanePartition], on lane: Int) {
        var offsets: [TopicPartition: Int64] = [:]
        var begun: [LanePartition] = []
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
            logMonitor.set(owned.identity, of: owned.partition.topic)
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
}
