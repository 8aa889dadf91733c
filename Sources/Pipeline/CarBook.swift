public import Fleet
public import Trips

/// What the store is asked before a car's readings can be taken: everything that readings in this span can touch.
public struct HistoryQuery: Equatable, Sendable {
    public let vehicle: VehicleID
    public let fromMs: Int64
    public let toMs: Int64
}

/// What the store knows around a span: the trips that readings in it can touch, whole.
public struct CarHistory: Equatable, Sendable {
    /// All minutes of the touched trips, by time.
    public var minutes: [VehicleMinute]
    /// Sums of the other minutes of each UTC day that the touched trips or the span lie in.
    public var otherMinutesOfDay: [Int64: DriveTotals]
    /// The last reading of the vehicle anywhere; nil when it has none.
    public var lastMs: Int64?

    public init(minutes: [VehicleMinute], otherMinutesOfDay: [Int64: DriveTotals], lastMs: Int64?) {
        (self.minutes, self.otherMinutesOfDay, self.lastMs) = (minutes, otherMinutesOfDay, lastMs)
    }

    public static let none = CarHistory(minutes: [], otherMinutesOfDay: [:], lastMs: nil)
}

/// The rows that follow from a batch for one car, as absolute values.
public struct CarChange: Equatable, Sendable {
    public struct TripRow: Equatable, Sendable {
        public var trip: Trip
        public var isOpen: Bool

        public init(trip: Trip, isOpen: Bool) { (self.trip, self.isOpen) = (trip, isOpen) }
    }
    public let vehicle: VehicleID
    public var minutes: [VehicleMinute] = []
    public var trips: [TripRow] = []
    /// Starts of trips that no longer exist: late readings merged them into another or moved their start.
    public var droppedTripStarts: [Int64] = []
    public var days: [Int64: DriveTotals] = [:]
    public var lastMs: Int64

    init(vehicle: VehicleID, lastMs: Int64) { (self.vehicle, self.lastMs) = (vehicle, lastMs) }
}

/// The cars of one lane. Facts in (readings, history, ticks), rows out; no clock and no I/O.
///
/// A car whose readings come in order is folded in memory (the live path). Anything else (a reading that is not later
/// than the last one, a car not in memory) takes the late path: its touched trips are read back, united with the new
/// readings and folded again from their first reading. Both paths run the same `Drive`.
public struct CarBook: Sendable {
    private struct Car: Sendable {
        var drive: Drive
        /// Sums of the current UTC day without the current minute.
        var dayEnded: DriveTotals
    }

    private let rules: TripRules
    private var cars: [VehicleID: Car] = [:]
    /// Cars kept in memory; those beyond it are read back each time.
    private let carsMax: Int

    public init(rules: TripRules, carsMax: Int = 200_000) {
        (self.rules, self.carsMax) = (rules, carsMax)
    }

    public var count: Int { cars.count }

    /// Forgets a car, because its partition went away or its rows were not written.
    public mutating func forget(_ vehicle: VehicleID) { cars[vehicle] = nil }
    public mutating func forgetAll() { cars.removeAll() }

    /// What must be read back before `apply` can take this car's readings; nil when memory suffices.
    /// Precondition: `readings` are `unioned()` and not empty.
    public func query(_ vehicle: VehicleID, _ readings: [CarReading]) -> HistoryQuery? {
        if let car = cars[vehicle], readings[0].ts > car.drive.lastMs { return nil }
        return HistoryQuery(
            vehicle: vehicle, fromMs: readings[0].ts - rules.tripGapMs,
            toMs: readings[readings.count - 1].ts + rules.tripGapMs)
    }

    /// `clockMs` is the partition's clock, the greatest tick seen, this batch included.
    public mutating func apply(
        _ readings: [CarReading], of vehicle: VehicleID, history: CarHistory?, clockMs: Int64?
    ) -> CarChange? {
        guard let history else { return applyLive(readings, of: vehicle, clockMs: clockMs) }
        return applyLate(readings, of: vehicle, history, clockMs: clockMs)
    }

