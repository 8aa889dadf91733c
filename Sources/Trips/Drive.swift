public import Fleet

/// One minute of a vehicle that holds readings.
public struct VehicleMinute: Equatable, Sendable {
    public var startMs: Int64
    public var tripStartMs: Int64
    public var totals: DriveTotals
    public var readings: [CarReading]

    public init(startMs: Int64, tripStartMs: Int64, totals: DriveTotals, readings: [CarReading]) {
        (self.startMs, self.tripStartMs, self.totals, self.readings) = (startMs, tripStartMs, totals, readings)
    }
}

/// All readings between two silences longer than the trip gap.
public struct Trip: Equatable, Sendable {
    /// Times of the first and last reading.
    public var startMs: Int64
    public var endMs: Int64
    public var totals: DriveTotals

    public init(startMs: Int64, endMs: Int64, totals: DriveTotals) {
        (self.startMs, self.endMs, self.totals) = (startMs, endMs, totals)
    }

    public var segments: Int64 { totals.speedReadings == 0 ? 0 : totals.holes + 1 }
}

/// The drive of one vehicle as its readings come in the order of their times. The live path, the late path and the
/// offline commands all run through this one type, so their rows cannot differ.
public struct Drive: Equatable, Sendable {
    public enum Change: Equatable, Sendable {
        case minuteContinued
        case minuteEnded(VehicleMinute)
        case tripEnded(VehicleMinute, Trip)
    }

    private let rules: TripRules
    private var fold: MinuteFold
    /// The sum of the current trip's ended minutes.
    private var ended = DriveTotals()
    private var minuteReadings: [CarReading]
    private var tripStartMs: Int64
    public private(set) var lastMs: Int64

    public init(first reading: CarReading, rules: TripRules) {
        precondition(rules.fault == nil)
        self.rules = rules
        fold = MinuteFold(rules: rules)
        fold.add(reading)
        minuteReadings = [reading]
        tripStartMs = reading.ts
        lastMs = reading.ts
    }

    /// Precondition: `reading` is later than every reading before it.
    public mutating func observe(_ reading: CarReading) -> Change {
        precondition(reading.ts > lastMs)
        defer { lastMs = reading.ts }
        if reading.ts - lastMs > rules.tripGapMs {
            let change = Change.tripEnded(minute, trip)
            self = Drive(first: reading, rules: rules)
            return change
        }
        guard UTC.minute(of: reading.ts) != UTC.minute(of: lastMs) else {
            fold.add(reading)
            minuteReadings.append(reading)
            return .minuteContinued
        }
        let last = minute
        ended = ended + last.totals
        fold.startMinute()
        fold.add(reading)
        minuteReadings = [reading]
        return .minuteEnded(last)
    }

    /// The current minute and trip with what is known so far.
    public var minute: VehicleMinute {
        VehicleMinute(
            startMs: UTC.minute(of: lastMs), tripStartMs: tripStartMs, totals: fold.minute, readings: minuteReadings)
    }
    public var trip: Trip { Trip(startMs: tripStartMs, endMs: lastMs, totals: ended + fold.minute) }

    /// Minutes and trips of a whole set of readings, and the drive as it stands after the last of them.
    /// Precondition: `readings` is not empty, sorted, one reading a time (`unioned()`).
    public static func whole(
        _ readings: [CarReading], rules: TripRules
    ) -> (minutes: [VehicleMinute], trips: [Trip], drive: Drive) {
        var drive = Drive(first: readings[0], rules: rules)
        var (minutes, trips): ([VehicleMinute], [Trip]) = ([], [])
        for reading in readings.dropFirst() {
            switch drive.observe(reading) {
            case .minuteContinued: break
            case .minuteEnded(let minute): minutes.append(minute)
            case .tripEnded(let minute, let trip):
                minutes.append(minute)
                trips.append(trip)
            }
        }
        return (minutes + [drive.minute], trips + [drive.trip], drive)
    }
}
