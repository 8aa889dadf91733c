internal import Kafka
internal import Storage
internal import Telemetry

/// Logs that do not fit what was read of them.
extension Worker {
    /// Its log has another record there than was read.
    func replaced(_ partition: TopicPartition, atOffset offset: Int64) {
        guard case .reading(let lane)? = places[partition] else { return }
        for partition in giveUp([partition], of: lane) {
            leaveAlone(partition, .replaced(atOffset: offset))
            distrusted.insert(partition)
            places[partition] = .waiting(untilMs: Clock.steadyMs() + Worker.distrustMs)
        }
    }

    func isOutOfRange(_ partition: TopicPartition) {
        guard case .reading(let lane)? = places[partition] else { return }
        _ = giveUp([partition], of: lane)
        let ends = try? consumer.watermarks(of: partition, timeoutMs: Worker.brokerMs)
        leaveAlone(partition, .outOfRange(ends: ends.map { $0.low..<max($0.low, $0.high) }))
    }

    /// Partitions were added to a live topic, or it was made anew: what is read from here on is not what was read before.
    func changed(_ topic: String, _ mismatch: TopicMismatch) {
        logMonitor.set(nil, of: topic)
        for (lane, partitions) in reading(of: topic) {
            for partition in giveUp(partitions, of: lane) { leaveAlone(partition, .topic(mismatch)) }
        }
    }

    func reading(of topic: String) -> [Int: [TopicPartition]] {
        var partitions: [Int: [TopicPartition]] = [:]
        for case (let partition, .reading(let lane)) in places where partition.topic == topic {
            partitions[lane, default: []].append(partition)
        }
        return partitions
    }

    /// Skipping by ourselves would hide what is lost; a person decides.
    func leaveAlone(_ partition: TopicPartition, _ fault: LanePartition.Fault) {
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
}
