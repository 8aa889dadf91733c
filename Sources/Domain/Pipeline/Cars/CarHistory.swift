public import Fleet
public import Trips

/// A question to the store before late readings can be taken: everything that readings in this span can touch.
public struct HistoryQuery: Equatable, Sendable {
    public let vehicle: VehicleID
    public let fromMs: Int64
    public let toMs: Int64
    /// The start of the vehicle's open stretch: left out of the sums of days. `.min`: none.
    public var openMs = Int64.min
}

/// The trips around a span, as the store has them, that readings in it can touch, whole.
public struct CarHistory: Equatable, Sendable {
    public struct Minute: Equatable, Sendable {
        public var minute: VehicleMinute
        public var revision: Int32
        public init(_ minute: VehicleMinute, revision: Int32) { (self.minute, self.revision) = (minute, revision) }
    }
    public struct Day: Equatable, Sendable {
        public var totals: DriveTotals
        public var revision: Int32
        public init(_ totals: DriveTotals, revision: Int32) { (self.totals, self.revision) = (totals, revision) }
    }
    public struct TripRow: Equatable, Sendable {
        public var trip: Trip
        public var isOpen: Bool
        public var revision: Int32
        public init(_ trip: Trip, isOpen: Bool, revision: Int32) {
            (self.trip, self.isOpen, self.revision) = (trip, isOpen, revision)
        }
    }

    /// The touched trips and all their minutes, by time.
    public var trips: [TripRow]
    public var minutes: [Minute]
    /// Sums of the other minutes, without the open one, of each UTC day that the touched trips or the span lie in.
    public var otherMinutesOfDay: [Int64: DriveTotals]
    /// The stored rows of those days.
    public var days: [Int64: Day]
    /// The last stored stretch of the vehicle anywhere, the open one left out; nil when there is none.
    public var lastMinuteMs: Int64?
    /// The next stored trip after the touched ones, of which start and carry are known: their end decides how it begins, and
    /// whether it is one of its own.
    public var next: Trip?
    /// The readings of the trip before the first touched one, where that is from before and no carry was kept.
    public var before: [CarReading] = []
    /// Cuts from a minute before the first of the readings above, or the span, to their end.
    public var cuts: [Int64]

    public init(
        trips: [TripRow] = [], minutes: [Minute] = [], otherMinutesOfDay: [Int64: DriveTotals] = [:],
        days: [Int64: Day] = [:], lastMinuteMs: Int64? = nil, cuts: [Int64] = []
    ) {
        (self.trips, self.minutes, self.otherMinutesOfDay) = (trips, minutes, otherMinutesOfDay)
        (self.days, self.lastMinuteMs, self.cuts) = (days, lastMinuteMs, cuts)
    }

    public static let none = CarHistory()
}
