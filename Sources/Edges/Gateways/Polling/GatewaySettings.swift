package import Kafka
package import Sockets

/// What a gateway for boxes (MTG) and cars' adapters (OBD-II) is made of.
package struct GatewaySettings: Sendable {
    package var kafka: KafkaSettings
    /// Where registrations are read.
    package var conninfo: String
    package var registryIntervalS: Int64 = 15
    package var pollIntervalMs: Int64 = 60_000
    package var backOffMsMax: Int64 = 300_000
    package var answerTimeoutMs: Int64 = 10_000
    package var connectionMsMax: Int64 = 120_000
    /// Workers are told of a box that has not answered for this long.
    package var contactLostMs: Int64 = 180_000
    /// Of boxes, and again of adapters.
    package var connectionsMax = 4_096
    package var spoolPath: String
    package var spoolBytesMax: Int64 = 1_000_000_000
    /// Where boxes and adapters may be reached without TLS.
    package var plain: [CIDR] = []
    /// Where they may be at all.
    package var reach: Reach
    /// When people are told that a box or an adapter was asked in vain: later than any try takes, so that the time says
    /// nothing of what is at an address.
    package var failureToldMs: Int64 = 20_000
    /// Boxes are asked for all that they still have, whatever was stored before: repeats count once.
    package var asksAgain = false
    /// What a car is asked for, and when.
    package var pollSchedule = PollSchedule.standard
    /// How often a car whose ignition is off is asked whether it is on.
    package var parkedMs: Int64 = 60_000
    /// Makes the topics that are missing; throws while the broker is away.
    package var prepareTopics: @Sendable () throws -> Void

    package init(
        kafka: KafkaSettings, conninfo: String, spoolPath: String, reach: Reach,
        prepareTopics: @escaping @Sendable () throws -> Void
    ) {
        self.kafka = kafka
        self.conninfo = conninfo
        self.spoolPath = spoolPath
        self.reach = reach
        self.prepareTopics = prepareTopics
    }

    /// Boxes are heard so often that their silence says something.
    var expectsReports: Bool { pollIntervalMs <= 120_000 }
}
