internal import Kafka
internal import Telemetry
internal import Threads

/// Vehicles that cannot be written.
extension Worker {
    func cannotWrite(_ partition: TopicPartition, _ reason: String, before end: Int64) {
        let fault = LanePartition.Fault.unwritable(reason, before: end)
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

    func handle(_ partition: TopicPartition, _ found: Result<QuarantineSearch.Outcome, any Error>) {
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
}
