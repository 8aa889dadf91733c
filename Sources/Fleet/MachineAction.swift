/// What a person says of a machine or of its alerts, or a gateway in answer to one. It comes as a record like a reading, so that the log alone orders it
/// and a replay repeats it. Order and repeats do not matter: the latest by (`ts`, `id`) of its kind and thing counts.
public struct MachineAction: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case registration(Registration)
        /// A service was done at `ts`, at so many engine hours, in thousandths.
        case service(atHours: Int64)
        /// Somebody has seen this alert.
        case acknowledgement(alert: String)
        case silence(Silence)
        /// A gateway shall download now what the box has; after `untilMs` nobody waits for it.
        case pollRequest(untilMs: Int64)
        /// A gateway's answer: what the box gave, or the reason and what to do.
        case pollAnswer(request: String, isDone: Bool, text: String)
    }

    /// How a machine is called and reached. A record says all of it.
    public struct Registration: Equatable, Sendable {
        public var name: String?
        public var model: String?
        /// The box that is polled; nil: upload only.
        public var address: Address?
        public var tags: [String] = []
        /// It is kept, but neither polled nor listed first.
        public var isDisabled = false
        public init() {}
    }

    public struct Address: Equatable, Sendable {
        public var host: String
        public var port: Int32
        /// Of the box's certificate, 64 hexadecimal digits; nil: plain TCP.
        public var certificateSHA256: String?
        public init(host: String, port: Int32, certificateSHA256: String?) {
            (self.host, self.port, self.certificateSHA256) = (host, port, certificateSHA256)
        }
    }

    /// From `ts` on nobody is told of alerts of this machine, model and parameter; nil: of all. The alerts themselves
    /// stay as they are.
    public struct Silence: Equatable, Sendable {
        public var model: String?
        public var parameter: MachineParameter?
        public var untilMs: Int64
        public init(model: String?, parameter: MachineParameter?, untilMs: Int64) {
            (self.model, self.parameter, self.untilMs) = (model, parameter, untilMs)
        }
    }

    public let id: String
    /// Nil only for a silence, which is then written to every partition.
    public let vehicle: VehicleID?
    public let ts: Int64
    /// Who says it.
    public let by: String
    public let note: String?
    public let kind: Kind

    public init(id: String, vehicle: VehicleID?, ts: Int64, by: String, note: String?, kind: Kind) {
        (self.id, self.vehicle, self.ts, self.by, self.note, self.kind) = (id, vehicle, ts, by, note, kind)
    }
}
