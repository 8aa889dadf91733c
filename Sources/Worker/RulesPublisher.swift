internal import Alerts
internal import Kafka
internal import Observe
internal import Wire

/// Puts the rules that the worker was started with on a partition that has none on record: from then on the log alone
/// says by what its readings are judged (docs/decisions/0005).
final class RulesPublisher {
    private let settings: KafkaSettings
    private let rules: RuleSet
    private let log: Log
    private var producer: Producer?

    init(_ settings: KafkaSettings, _ rules: RuleSet, log: Log) {
        (self.settings, self.rules, self.log) = (settings, rules, log)
    }

    func publish(to partition: TopicPartition) {
        do {
            let producer = try self.producer ?? Producer(settings)
            self.producer = producer
            let record = RecordWriter.rules(fromMs: Clock.nowMs(), version: rules.version, text: rules.text)
            try producer.produce(
                topic: partition.topic, partition: partition.partition, key: [], value: record, timestampMs: nil)
            try producer.flush(timeoutMs: 3_000)
            log.info(
                "rules published",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "version": "\(rules.version)"])
        } catch {
            // Whoever takes the partition over next tries again.
            self.producer = nil
            log.error(
                "the rules could not be published; machines of this partition are not judged",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "error": "\(error)"])
        }
    }
}