    // MARK: Live path

    private mutating func applyLive(_ readings: [CarReading], of vehicle: VehicleID, clockMs: Int64?) -> CarChange {
        guard var car = cars[vehicle] else { preconditionFailure("a car without history takes the late path") }
        var change = CarChange(vehicle: vehicle, lastMs: readings[readings.count - 1].ts)
        for reading in readings {
            switch car.drive.observe(reading) {
            case .minuteContinued: break
            case .minuteEnded(let minute): end(minute, next: reading.ts, &car, &change)
            case .tripEnded(let minute, let trip):
                change.trips.append(.init(trip: trip, isOpen: false))
                end(minute, next: reading.ts, &car, &change)
            }
        }
        let minute = car.drive.minute
        change.minutes.append(minute)
        change.days[UTC.day(of: minute.startMs)] = car.dayEnded + minute.totals
        change.trips.append(.init(trip: car.drive.trip, isOpen: isOpen(car.drive.trip, clockMs)))
        cars[vehicle] = car
        return change
    }

    private func end(_ minute: VehicleMinute, next ts: Int64, _ car: inout Car, _ change: inout CarChange) {
        change.minutes.append(minute)
        car.dayEnded = car.dayEnded + minute.totals
        let day = UTC.day(of: minute.startMs)
        guard day != UTC.day(of: ts) else { return }
        change.days[day] = car.dayEnded
        car.dayEnded = DriveTotals()
    }

    // MARK: Late path

    private mutating func applyLate(
        _ readings: [CarReading], of vehicle: VehicleID, _ history: CarHistory, clockMs: Int64?
    ) -> CarChange? {
        let stored = history.minutes.flatMap(\.readings)
        let united = (stored + readings).unioned()
        let (minutes, trips, drive) = Drive.whole(united, rules: rules)
        let isLatest = history.lastMs.map { $0 <= drive.lastMs } ?? true
        let days = days(of: minutes, history)
        // Beyond the limit none is added; none is dropped either, for `query` may have counted on it.
        if isLatest, cars[vehicle] != nil || cars.count < carsMax {
            let last = minutes[minutes.count - 1]
            cars[vehicle] = Car(drive: drive, dayEnded: dayWithout(last, minutes, history))
        } else {
            cars[vehicle] = nil
        }
        // The same readings again: nothing to write, nothing changed.
        if united == stored { return nil }
        var change = CarChange(vehicle: vehicle, lastMs: max(drive.lastMs, history.lastMs ?? .min))
        let before = Dictionary(uniqueKeysWithValues: history.minutes.map { ($0.startMs, $0) })
        change.minutes = minutes.filter { before[$0.startMs] != $0 }
        for (index, trip) in trips.enumerated() {
            let isLast = isLatest && index == trips.count - 1
            change.trips.append(.init(trip: trip, isOpen: isLast && isOpen(trip, clockMs)))
        }
        change.droppedTripStarts = Set(history.minutes.map(\.tripStartMs)).subtracting(trips.map(\.startMs)).sorted()
        change.days = days
        return change
    }

    private func days(of minutes: [VehicleMinute], _ history: CarHistory) -> [Int64: DriveTotals] {
        var days: [Int64: DriveTotals] = [:]
        for minute in minutes {
            let day = UTC.day(of: minute.startMs)
            days[day] = (days[day] ?? history.otherMinutesOfDay[day] ?? DriveTotals()) + minute.totals
        }
        return days
    }

    private func dayWithout(_ last: VehicleMinute, _ minutes: [VehicleMinute], _ history: CarHistory) -> DriveTotals {
        let day = UTC.day(of: last.startMs)
        return minutes.dropLast().filter { UTC.day(of: $0.startMs) == day }
            .reduce(history.otherMinutesOfDay[day] ?? DriveTotals()) { $0 + $1.totals }
    }

    private func isOpen(_ trip: Trip, _ clockMs: Int64?) -> Bool {
        guard let clockMs else { return true }
        return clockMs <= trip.endMs + rules.tripGapMs
    }
}
