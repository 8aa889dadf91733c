internal import Kafka
internal import Storage
internal import Telemetry
internal import Threads

/// Events from lanes, committers and the watch of the logs.
extension Worker {
    func handle(_ event: Event) {
        switch event {
        case .loaded(let lane, let partitions, .success(let loaded)): self.loaded(partitions, loaded, lane)
        case .loaded(let lane, let partitions, .failure(let error)): notLoaded(partitions, error, lane)
        case .searched(let partition, let result): handle(partition, result)
        case .found(.changed(let topic, let mismatch)): changed(topic, mismatch)
        case .found(.replaced(let partition, let offset)): replaced(partition, atOffset: offset)
        case .report(let lane, let report): handle(report, of: lane)
        }
    }

    private func handle(_ report: Lane.Report, of lane: Int) {
        switch report {
        case .committed(let places): committed(places)
        case .lost(let partitions): lost(partitions, lane)
        case .failed(let partitions, let reason): failed(giveUp(partitions, of: lane), reason)
        case .broken(let partition, let fault):
            for partition in giveUp([partition], of: lane) {
                if case .unwritable(let reason, let end) = fault {
                    cannotWrite(partition, reason, before: end)
                } else {
                    leaveAlone(partition, fault)
                }
            }
        }
    }

    private func loaded(_ partitions: [TopicPartition], _ loaded: Committer.Loaded, _ lane: Int) {
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
    }

    private func notLoaded(_ partitions: [TopicPartition], _ error: any Error, _ lane: Int) {
        let failing = partitions.filter { places[$0] == .loading(lane: lane) }
        guard Committer.isRefused(error) else { return failed(failing, "\(error)") }
        loadApartUntilMs = Clock.steadyMs() + Worker.apartMs
        guard let alone = failing.first, partitions.count == 1 else { return failed(failing, "\(error)") }
        metrics.failures.add()
        // Of its records none was taken.
        cannotWrite(alone, "\(error)", before: 0)
    }

    private func committed(_ committed: [TopicPartition: PartitionProgress]) {
        backOff.reset()
        for (partition, place) in committed {
            faults[partition] = nil
            if let hash = place.lastRecordHash, hash != 0, case .reading? = places[partition] {
                logMonitor.set(LogMonitor.Mark(offset: place.nextOffset - 1, fingerprint: hash), of: partition)
            }
        }
        let ours = committed.filter { places[$0.key] != nil }.mapValues(\.nextOffset)
        lagOffsets.merge(ours) { $1 }
        written.merge(ours) { $1 }
    }

    private func lost(_ partitions: Set<TopicPartition>, _ lane: Int) {
        for partition in giveUp(partitions, of: lane) {
            places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.lostMs)
            log.warning(
                "another worker owns this partition; nothing of it was written here",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
        }
    }

    /// Stops reading what this lane really has: a report may be older than the partition's place. The lane forgets them,
    /// also where it had begun them anew since it reported. The caller says when they are loaded again.
    func giveUp(_ partitions: some Sequence<TopicPartition>, of lane: Int) -> [TopicPartition] {
        let reading = partitions.filter { places[$0] == .reading(lane: lane) }
        lanes[lane].put(.release(reading))
        for partition in reading { logMonitor.set(nil, of: partition) }
        said("stopping to read") { try consumer.remove(reading) }
        return reading
    }

    /// Says what failed; nothing hangs on it.
    func said(_ doing: String, _ body: () throws -> Void) {
        do { try body() } catch {
            metrics.failures.add()
            log.error("\(doing) failed", ["error": "\(error)"])
        }
    }

    func failed(_ partitions: [TopicPartition], _ reason: String) {
        guard !partitions.isEmpty else { return }
        metrics.failures.add()
        log.error(
            "the partitions have to start again from the stored offsets",
            ["error": "\(reason)", "partitions": "\(partitions.count)", "retry_in_ms": "\(backOff.ms)"])
        for partition in partitions { places[partition] = .waiting(untilMs: Clock.steadyMs() + backOff.ms) }
        backOff.lengthen()
    }
}
