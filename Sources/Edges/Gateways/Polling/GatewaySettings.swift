package import Kafka
package import Sockets

/// The settings of a gateway for boxes (MTG) and cars' adapters (OBD-II).
package struct GatewaySettings: Sendable {
    package var kafka: KafkaSettings
    /// The database of registrations.
    package var conninfo: String
    package var registryIntervalS: Int64 = 15
    package var pollIntervalMs: Int64 = 60_000
    package var backOffMsMax: Int64 = 300_000
    package var answerTimeoutMs: Int64 = 10_000
    package var connectionMsMax: Int64 = 120_000
    /// Workers are told of a box that has not answered for this long.
    package var contactLostMs: Int64 = 180_000
    /// For boxes, and again for adapters.
    package var connectionsMax = 4_096
    package var spoolPath: String
    package var spoolBytesMax: Int64 = 1_000_000_000
    /// The networks where boxes and adapters may be reached without TLS.
    package var plain: [CIDR] = []
    /// The networks where they may be at all.
    package var reach: AddressPolicy
    /// The database of debug logs.
    package var debugConninfo = ""
    /// The folder of boxes' own keys, a file `VEHICLE.key` each; empty: there are none.
    package var debugKeysFolder = ""
    /// When a failed request is reported: later than any attempt takes, so that the time reveals nothing about an address.
    package var failureToldMs: Int64 = 20_000
    /// Boxes are asked for all that they still have, whatever was stored before: repeats count once.
    package var asksAgain = false
    /// The polling plan of cars.
    package var pollSchedule = PollSchedule.standard
    /// The interval of checks whether a parked car's ignition is on.
    package var parkedMs: Int64 = 60_000
    /// Makes the topics that are missing; throws while the broker is away.
    package var prepareTopics: @Sendable () throws -> Void

    package init(
        kafka: KafkaSettings, conninfo: String, spoolPath: String, reach: AddressPolicy,
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
