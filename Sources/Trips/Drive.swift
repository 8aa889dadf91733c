public import Fleet
package import Wire

/// One minute of a vehicle that holds readings, or, where drivers' marks cut it, a stretch of one (see `TripCuts`).
public struct VehicleMinute: Equatable, Sendable {
    /// The start of the stretch: of the minute, or the cut.
    public var startMs: Int64
    public var tripStartMs: Int64
    public var totals: DriveTotals
    public var readings: [CarReading]

    public init(startMs: Int64, tripStartMs: Int64, totals: DriveTotals, readings: [CarReading]) {
        (self.startMs, self.tripStartMs, self.totals, self.readings) = (startMs, tripStartMs, totals, readings)
    }
}

/// All readings between two silences longer than the trip gap, or two cuts.
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

/// The drive of one vehicle, minute by minute in the order of time. The live path, the late path and the offline
/// commands all run through this one type, so their rows cannot differ.
public struct Drive: Equatable, Sendable {
    private let rules: TripRules
    private var fold: MinuteFold
    /// The trip that the last minute belongs to, that minute included; nil before the first.
    public private(set) var trip: Trip?

    public init(rules: TripRules) {
        precondition(rules.fault == nil)
        self.rules = rules
        fold = MinuteFold(rules: rules)
    }

    /// Adds the next stretch that holds readings. Returns its sums and, when a silence or a cut ended the trip before it,
    /// that trip. `isCut`: a cut lies between the readings so far and these.
    ///
    /// Precondition: `readings` is not empty, sorted, one reading a time, all of one stretch, later than all before.
    public mutating func add(minute readings: [CarReading], isCut: Bool) -> (totals: DriveTotals, ended: Trip?) {
        let (first, last) = (readings[0].ts, readings[readings.count - 1].ts)
        var ended: Trip?
        if let trip, isCut || first - trip.endMs > rules.tripGapMs {
            ended = trip
            self = Drive(rules: rules)
        }
        precondition(trip.map { $0.endMs < first } ?? true)
        fold.startMinute()
        for index in readings.indices { fold.add(readings[index]) }
        let totals = fold.minute
        trip = Trip(
            startMs: trip?.startMs ?? first, endMs: last, totals: trip.map { $0.totals + totals } ?? totals)
        return (totals, ended)
    }

    /// Minutes and trips of a whole set of readings, and the drive as it stands after the last of them.
    /// Precondition: `readings` is sorted, one reading a time (`unioned()`).
    public static func whole(
        _ readings: [CarReading], cuts: TripCuts = TripCuts(), rules: TripRules
    ) -> (minutes: [VehicleMinute], trips: [Trip], drive: Drive) {
        var drive = Drive(rules: rules)
        var (minutes, trips): ([VehicleMinute], [Trip]) = ([], [])
        var rest = readings[...]
        while let first = rest.first {
            let stretch = cuts.stretch(at: first.ts)
            let minute = Array(rest.prefix { $0.ts < stretch.upperBound })
            rest = rest.dropFirst(minute.count)
            let isCut = drive.trip.map { cuts.separate($0.endMs, first.ts) } ?? false
            let (totals, ended) = drive.add(minute: minute, isCut: isCut)
            if let ended { trips.append(ended) }
            minutes.append(
                VehicleMinute(
                    startMs: stretch.lowerBound, tripStartMs: drive.trip!.startMs, totals: totals, readings: minute))
        }
        if let trip = drive.trip { trips.append(trip) }
        return (minutes, trips, drive)
    }
}

/// The drive as bytes, for the database and for memory: version 2, the rules left out, LEB128 varints and zigzag
/// integers. Times inside are counted back from the trip's end.
extension Drive {
    private static let version: UInt8 = 2

    package func pack(to out: inout [UInt8]) {
        out.append(Drive.version)
        guard let trip else {
            out.append(0)
            return
        }
        out.append(1)
        out.appendZigzag(trip.endMs)
        out.appendVarint(UInt64(trip.endMs - trip.startMs))
        trip.totals.pack(to: &out)
        fold.pack(to: &out, before: trip.endMs)
    }

    package init(_ reader: inout VarintReader, rules: TripRules) throws(DecodeError) {
        self.init(rules: rules)
        guard try reader.byte() == Drive.version else { throw .packed("unknown version of a drive") }
        guard try reader.byte() == 1 else { return }
        let endMs = try reader.time()
        let length = try reader.varint()
        guard length <= UInt64(UTC.plausible.upperBound) else { throw .packed("an impossible time") }
        trip = Trip(startMs: endMs - Int64(length), endMs: endMs, totals: try DriveTotals(&reader))
        try fold.unpack(&reader, before: endMs)
    }
}

extension DriveTotals {
    package func pack(to out: inout [UInt8]) {
        var (mask, bit): (UInt64, UInt64) = (0, 1)
        func mark(_ value: Int64?) {
            if let value, value != 0 { mask |= bit }
            bit <<= 1
        }
        visit(narrow: mark, wide: mark)
        // Zero and unknown are told apart by a second mask; most states have neither.
        var (zeros, zeroBit): (UInt64, UInt64) = (0, 1)
        func markZero(_ value: Int64?) {
            if value == 0 { zeros |= zeroBit }
            zeroBit <<= 1
        }
        visit(narrow: markZero, wide: markZero)
        out.appendVarint(mask)
        out.appendVarint(zeros)
        func put(_ value: Int64?) { if let value, value != 0 { out.appendZigzag(value) } }
        visit(narrow: put, wide: put)
    }

    package init(_ reader: inout VarintReader) throws(DecodeError) {
        let mask = try reader.varint()
        let zeros = try reader.varint()
        var bit: UInt64 = 1
        try self.init { () throws(DecodeError) -> Int64? in
            defer { bit <<= 1 }
            if mask & bit != 0 { return try reader.zigzag() }
            return zeros & bit != 0 ? 0 : nil
        }
    }
}

extension VarintReader {
    /// A time that a reading may carry: spans are counted from it and must not overflow.
    package mutating func time() throws(DecodeError) -> Int64 {
        let ts = try zigzag()
        guard UTC.plausible.contains(ts) else { throw .packed("an impossible time") }
        return ts
    }
}
