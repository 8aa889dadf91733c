internal import Basics
package import Codecs
public import Fleet

/// One minute of a vehicle that holds readings, or, where drivers' marks cut it, a stretch of one (see `TripCuts`).
public struct VehicleMinute: Equatable, Sendable {
    /// The start of the stretch: of the minute, or the cut.
    public var startMs: Int64
    public var tripStartMs: Int64
    public var totals: DriveTotals
    public var readings: [CarReading]

    public init(startMs: Int64, tripStartMs: Int64, totals: DriveTotals, readings: [CarReading]) {
        self.startMs = startMs
        self.tripStartMs = tripStartMs
        self.totals = totals
        self.readings = readings
    }
}

/// All readings between two silences longer than the trip gap, or two cuts; of a drive that runs for a day or longer, a
/// part of it between two borders (docs/decisions/0023).
public struct Trip: Equatable, Sendable {
    /// Time of the first reading; where it is from before, the border.
    public var startMs: Int64
    /// Time of the last reading; where it goes on, the border.
    public var endMs: Int64
    public var totals: DriveTotals
    /// The drive began earlier: the trip before it goes on in this one.
    public var isFromBefore = false
    /// The drive runs on in the next trip.
    public var goesOn = false
    /// The state before its first minute when the trip began earlier: `MinuteFold` at the border, packed. Empty: not known.
    public var carry: [UInt8] = []

    public init(startMs: Int64, endMs: Int64, totals: DriveTotals) {
        self.startMs = startMs
        self.endMs = endMs
        self.totals = totals
    }

    /// Between its first reading and the border after it.
    static let lengthMsMax = 2 * UTC.msPerDay

    /// The first 00:00 UTC at which it has run for a day: what is read from there on is in another trip.
    public var borderMs: Int64 { UTC.day(of: startMs + 2 * UTC.msPerDay - 1) }

    public var segments: Int64 { totals.speedReadings == 0 ? 0 : totals.holes + 1 }
}

/// The drive of one vehicle, minute by minute in the order of time. The live path, the late path and the offline
/// commands all run through this one type, so their rows cannot differ.
public struct Drive: Equatable, Sendable {
    private let rules: TripRuleTimeline
    private var fold: MinuteFold
    /// The trip that the last minute belongs to, that minute included; nil before the first.
    public private(set) var trip: Trip?
    /// A trip from before whose first minute is the next.
    private var begun: Trip?

    public init(rules: TripRuleTimeline) {
        self.rules = rules
        fold = MinuteFold(rules: rules.base)
    }
    /// A drive that stands at a border: its next minute is the first of `part`, which is from before.
    ///
    /// - Parameter before: the readings of the trip that ends at the border, where no carry was kept.
    package init(resuming part: Trip, before: [CarReading] = [], rules: TripRuleTimeline) throws(DecodeError) {
        precondition(part.isFromBefore)
        self.init(rules: rules)
        if part.carry.isEmpty {
            // Only of parts from before there were sets to be in force.
            if let first = before.first { fold.rules = rules.inForce(at: first.ts) }
            for reading in before { fold.add(reading) }
            fold.forget(before: .min)
        } else {
            var reader = VarintReader(part.carry)
            try fold.unpack(&reader, before: part.startMs, isFromBefore: true)
            guard reader.atEnd else { throw .packed("bytes after the end") }
        }
        begin(at: part.startMs)
    }

    /// The same of a part whose carry may be unreadable: it is made anew then.
    public static func resumed(_ part: Trip, before: [CarReading] = [], rules: TripRuleTimeline) -> Drive {
        if let drive = try? Drive(resuming: part, before: before, rules: rules) { return drive }
        var bare = part
        bare.carry = []
        guard let drive = try? Drive(resuming: bare, before: before, rules: rules) else {
            preconditionFailure("there is no carry to be read")
        }
        return drive
    }

    /// Adds the next stretch that holds readings. Returns its sums and, when a silence, a cut or a border ended the trip
    /// before it, that trip. `isCut`: a cut lies between the readings so far and these.
    ///
    /// Precondition: `readings` is not empty, sorted, one reading a time, all of one stretch, later than all before.
    public mutating func add(minute readings: [CarReading], isCut: Bool) -> (totals: DriveTotals, ended: Trip?) {
        let (first, last) = (readings[0].ts, readings[readings.count - 1].ts)
        precondition(trip.map { $0.endMs < first } ?? true)
        let ended = end(before: first, isCut: isCut)
        if trip == nil, begun == nil { fold.rules = rules.inForce(at: first) }
        fold.startMinute()
        for index in readings.indices { fold.add(readings[index]) }
        let totals = fold.minute
        var now = trip ?? begun ?? Trip(startMs: first, endMs: last, totals: DriveTotals())
        now.endMs = last
        now.totals = now.totals + totals
        trip = now
        begun = nil
        return (totals, ended)
    }

