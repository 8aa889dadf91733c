/// A record of a campus: statements of riders, ride drivers and dispatchers, and decisions on them.
public struct RideRecord: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The campus's area and weights, from here on.
        case campus(CampusSettings)
        case profile(rider: String, person: Person)
        case pickup(Pickup)
        case cancel(request: String)
        /// The driver who has the request refuses it.
        case override(request: String)
        /// A stop was reached, as its driver says.
        case done(request: String, isPickup: Bool)
        case inService(InService)
        case outOfService(vehicle: String)
        case breakdown(vehicle: String)
        /// Ends the ride, wherever the rider is, or gives it to another vehicle, with the reason.
        case end(request: String, Say)
        case handOver(request: String, Say)
        /// Speed in thousandths of m/s; nil: the vehicle does not tell.
        case position(vehicle: String, place: Position, speedMmPerS: Int64?)
        /// A sign of life of who looks and says nothing.
        case riderSign(rider: String)
        case vehicleSign(vehicle: String)
        /// Only the time, for campuses that go by their records' times.
        case clock
        /// Weather times time of day, in thousandths, as a person says it: until the next hour's.
        case surge(thousandths: Int64)
        /// The same and the speed of an hour, as they follow from the campus's settings and the weather.
        case hour(Hour)
        /// Measured travel times.
        case travel(Travel)
        /// The decision on the record at `offset` of this partition: `Routing` reads `text`, people read `why`.
        case decision(offset: Int64, text: String, why: String)
    }

    /// A report that a ride did not go as planned: who says so, and why.
    public struct Say: Equatable, Sendable {
        public var role: PersonRole
        public var reason: String
        public init(role: PersonRole, reason: String) { (self.role, self.reason) = (role, reason) }

        public static let bytesMax = 500
        /// For people: `the driver: nobody answers`.
        public var text: String {
            switch role {
            case .rider: "the rider: \(reason)"
            case .rideDriver: "the driver: \(reason)"
            case .dispatcher: "the dispatcher: \(reason)"
            }
        }
    }

    public struct Person: Equatable, Sendable {
        public var name: String
        /// Where the photo is; nil: none.
        public var photo: String?
        public init(name: String, photo: String?) { (self.name, self.photo) = (name, photo) }
    }

    public struct Pickup: Equatable, Sendable {
        public var request: String
        public var rider: String
        public var passengers: Int
        public var from: Position
        public var to: Position
        public var fromAddress: String?
        public var toAddress: String?
        /// The rider's description of himself or of the place.
        public var description: String?

        public init(request: String, rider: String, passengers: Int, from: Position, to: Position) {
            self.request = request
            self.rider = rider
            self.passengers = passengers
            self.from = from
            self.to = to
        }
    }

    public struct InService: Equatable, Sendable {
        public var vehicle: String
        public var driver: String
        public var person: Person
        public var capacity: Int
        public var place: Position
        public init(vehicle: String, driver: String, person: Person, capacity: Int, place: Position) {
            self.vehicle = vehicle
            self.driver = driver
            self.person = person
            self.capacity = capacity
            self.place = place
        }
    }

    public struct Hour: Equatable, Sendable {
        /// When it begins, epoch milliseconds.
        public var startMs: Int64
        /// In thousandths.
        public var surge: Int64
        /// In thousandths of km/h; nil: the campus's own.
        public var speedKmh: Int64?
        /// The weather used, as `WeatherAnswer` reads it; nil: time of day alone.
        public var weather: String?

        public init(startMs: Int64, surge: Int64, speedKmh: Int64?, weather: String?) {
            self.startMs = startMs
            self.surge = surge
            self.speedKmh = speedKmh
            self.weather = weather
        }
    }

    /// `from.count` × `to.count` ways, row by row, one row an origin.
    public struct Travel: Equatable, Sendable {
        /// The source of the measurement.
        public var source: String
        public var from: [Position]
        public var to: [Position]
        /// Nil: no way is known.
        public var ms: [Int64?]

        /// Places of either side.
        public static let placesMax = 200
        public static let msMax: Int64 = 86_400_000

        public init(source: String, from: [Position], to: [Position], ms: [Int64?]) {
            self.source = source
            self.from = from
            self.to = to
            self.ms = ms
        }
    }

    public var id: String
    public var campus: String
    /// Epoch milliseconds by the clock of who says it.
    public var ts: Int64
    /// The author.
    public var by: String
    public var kind: Kind

    public init(id: String, campus: String, ts: Int64, by: String, kind: Kind) {
        self.id = id
        self.campus = campus
        self.ts = ts
        self.by = by
        self.kind = kind
    }
}

