public import Codecs
public import Fleet
public import Trips

/// The cars of one partition. Facts in (readings, ticks), rows out; no clock and no I/O.
///
/// A car's open minute is a bag of readings in any order; a reading of a later minute closes it. Where a driver's mark
/// cuts a minute, each stretch of it takes the minute's place (`CarPartition+Cuts.swift`). What a closed minute adds up to
/// follows from the state before it and the set of its readings (the live path). A reading older than the open minute
/// waits until the end of the cycle, when the trips that it touches are read back and folded again with it (the late
/// path, `CarPartition+Late.swift`). Both run the same `Drive`.
///
/// Which rows are written is decided by the log alone: a minute goes out when a later one begins, when a mark comes, or at
/// a tick when it has waited for a minute or its trip may be over. What is in memory only is read again from `replayFrom` by
/// the worker that takes over. docs/decisions/0006 has the reasons.
public struct CarPartition {
    struct Car {
        /// The latest reading that counts, in the bag or before it; `.min` when there is none.
        var lastMs = Int64.min
        /// The open stretch: from its start, the key of its row, to before its end; both `.min` when there is none.
        var openMs = Int64.min
        var openEndMs = Int64.min
        var bag = SampleBag()
        /// How many of the bag's readings, from its start, are in the database.
        var storedCount: UInt32 = 0
        var isOpen = false
        /// Offset of the first record that is in memory only; `.max` when there is none.
        var firstOffset = Int64.max
        /// Records before it were in the database when the partition was loaded.
        var skipBefore: Int64 = 0
        /// The partition's clock when the first record that is in memory only came, else when the bag was written.
        var sinceMs: Int64 = 0
        /// `CarState` after the last closed minute, packed; empty when there is none.
        var state = ByteChains.Chain()
        // Places in `rows` of what this cycle wrote for the car last; a row of the same key is replaced.
        var minuteRow: Int32 = -1
        var tripRow: Int32 = -1
        var dayRow: Int32 = -1
    }

    /// A bag that is in memory only for this long by the partition's clock is written at a tick.
    static let openAgeMsMax: Int64 = 60_000
    /// A written bag without a new reading for this long is folded and its memory freed.
    static let idleMsMax: Int64 = 600_000

    public internal(set) var rules: TripRuleTimeline
    /// Where a new car's key must belong; nil: it is not asked.
    let place: KeyPartitioner?
    var cars: [Car] = []
    var keys = KeyIndex()
    var chains = ByteChains()
    public internal(set) var rows = CarRows()
    /// Readings older than their car's open minute, and cuts before its end, by car.
    var late: [Int: LateReadings] = [:]
    /// All cuts of cars with drivers' marks since the minute of the last reading before the open stretch.
    var cuts: [Int: TripCuts] = [:]
    // Which cars are in memory: CarPartition+Idle.swift.
    let idleMs: Int64
    var heldSinceMs = Int64.min
    var newVehicles: Set<VehicleID> = []
    /// The greatest tick seen; 0 before the first.
    public internal(set) var clockMs: Int64
    /// Records before it were processed before this partition was loaded: their rows are in the database.
    let storedOffset: Int64
    var replay: (offset: Int64, clockMs: Int64)

    // Reused, so that the hot path allocates nothing.
    var scratch: [UInt8] = []
    var readings: [CarReading] = []

    struct LateReadings {
        var readings: [CarReading] = []
        /// Readings of the minute that the state ends in, whose bag is not in memory, with their offsets.
        var reopening: [(reading: CarReading, offset: Int64)] = []
        /// The clock when the first of those came.
        var sinceMs: Int64 = 0
        /// How many of them a tick would have written, and the offset after that tick.
        var written = 0
        var writtenOffset: Int64 = 0
        var cuts: [Int64] = []
        /// When the last late reading or mark was pushed, by the broker's stamp.
        var pushedMs: Int64 = .min
        /// The time that is read back to at least: the trips after those that are touched change with them.
        var reachMs = Int64.min

        // In place: a list that is taken out, added to and put back is copied for each of its readings.
        mutating func add(_ reading: CarReading, pushedMs: Int64) {
            readings.append(reading)
            self.pushedMs = max(self.pushedMs, pushedMs)
        }

        mutating func reopen(with reading: CarReading, _ offset: Int64, pushedMs: Int64, clockMs: Int64) {
            if reopening.count == written { sinceMs = clockMs }
            reopening.append((reading, offset))
            self.pushedMs = max(self.pushedMs, pushedMs)
        }
    }

    /// `progress` is where the partition stands in the database; the records to feed in begin at its `replayFrom`.
    public init(
        rules: TripRuleTimeline, progress: CarProgress, place: KeyPartitioner? = nil,
        idleMs: Int64 = CarPartition.idleMs
    ) {
        (self.rules, self.place, self.idleMs) = (rules, place, idleMs)
        storedOffset = progress.nextOffset
        clockMs = progress.replayClockMs
        replay = (progress.replayFrom, progress.replayClockMs)
    }

    public var count: Int { cars.count }
    public func vehicle(_ car: Int32) -> ArraySlice<UInt8> { keys.key(Int(car)) }
    public func name(_ number: Int) -> VehicleID { VehicleID(String(decoding: keys.key(number), as: UTF8.self))! }
    /// The time of the car's latest reading; `.min`: it has none, `.max`: it is not known.
    public func lastMs(_ number: Int) -> Int64 { cars[number].lastMs }
    /// Nil: it has not reported.
    public func number(of vehicle: VehicleID) -> Int? {
        unsafe Array(vehicle.text.utf8).withUnsafeBytes { unsafe keys.find($0) }
    }
    /// The readings of the car's open minute that are in memory, by time, one a time.
    public mutating func openReadings(_ number: Int) -> [CarReading] {
        readBag(number, prefix: .max)
        return readings
    }

    /// Where the next owner of the partition has to begin reading, and the clock at that place.
    public var replayFrom: (offset: Int64, clockMs: Int64) { replay }

    // MARK: Cycles

    /// The rows were handed over: the next cycle begins.
    public mutating func clearRows() {
        rows.forEachCar { number in
            (cars[number].minuteRow, cars[number].tripRow, cars[number].dayRow) = (-1, -1, -1)
        }
        rows.clear()
    }
}

/// Where a partition of cars stands in the database.
public struct CarProgress: Equatable, Sendable {
    public var nextOffset: Int64
    /// Records from here to `nextOffset` may be needed again: some of them are in no row yet.
    public var replayFrom: Int64
    /// The partition's clock at `replayFrom`; 0 before the first tick.
    public var replayClockMs: Int64

    public init(nextOffset: Int64, replayFrom: Int64, replayClockMs: Int64) {
        (self.nextOffset, self.replayFrom, self.replayClockMs) = (nextOffset, replayFrom, replayClockMs)
    }
}