    /// Ends the trip when a reading at `ts` is of another one, and returns it.
    private mutating func end(before ts: Int64, isCut: Bool) -> Trip? {
        guard var ended = trip else { return nil }
        if isCut || ts - ended.endMs > fold.rules.tripGapMs {
            self = Drive(rules: rules)
        } else if ts >= ended.borderMs {
            fold.forget(before: ended.startMs)
            ended.endMs = ended.borderMs
            ended.goesOn = true
            begin(at: UTC.day(of: ts))
        } else {
            return nil
        }
        return ended
    }

    private mutating func begin(at borderMs: Int64) {
        var part = Trip(startMs: borderMs, endMs: borderMs, totals: DriveTotals())
        part.isFromBefore = true
        fold.pack(to: &part.carry, before: borderMs, isFromBefore: true)
        fold.rules = rules.inForce(at: borderMs)
        trip = nil
        begun = part
    }

    /// The trip when the drive continues in a part that begins at `borderMs`, and the state that the part begins with. Nil: there is no
    /// border of it.
    public func crossing(_ borderMs: Int64) -> (ended: Trip, carry: [UInt8])? {
        var drive = self
        guard let trip, trip.endMs < borderMs, let ended = drive.end(before: borderMs, isCut: false), ended.goesOn,
            let begun = drive.begun
        else { return nil }
        return (ended, begun.carry)
    }

    /// Minutes and trips of a set of readings, and the drive as it stands after the last of them.
    /// Precondition: `readings` is sorted, one reading a time (`unioned()`).
    ///
    /// - Parameter start: nil: the readings are all that there are.
    public static func whole(
        _ readings: [CarReading], cuts: TripCuts = TripCuts(), from start: Drive? = nil,
        rules: TripRuleTimeline
    ) -> (minutes: [VehicleMinute], trips: [Trip], drive: Drive) {
        var drive = start ?? Drive(rules: rules)
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

    /// The same by one set of rules.
    public static func whole(
        _ readings: [CarReading], cuts: TripCuts = TripCuts(), rules: TripRules
    ) -> (minutes: [VehicleMinute], trips: [Trip], drive: Drive) {
        whole(readings, cuts: cuts, rules: TripRuleTimeline(base: rules))
    }
}

/// The drive as bytes, for the database and for memory: the rules left out, LEB128 varints and zigzag integers. Times
/// inside are counted back from the trip's end. Version 2; version 3 where the trip is from before, so that all others
/// can be read by who knows only version 2.
extension Drive {
    private static let version: UInt8 = 2
    private static let fromBeforeVersion: UInt8 = 3

    package func pack(to out: inout [UInt8]) {
        precondition(begun == nil, "stands at a border")
        guard let trip else { return out.append(contentsOf: [Drive.version, 0]) }
        out.append(contentsOf: [trip.isFromBefore ? Drive.fromBeforeVersion : Drive.version, 1])
        out.appendZigzag(trip.endMs)
        out.appendVarint(UInt64(trip.endMs - trip.startMs))
        trip.totals.pack(to: &out)
        fold.pack(to: &out, before: trip.endMs, isFromBefore: trip.isFromBefore)
        guard trip.isFromBefore else { return }
        out.appendVarint(UInt64(trip.carry.count))
        out.append(contentsOf: trip.carry)
    }

    package init(_ reader: inout VarintReader, rules: TripRuleTimeline) throws(DecodeError) {
        self.init(rules: rules)
        let version = try reader.byte()
        guard version == Drive.version || version == Drive.fromBeforeVersion else {
            throw .packed("unknown version of a drive")
        }
        guard try reader.byte() == 1 else { return }
        let endMs = try reader.time()
        let length = try reader.varint()
        guard length <= UInt64(UTC.plausible.upperBound) else { throw .packed("an impossible time") }
        var trip = Trip(startMs: endMs - Int64(length), endMs: endMs, totals: try DriveTotals(&reader))
        trip.isFromBefore = version == Drive.fromBeforeVersion
        fold.rules = rules.inForce(at: trip.startMs)
        try fold.unpack(&reader, before: endMs, isFromBefore: trip.isFromBefore)
        if trip.isFromBefore {
            let count = try reader.varint()
            guard count <= UInt64(Drive.carryBytesMax) else { throw .packed("\(count) bytes of a carry") }
            for _ in 0..<count { trip.carry.append(try reader.byte()) }
        }
        self.trip = trip
    }

    /// A second of speeds at a millisecond each, and what else there is.
    private static let carryBytesMax = 32_768

    /// The same drive in a trip that begins where its row says: an upgrade cut it, and the packed drive
    /// still is the whole.
    package mutating func cut(at startMs: Int64, totals: DriveTotals) {
        guard var trip, trip.startMs < startMs else { return }
        trip.startMs = startMs
        trip.totals = totals
        trip.isFromBefore = true
        fold.rules = rules.inForce(at: startMs)
        self.trip = trip
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
