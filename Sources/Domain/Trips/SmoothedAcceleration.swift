internal import Basics
internal import Codecs

/// Acceleration that hardly depends on how often speed was read: the mean speeds of two seconds and of the two seconds
/// before them, taken at each whole second, two seconds apart. Their squares, summed over time, are the severity of
/// accelerating and of braking. Means are integrals of the speed between the readings, so a faster logger adds detail
/// and no noise of its own; docs/decisions/0009 has the figures.
struct SmoothedAcceleration: Equatable, Sendable {
    private static let stepMs: Int64 = 1_000

    // Twice the integrals of speed over whole seconds of the run, in m/h times milliseconds, the newest first.
    private var seconds: (Int64, Int64, Int64) = (0, 0, 0)
    private var count = 0
    /// The integral over the current second, from its start; nil until the run has passed the start of one.
    private var second: Int64?

    mutating func startRun() { (count, second) = (0, nil) }

    /// Speed went evenly from `a` to `b`.
    mutating func advance(from a: LastValue, to b: LastValue, into totals: inout DriveTotals) {
        let length = b.ts - a.ts
        var (done, area) = (Int64(0), Int64(0))
        var edge = (a.ts / SmoothedAcceleration.stepMs + 1) * SmoothedAcceleration.stepMs
        // A reading on the edge itself begins the second, as the run's first reading may.
        if second == nil, a.ts % SmoothedAcceleration.stepMs == 0 { second = 0 }
        while edge <= b.ts {
            done = edge - a.ts
            // Twice the area since `a`, rounded once, so that the pieces add up to the whole.
            let next = 2 * a.value * done + Decimal.divided((b.value - a.value) * done * done, by: length)
            if let second { end(second + next - area, &totals) }
            second = 0
            area = next
            edge += SmoothedAcceleration.stepMs
        }
        if let begun = second { second = begun + (a.value + b.value) * length - area }
    }

    private mutating func end(_ now: Int64, _ totals: inout DriveTotals) {
        defer { (seconds, count) = ((now, seconds.0, seconds.1), min(3, count + 1)) }
        guard count == 3 else { return }
        // Twice an integral over 2 s is 4,000 times the mean in m/h; over 2 s, and from m/h to mm/s: 28,800.
        let acceleration = Decimal.divided(now + seconds.0 - seconds.1 - seconds.2, by: 28_800)
        let square = acceleration * acceleration
        totals.accelerationMm2PerS3 = (totals.accelerationMm2PerS3 ?? 0) + (acceleration > 0 ? square : 0)
        totals.brakingMm2PerS3 = (totals.brakingMm2PerS3 ?? 0) + (acceleration < 0 ? square : 0)
    }

    static func == (a: SmoothedAcceleration, b: SmoothedAcceleration) -> Bool {
        a.count == b.count && a.second == b.second && (a.count == 0 || a.seconds == b.seconds)
    }

    func pack(to out: inout [UInt8]) {
        out.append(UInt8(count) << 1 | (second == nil ? 0 : 1))
        for value in [seconds.0, seconds.1, seconds.2].prefix(count) { out.appendVarint(UInt64(value)) }
        if let second { out.appendVarint(UInt64(second)) }
    }

    mutating func unpack(_ reader: inout VarintReader) throws(DecodeError) {
        let head = try reader.byte()
        guard head >> 1 <= 3 else { throw .packed("too many seconds") }
        count = Int(head >> 1)
        if count > 0 { seconds.0 = try area(&reader) }
        if count > 1 { seconds.1 = try area(&reader) }
        if count > 2 { seconds.2 = try area(&reader) }
        second = head & 1 == 0 ? nil : try area(&reader)
    }

    /// Twice what a second can hold: 400 km/h.
    private func area(_ reader: inout VarintReader) throws(DecodeError) -> Int64 {
        let value = try reader.varint()
        guard value <= 800_000_000 else { throw .packed("an impossible speed") }
        return Int64(value)
    }
}
