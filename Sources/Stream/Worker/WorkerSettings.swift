package import Alerts
package import Kafka
internal import Storage
package import Trips

/// The settings of a worker.
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
    package var schema = SchemaConnection.liveSchema
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
