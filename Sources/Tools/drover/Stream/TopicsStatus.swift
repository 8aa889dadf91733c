import App
import Ingest
import Kafka
import Postgres
import Settings
import Storage

/// Whether the topics still are what the stored results were made from, for `drover check` and `drover status`.
struct TopicsStatus {
    /// One line each, with the way out; empty: all is well.
    let faults: [String]
    let topics: Int

    /// - Parameter connection: to the database whose offsets stand beside them.
    init(_ settings: Settings, clientID: String, on connection: Connection) throws {
        let stored = try ProgressStore.topics(on: connection)
        let deciding = try Topics.deciding(settings.kafka(clientID: clientID), timeoutMs: 5_000)
        topics = deciding.identities.count
        let changed = deciding.identities.sorted { $0.key < $1.key }.compactMap { topic, found -> String? in
            guard let before = stored[topic], let mismatch = TopicMismatch(stored: before, found: found) else {
                return nil
            }
            return
                "\(topic): \(mismatch.what); \(mismatch.detail). Its partitions are left alone. To go on, \(mismatch.remedy)"
        }
        let stamped = deciding.stampedBySenders.map {
            "\($0): its records are stamped by their senders, which a worker does not read. "
                + "kafka-configs.sh --bootstrap-server \(settings.text("kafka.brokers")) --alter --entity-type topics "
                + "--entity-name \(settings.text("kafka.topic_prefix"))\($0) --add-config \(Topics.stampType)=\(Topics.brokerStamps)"
        }
        faults = changed + stamped
    }
}
