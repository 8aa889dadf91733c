public import Kafka
public import Sockets

/// What a gateway for boxes (MTG) and cars' adapters (OBD-II) is made of.
public struct GatewaySettings: Sendable {
    public var kafka: KafkaSettings
    /// Where registrations are read.
    public var conninfo: String
    public var registryIntervalS: Int64 = 15
    public var pollIntervalMs: Int64 = 60_000
    public var backOffMsMax: Int64 = 300_000
    public var answerTimeoutMs: Int64 = 10_000
    public var connectionMsMax: Int64 = 120_000
    /// Workers are told of a box that has not answered for this long.
    public var contactLostMs: Int64 = 180_000
    /// Of boxes, and again of adapters.
    public var connectionsMax = 4_096
    public var spoolPath: String
    public var spoolBytesMax: Int64 = 1_000_000_000
    /// Where boxes and adapters may be reached without TLS.
    public var plain: [CIDR] = []
    /// Where they may be at all.
    public var reach: Reach
    /// When people are told that a box or an adapter was asked in vain: later than any try takes, so that the time says
    /// nothing of what is at an address.
    public var failureToldMs: Int64 = 20_000
    /// Boxes are asked for all that they still have, whatever was stored before: repeats count once.
    public var asksAgain = false
    /// What a car is asked for, and when.
    public var pollSchedule = PollSchedule.standard
    /// How often a car whose ignition is off is asked whether it is on.
    public var parkedMs: Int64 = 60_000
    /// Makes the topics that are missing; throws while the broker is away.
    public var prepareTopics: @Sendable () throws -> Void

    public init(
        kafka: KafkaSettings, conninfo: String, spoolPath: String, reach: Reach,
        prepareTopics: @escaping @Sendable () throws -> Void
    ) {
        (self.kafka, self.conninfo, self.spoolPath, self.reach) = (kafka, conninfo, spoolPath, reach)
        self.prepareTopics = prepareTopics
    }

    /// Boxes are heard so often that their silence says something.
    var expectsReports: Bool { pollIntervalMs <= 120_000 }
}
