internal import Kafka
internal import Telemetry

/// Figures for others: where the worker stands, and how far it lags.
extension Worker {
    func reportReadiness() {
        guard Clock.steadyMs() - standingMs >= Worker.standingMs else { return }
        standingMs = Clock.steadyMs()
        let reading = places.filter { if case .reading = $0.value { true } else { false } }.map(\.key)
        readiness.set { state in
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

    func commitForLagTools() {
        guard !lagOffsets.isEmpty, Clock.steadyMs() - lagCommitMs >= 1_000 else { return }
        lagCommitMs = Clock.steadyMs()
        consumer.commitForLagTools(lagOffsets)
        lagOffsets.removeAll()
    }
}
