/// A statement by a person about a vehicle, its alerts or an account, or by a gateway in answer to one. It is a record like a reading, so
/// that the log alone orders it and a replay repeats it. Order and repeats do not matter: the latest by (`ts`, `id`) of its kind and
/// subject counts.
public struct Action: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case registration(Registration)
        /// A service was done at `ts`, at so many engine hours, in thousandths.
        case service(atHours: Int64)
        /// Somebody has seen this alert.
        case acknowledgement(alert: String)
        case silence(Silence)
        /// What else somebody says of an alert.
        case triage(Triage)
        /// Asks a gateway to download now what the box has, or its debug log; after `untilMs` nobody waits for it.
        case pollRequest(untilMs: Int64, Wanted = .readings)
        /// A gateway's answer: the box's result, or the reason and what to do.
        case pollAnswer(request: String, isDone: Bool, text: String)

        // Cars only. A trip begins at `ts`, a reading of that very time included.
        case tripStart
        /// A trip ends at `ts`, a reading of that very time included.
        case tripStop
        /// The trip that `atMs` lies in shall not be counted.
        case tripDiscard(atMs: Int64)
        /// The trip that `atMs` lies in gets a tag, or loses its own.
        case tripTag(atMs: Int64, tag: String?)
        /// The account `by` drove from `fromMs` to `ts`, both included: it uploaded readings of that time.
        case driving(fromMs: Int64)
        /// The driver from `ts` on unless another record says otherwise; nil: nobody is assigned.
        case assignment(driver: String?)
        /// An account's switches, limits, units and fuel price, from `ts` on, as `Alerts` reads them.
        case settings(account: String, text: String)
        /// A gateway shall scan the car's health now; after `untilMs` nobody waits for it.
        case scanRequest(untilMs: Int64)
        case scan(HealthScan)
        /// The parameters that the car reports as supported.
        case support(pids: [String])
        /// A trip that ended at `ts`, as a phone has summed it up itself: its readings will never come.
        case tripSummary(TripSummary)
        /// A service's data for the hour that begins at `hourMs`, as `WeatherAnswer` reads it: a gateway asked for a trip.
        case weather(hourMs: Int64, answer: String)

        /// The kinds of records that a topic of cars has; all others belong to machines. A registration, and what people say of an alert,
        /// belongs to both.
        public var isOfCars: Bool {
            switch self {
            case .service, .silence, .pollRequest, .pollAnswer: false
            case .registration, .acknowledgement, .triage, .tripStart, .tripStop, .tripDiscard, .tripTag, .driving,
                .assignment, .settings,
                .scanRequest, .scan, .support, .tripSummary, .weather:
                true
            }
        }
        public var isOfMachines: Bool {
            switch self {
            case .registration, .acknowledgement, .triage, .service, .silence, .pollRequest, .pollAnswer: true
            case .tripStart, .tripStop, .tripDiscard, .tripTag, .driving, .assignment, .settings, .scanRequest, .scan,
                .support, .tripSummary, .weather:
                false
            }
        }
        /// It may be of no one vehicle, and then stands in every partition.
        public var isOfAll: Bool {
            switch self {
            case .silence, .settings: true
            case .registration, .service, .acknowledgement, .triage, .pollRequest, .pollAnswer, .tripStart, .tripStop,
                .tripDiscard, .tripTag, .driving, .assignment, .scanRequest, .scan, .support, .tripSummary, .weather:
                false
            }
        }
    }

    /// What is asked of a box.
    public enum Wanted: String, Equatable, Sendable {
        case readings
        /// Only a gateway that has the box's own key gets it.
        case debugLog = "debug_log"
    }

    /// The times that it is about: of words on a trip the moment that names the trip, not the one when they were said.
    public var aboutMs: ClosedRange<Int64> {
        switch kind {
        case .tripDiscard(let atMs), .tripTag(let atMs, _): atMs...atMs
        case .driving(let fromMs): min(fromMs, ts)...ts
        case .tripSummary(let summary): min(summary.fromMs, ts)...ts
        case .registration, .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripStart,
            .tripStop,
            .assignment, .settings, .scanRequest, .scan, .support, .weather:
            ts...ts
        }
    }

    /// A car's health scan, or why it failed.
    public struct HealthScan: Equatable, Sendable {
        /// The request that this answers; nil: nobody asked, a phone hands it in.
        public var request: String?
        public var isDone: Bool
        /// For people: the number of codes, or the reason and what to do.
        public var text: String
        /// Trouble codes like P0133: confirmed (mode 03), pending (07), permanent (0A).
        public var stored: [String] = []
        public var pending: [String] = []
        public var permanent: [String] = []
        /// The malfunction lamp; nil: unknown.
        public var isLampOn: Bool?
        /// Monitors that the car has and that have not finished.
        public var notReady: [String] = []
        public var vin: String?
        /// The freeze frame as a JSON object: the code that froze it and the values by their keys; nil: none.
        public var freezeFrame: String?
        public init(request: String?, isDone: Bool, text: String) {
            self.request = request
            self.isDone = isDone
            self.text = text
        }
    }

    /// A phone's summary of a whole trip. Kept as reported: nothing is derived from it. Thousandths of the unit.
    public struct TripSummary: Equatable, Sendable {
        public var fromMs: Int64
        public var distanceMilliKm, averageSpeedMilliKmh, maxSpeedMilliKmh: Int64?
        public var fuelMl, averageMilliMpg, idleMs, maxCoolantMilliC: Int64?
        public var sharpAccelerations, sharpBrakings: Int64?
        public init(fromMs: Int64) { self.fromMs = fromMs }
    }

    /// Data of cars only: the input of fuel figures.
    public struct Car: Equatable, Sendable {
        /// 17 characters.
        public var vin: String?
        public var make: String?
        public var year: Int32?
        public var fuel: Fuel?
        /// Litres, in thousandths.
        public var tankMl: Int32?
        /// Cubic centimetres.
        public var displacementCc: Int32?
        /// Percent, in thousandths.
        public var volumetricEfficiencyMilliPct: Int32?
        /// The account that owns the car.
        public var account: String?
        public init() {}

        public enum Fuel: String, CaseIterable, Sendable {
            case gasoline, diesel, ethanol, methanol, lpg, cng, electric
        }
    }

    /// A vehicle's name and address. A record has all of it.
    public struct Registration: Equatable, Sendable {
        public var name: String?
        public var model: String?
        /// The box or adapter that is polled; nil: upload only.
        public var address: Address?
        public var tags: [String] = []
        /// It is kept, but neither polled nor listed first.
        public var isDisabled = false
        /// Nil: a machine.
        public var car: Car?
        public init() {}
    }

    public struct Address: Equatable, Sendable {
        public var host: String
        public var port: Int32
        /// The digest of the box's certificate, 64 hexadecimal digits; nil: plain TCP.
        public var certificateSHA256: String?
        public init(host: String, port: Int32, certificateSHA256: String?) {
            self.host = host
            self.port = port
            self.certificateSHA256 = certificateSHA256
        }
    }

    /// From `ts` on alerts of this machine, model and parameter are not told; nil: of all. The alerts themselves stay.
    public struct Silence: Equatable, Sendable {
        public var model: String?
        public var parameter: MachineParameter?
        public var untilMs: Int64
        public init(model: String?, parameter: MachineParameter?, untilMs: Int64) {
            self.model = model
            self.parameter = parameter
            self.untilMs = untilMs
        }
    }

    /// A word on one alert.
    public struct Triage: Equatable, Sendable {
        public enum Word: Equatable, Sendable {
            /// Who takes care of it from now on; nil: nobody.
            case assigned(to: String?)
            /// The action's note is all that it says.
            case comment
            /// Who acknowledged it before does not take care of it any more.
            case reopened
            /// It is not told until then, nil: until it is over; a time that is past ends that.
            case muted(untilMs: Int64?)
        }

        public var alert: String
        public var word: Word
        public init(alert: String, _ word: Word) { (self.alert, self.word) = (alert, word) }
    }

    public let id: String
    /// Nil only for a silence and for an account's settings, which are then written to every partition.
    public let vehicle: VehicleID?
    public let ts: Int64
    /// The author.
    public let by: String
    public let note: String?
    public let kind: Kind

    public init(id: String, vehicle: VehicleID?, ts: Int64, by: String, note: String?, kind: Kind) {
        self.id = id
        self.vehicle = vehicle
        self.ts = ts
        self.by = by
        self.note = note
        self.kind = kind
    }
}
