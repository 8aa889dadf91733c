internal import Codecs
public import Fleet
public import Trips

/// The rows of one cycle, as absolute values, one a key. Cars are numbers of the partition that made them.
public struct CarRows: Sendable {
    public struct Correction: Equatable, Sendable {
        /// 0: never corrected.
        public var revision: Int32 = 0
        public var revisedMs: Int64?
        public static let none = Correction()
    }
    public struct Minute: Sendable {
        public let car: Int32
        public var startMs: Int64
        public var tripStartMs: Int64
        public var totals: DriveTotals
        /// The first place that it holds, where its trip begins in it.
        public var startPlace: Position?
        /// Place of the packed samples in `bytes`.
        public var samples: Range<Int>
        public var correction: Correction

        public var beginsTrip: Bool { tripStartMs >= startMs }
    }
    public struct TripRow: Sendable {
        public let car: Int32
        public var trip: Trip
        public var isOpen: Bool
        /// Place of the packed state in `bytes`; nil when this is not the car's latest trip.
        public var state: Range<Int>?
        public var correction: Correction
        /// The row of the same car before this one; negative when there is none.
        fileprivate var previous: Int32
        /// Its trip became part of another one later in the cycle: it is not written.
        fileprivate var isGone = false
    }
    public struct Day: Sendable {
        public let car: Int32
        public var dayMs: Int64
        public var totals: DriveTotals
        public var correction: Correction
    }
    /// Cars that were seen for the first time.
    public internal(set) var vehicles: [Int32] = []
    public private(set) var minutes: [Minute] = []
    private var tripRows: [TripRow] = []
    public var trips: some Sequence<TripRow> { tripRows.lazy.filter { !$0.isGone } }
    public private(set) var days: [Day] = []
    /// Starts of trips that no longer exist: late readings merged them into another or moved their start.
    public internal(set) var droppedTrips: [(car: Int32, startMs: Int64)] = []
    /// Starts of stretches that no longer exist: a cut moved them.
    public internal(set) var droppedMinutes: [(car: Int32, startMs: Int64)] = []
    /// Packed samples and states.
    public private(set) var bytes: [UInt8] = []

    public var isEmpty: Bool {
        vehicles.isEmpty && minutes.isEmpty && tripRows.isEmpty && days.isEmpty && droppedTrips.isEmpty
            && droppedMinutes.isEmpty
    }
    public var count: Int { minutes.count + tripRows.count + days.count }

    /// `replacing`: the start under which the stretch was stored.
    mutating func put(
        _ minute: VehicleMinute, replacing: Int64? = nil, of number: Int, _ cars: inout [CarPartition.Car],
        correction: Correction = .none
    ) {
        let start = bytes.count
        PackedSamples.encode(minute.readings, minuteMs: minute.startMs, into: &bytes)
        let row = Minute(
            car: Int32(number), startMs: minute.startMs, tripStartMs: minute.tripStartMs, totals: minute.totals,
            startPlace: minute.tripStartMs >= minute.startMs ? CarRows.place(minute.readings) : nil,
            samples: start..<bytes.count, correction: correction)
        let replaced = replacing.flatMap { $0 == minute.startMs ? nil : $0 }
        if let replaced { droppedMinutes.append((Int32(number), replaced)) }
        let place = Int(cars[number].minuteRow)
        if place >= 0, minutes[place].startMs == minute.startMs || minutes[place].startMs == replaced {
            minutes[place] = row
        } else {
            cars[number].minuteRow = Int32(minutes.count)
            minutes.append(row)
        }
    }

    private static func place(_ readings: [CarReading]) -> Position? {
        for index in readings.indices { if let place = Position(readings[index]) { return place } }
        return nil
    }

    mutating func put(
        _ trip: Trip, replacing: Int64? = nil, isOpen: Bool, state: [UInt8]?, of number: Int,
        _ cars: inout [CarPartition.Car],
        correction: Correction = .none
    ) {
        var range: Range<Int>?
        if let state {
            let start = bytes.count
            bytes.append(contentsOf: state)
            range = start..<bytes.count
        }
        let replaced = replacing.flatMap { $0 == trip.startMs ? nil : $0 }
        if let replaced { droppedTrips.append((Int32(number), replaced)) }
        // Both may be there: a trip that an earlier reading joined with the one before it.
        var place = tripPlace(trip.startMs, cars[number].tripRow)
        if let replaced, let gone = tripPlace(replaced, cars[number].tripRow) {
            if place == nil { place = gone } else { tripRows[gone].isGone = true }
        }
        let row = TripRow(
            car: Int32(number), trip: trip, isOpen: isOpen, state: range, correction: correction,
            previous: place.map { tripRows[$0].previous } ?? cars[number].tripRow)
        if let place {
            tripRows[place] = row
        } else {
            cars[number].tripRow = Int32(tripRows.count)
            tripRows.append(row)
        }
    }

    private func tripPlace(_ startMs: Int64, _ last: Int32) -> Int? {
        var place = Int(last)
        while place >= 0 {
            if tripRows[place].trip.startMs == startMs, !tripRows[place].isGone { return place }
            place = Int(tripRows[place].previous)
        }
        return nil
    }

    mutating func put(
        day dayMs: Int64, _ totals: DriveTotals, of number: Int, _ cars: inout [CarPartition.Car],
        correction: Correction = .none
    ) {
        let row = Day(car: Int32(number), dayMs: dayMs, totals: totals, correction: correction)
        let place = Int(cars[number].dayRow)
        if place >= 0, days[place].dayMs == dayMs {
            days[place] = row
        } else {
            cars[number].dayRow = Int32(days.count)
            days.append(row)
        }
    }

    /// Every car that has a minute, trip or day here; some more than once.
    func forEachCar(_ body: (Int) -> Void) {
        for index in minutes.indices { body(Int(minutes[index].car)) }
        for index in tripRows.indices { body(Int(tripRows[index].car)) }
        for index in days.indices { body(Int(days[index].car)) }
    }

    /// A cycle of more rows than this is rare (a tick that closes many cars' minutes): its memory is given back.
    private static let keptRowsMax = 8_192

    mutating func clear() {
        guard count <= CarRows.keptRowsMax else {
            self = CarRows()
            return
        }
        vehicles.removeAll(keepingCapacity: true)
        minutes.removeAll(keepingCapacity: true)
        tripRows.removeAll(keepingCapacity: true)
        days.removeAll(keepingCapacity: true)
        droppedTrips.removeAll(keepingCapacity: true)
        droppedMinutes.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }
}
