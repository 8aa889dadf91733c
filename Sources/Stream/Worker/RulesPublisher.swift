package import Alerts
internal import Basics
internal import Codecs
package import Kafka
internal import Telemetry
package import Trips

/// Puts rule sets on the log, which alone says by what readings are judged (docs/decisions/0005) and trips folded (0024).
package final class RulesPublisher {
    private let settings: KafkaSettings
    private var producer: Producer?

    package init(_ settings: KafkaSettings) { self.settings = settings }

    /// In force from `fromMs` on. The broker has acknowledged them when it returns.
    package func publish(_ rules: RuleSet, fromMs: Int64, to partitions: [TopicPartition]) throws {
        try put(RecordWriter.rules(fromMs: fromMs, version: rules.version, text: rules.text), on: partitions)
    }

    /// The same of trip rules: for trips that begin from `fromMs` on.
    package func publish(_ rules: TripRules, fromMs: Int64, to partitions: [TopicPartition]) throws {
        try put(RecordWriter.tripRules(fromMs: fromMs, rules.limits), on: partitions)
    }

    private func put(_ record: [UInt8], on partitions: [TopicPartition]) throws {
        do {
            let producer = try self.producer ?? Producer(settings)
            self.producer = producer
            for partition in partitions {
                try producer.produce(
                    topic: partition.topic, partition: partition.partition, key: [], value: record, timestampMs: nil)
            }
            try producer.flush(timeoutMs: 3_000)
        } catch {
            // A producer that failed for good fails for ever.
            producer = nil
            throw error
        }
    }

    /// The rules that the worker was started with, for a partition that has none on record. In force from the beginning
    /// of time, so that a set that is published meanwhile is in force from its own time on, whichever comes first.
    func publishFirst(_ rules: RuleSet, to partition: TopicPartition, log: Log) {
        do {
            try publish(rules, fromMs: UTC.plausible.lowerBound, to: [partition])
            log.info(
                "rules published",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "version": "\(rules.version)"])
        } catch {
            // Whoever takes the partition over next tries again.
            log.error(
                "the rules could not be published; machines of this partition are not judged",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "error": "\(error)"])
        }
    }

    /// The rules that a partition's trips began with, so that its log tells them, too. Nothing follows from the record.
    func publishFirst(_ rules: TripRules, to partition: TopicPartition, log: Log) {
        do {
            try publish(rules, fromMs: TripRulesBase.fromMs, to: [partition])
            log.info(
                "trip rules noted on the log",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)"])
        } catch {
            // Whoever takes the partition over next tries again.
            log.warning(
                "the trip rules could not be noted on the log; they are in force all the same",
                ["topic": "\(partition.topic)", "partition": "\(partition.partition)", "error": "\(error)"])
        }
    }
}
