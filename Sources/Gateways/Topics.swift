internal import Fleet
public import Kafka

/// Makes the topics that are missing and tells how many partitions they have. The number is fixed when a topic is
/// made: a vehicle's partition follows from it.
public enum Topics {
    /// What comes in: workers read these, and ticks go to them.
    public static let readings = [Topic.cars, Topic.machines, Topic.dispatch, Topic.sightings, Topic.tours]
    /// What comes back out, from the outbox.
    public static let results = [Topic.alerts, Topic.assignments, Topic.rejected]

    /// Topics keep everything: a replay reaches back as far as they do.
    private static let config = [
        "retention.ms": "-1", "retention.bytes": "-1",
        // The broker's own clock judges ticks and readings that run ahead, not the sender's.
        "message.timestamp.type": "LogAppendTime",
    ]

    public static func ensure(
        _ settings: KafkaSettings, partitions: Int32, timeoutMs: Int32 = 10_000
    ) throws -> [String: Int32] {
        let all = readings + results
        let admin = try Admin(settings)
        let known = try admin.topics(timeoutMs: timeoutMs)
        let missing = all.filter { known[$0] == nil }
        try admin.createTopics(
            missing.map { NewTopic(name: $0, partitions: partitions, replication: 1, config: config) },
            timeoutMs: 15_000)
        return try admin.topics(timeoutMs: timeoutMs).filter { all.contains($0.key) }
    }
}