/// The place and dispatch settings of a campus.
public struct CampusSettings: Equatable, Sendable {
    public var name: String
    /// The polygon that one end of each ride lies in: 3 to `cornersMax` corners, the last is joined to the first.
    public var boundary: [Position]
    /// Numbers by their keys, in thousandths; absent ones have their default.
    public var numbers: [Key: Int64]
    /// Tables as written; absent ones change nothing.
    public var tables: [TableKey: String] = [:]
    /// The time zone whose hours the tables mean; nil: UTC.
    public var timeZone: String?
    /// What people call places, in the order in which they are offered; nil: this says nothing of them.
    public var places: [CampusPlace]?
    /// How often they changed.
    public var placesVersion: Int64 = 0
    /// Of a record that changes the places alone: the version that it was made from.
    public var placesBase: Int64?

    public static let cornersMax = 1_000

    /// The settings: seconds of driving each, unless the name gives another unit.
    public enum Key: String, CaseIterable, Sendable {
        case travel, wait, ride, order, cancel, override
        case pickupS = "pickup_s"
        case dropoffS = "dropoff_s"
        case otherVehicleS = "other_vehicle_s"
        case movedArrivalS = "moved_arrival_s"
        case speedKmh = "speed_kmh"
        case detour
        /// How far outside the area the other end may be.
        case reachM = "reach_m"
        case queueS = "queue_s"
        case silenceS = "silence_s"
        /// A vehicle whose last position is older is not planned with.
        case staleS = "stale_s"
        case iterations
        /// 1: time is what the records say, for days from files and trials; 0: when they were pushed.
        case recordTime = "record_time"
        /// The half-life of what is learned of a place.
        case likelihoodDays = "likelihood_days"
        /// The most that weather and time of day make together.
        case surgeMax = "surge_max"

        /// In thousandths. 804.672 m is half a mile.
        public var standard: Int64 {
            switch self {
            case .travel, .wait, .ride: 1_000
            case .order: 5_000
            case .cancel, .override: 500
            case .pickupS: 20_000
            case .dropoffS: 10_000
            case .otherVehicleS: 60_000
            case .movedArrivalS: 200
            case .speedKmh: 20_000
            case .detour: 1_300
            case .reachM: 804_672
            case .queueS: 600_000
            case .silenceS, .staleS: 300_000
            case .iterations: 250_000
            case .recordTime: 0
            case .likelihoodDays: 30_000
            case .surgeMax: 2_000
            }
        }

        public var range: ClosedRange<Int64> {
            switch self {
            case .travel, .wait, .ride, .order, .cancel, .override, .movedArrivalS: 0...1_000_000
            case .pickupS, .dropoffS, .otherVehicleS: 0...3_600_000
            case .speedKmh: 1_000...200_000
            case .detour: 1_000...5_000
            case .reachM: 0...100_000_000
            case .queueS, .silenceS, .staleS: 1_000...86_400_000
            case .iterations: 0...100_000_000
            case .recordTime: 0...1_000
            case .likelihoodDays: 1_000...3_650_000
            case .surgeMax: 1_000...100_000
            }
        }
    }

    /// By hour of the day, or from a threshold of the weather on.
    public enum TableKey: String, CaseIterable, Sendable {
        case speedsKmh = "speeds_kmh"
        case surgeHours = "surge_hours"
        /// mm/h, m/s.
        case surgeRain = "surge_rain"
        case surgeSnow = "surge_snow"
        case surgeWind = "surge_wind"

        /// The range of each number, in thousandths.
        public var range: ClosedRange<Int64> { self == .speedsKmh ? Key.speedKmh.range : 100...10_000 }
        var isByHour: Bool { self == .speedsKmh || self == .surgeHours }

        /// Throws what is wrong with it.
        public func check(_ text: String) throws(DayHours.Fault) {
            if isByHour { _ = try DayHours(text, range) } else { _ = try StepTable(text, range) }
        }
    }

    public static let tableBytesMax = 1_000

    public init(name: String, boundary: [Position], numbers: [Key: Int64] = [:]) {
        self.name = name
        self.boundary = boundary
        self.numbers = numbers
    }

    /// Such a campus has no ticks: time passes with its records.
    public var goesByRecordTime: Bool { self[.recordTime] == 1_000 }

    /// Days from files say where vehicles are when they reach a stop only, unless they say otherwise.
    public var staleMs: Int64? { goesByRecordTime ? numbers[.staleS] : self[.staleS] }

    /// In thousandths.
    public subscript(key: Key) -> Int64 { numbers[key] ?? key.standard }
}
