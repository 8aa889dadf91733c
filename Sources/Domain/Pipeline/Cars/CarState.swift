internal import Basics
internal import Codecs
internal import Fleet
internal import Trips

/// The state that a car's later minutes depend on: its drive so far and the sums of its UTC day so far. Packed it is kept in
/// memory and, beside the latest trip, in the database: a worker that takes over begins from it.
struct CarState: Equatable {
    var drive: Drive
    var dayMs: Int64 = 0
    var day = DriveTotals()
    /// Records of this car with a smaller offset are in the database.
    var nextOffset: Int64 = 0

    init(rules: TripRuleTimeline) { drive = Drive(rules: rules) }

    /// Adds a stretch; returns its sums and the trip that it, or a cut before it, ended.
    mutating func add(minute readings: [CarReading], cuts: TripCuts?) -> (totals: DriveTotals, ended: Trip?) {
        var isCut = false
        if let cuts, let trip = drive.trip { isCut = cuts.separate(trip.endMs, readings[0].ts) }
        let added = drive.add(minute: readings, isCut: isCut)
        let dayMs = UTC.day(of: readings[0].ts)
        if dayMs != self.dayMs { (self.dayMs, day) = (dayMs, DriveTotals()) }
        day = day + added.totals
        return added
    }

    func pack(to out: inout [UInt8]) {
        out.appendVarint(UInt64(nextOffset))
        out.appendZigzag(dayMs)
        day.pack(to: &out)
        drive.pack(to: &out)
    }

    init(_ bytes: [UInt8], rules: TripRuleTimeline) throws(DecodeError) {
        var reader = VarintReader(bytes)
        self.init(rules: rules)
        nextOffset = Int64(try reader.varint() & UInt64(Int64.max))
        dayMs = try reader.zigzag()
        day = try DriveTotals(&reader)
        drive = try Drive(&reader, rules: rules)
        guard reader.atEnd else { throw .packed("bytes after the end") }
    }
}
