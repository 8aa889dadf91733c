internal import Basics
internal import Codecs
internal import Fleet

/// Counts sharp accelerations and brakings: for each speed reading at t the change over the second before it,
/// v(t) − v(t − 1 s), with v(t − 1 s) by linear interpolation inside the run. Readings beyond the limit form an
/// event; stretches whose nearest readings are at most `mergeMs` apart are one event. The rule and its reference
/// counts stand beside the recorded drives (obd-*/README.md). Exact in integers; only peaks are divided. The least speed
/// and the hold time of the rules leave more out.
struct SharpEvents: Equatable, Sendable {
    /// One second of readings, at most one a millisecond, and the one before it.
    private static let windowMax: UInt64 = 1_002

    private struct Speed: Equatable { var ts: Int64, metresPerHour: Int64 }
    private struct Side: Equatable {
        var lastSharpTs: Int64?
        /// The beginning of the present stretch; nil when the last reading was not sharp.
        var stretchTs: Int64?
        /// The event that the last stretch belongs to was counted.
        var isCounted = false

        /// True when an event counts from this reading on: the first, or the first after the hold time.
        mutating func observe(_ isSharp: Bool, ts: Int64, _ rules: TripRules) -> Bool {
            guard isSharp else {
                stretchTs = nil
                return false
            }
            if stretchTs == nil, lastSharpTs.map({ ts - $0 > rules.sharpMergeMs }) ?? true { isCounted = false }
            let begin = stretchTs ?? ts
            stretchTs = begin
            lastSharpTs = ts
            guard !isCounted, ts - begin >= rules.sharpHoldMs else { return false }
            isCounted = true
            return true
        }
    }

    /// The readings of the last second and the one before them: all that the next reading can ask for.
    private var window: [Speed] = []
    private var accelerating = Side()
    private var braking = Side()

    /// Forgets events too old to be merged with.
    mutating func forget(before ts: Int64) {
        if let last = accelerating.lastSharpTs, last < ts { accelerating = Side() }
        if let last = braking.lastSharpTs, last < ts { braking = Side() }
    }

    mutating func startRun() { window.removeAll(keepingCapacity: true) }

    mutating func observe(ts: Int64, metresPerHour: Int64, rules: TripRules, into totals: inout DriveTotals) {
        window.append(Speed(ts: ts, metresPerHour: metresPerHour))
        let change = changeOverOneSecond()
        if let change { SharpEvents.keepPeak(change, &totals) }
        let (by, unit) = change ?? (0, 1)
        let limit = rules.sharpMetresPerHour * unit
        let isFast = max(metresPerHour * unit, metresPerHour * unit - by) >= rules.sharpLeastMetresPerHour * unit
        if accelerating.observe(by > limit && isFast, ts: ts, rules) { totals.sharpAccelerations += 1 }
        if braking.observe(by < -limit && isFast, ts: ts, rules) { totals.sharpBrakings += 1 }
    }

    /// The change over one second in metres per hour, times `unit` (the length of the interval interpolated in).
    /// Nil in a run's first second.
    private mutating func changeOverOneSecond() -> (by: Int64, unit: Int64)? {
        let now = window[window.count - 1]
        let wanted = now.ts - 1_000
        guard let before = window.lastIndex(where: { $0.ts <= wanted }) else { return nil }
        window.removeFirst(before)
        let (a, b) = (window[0], window[1])
        let length = b.ts - a.ts
        let rise = (b.metresPerHour - a.metresPerHour) * (wanted - a.ts)
        return ((now.metresPerHour - a.metresPerHour) * length - rise, length)
    }

    /// m/h in a second are 1/3.6 mm/s². Divided only where it can be a new peak: most are none.
    private static func keepPeak(_ change: (by: Int64, unit: Int64), _ totals: inout DriveTotals) {
        let (scaled, unit) = (change.by * 10, change.unit * 36)
        if scaled > Int64(totals.maxAccelerationMmPerS2 ?? -1) * unit {
            totals.maxAccelerationMmPerS2 = Int32(clamping: Decimal.divided(max(0, scaled), by: unit))
        }
        if -scaled > Int64(totals.maxBrakingMmPerS2 ?? -1) * unit {
            totals.maxBrakingMmPerS2 = Int32(clamping: Decimal.divided(max(0, -scaled), by: unit))
        }
        totals.maxAccelerationMmPerS2 = totals.maxAccelerationMmPerS2 ?? 0
        totals.maxBrakingMmPerS2 = totals.maxBrakingMmPerS2 ?? 0
    }

    func pack(to out: inout [UInt8], before endMs: Int64) {
        out.appendVarint(UInt64(window.count))
        for speed in window {
            out.appendZigzag(endMs - speed.ts)
            out.appendZigzag(speed.metresPerHour)
        }
        for side in [accelerating, braking] {
            out.append(
                (side.isCounted ? 1 : 0) | (side.lastSharpTs == nil ? 0 : 2) | (side.stretchTs == nil ? 0 : 4))
            if let ts = side.lastSharpTs { out.appendZigzag(endMs - ts) }
            if let ts = side.stretchTs { out.appendZigzag(endMs - ts) }
        }
    }

    mutating func unpack(_ reader: inout VarintReader, before endMs: Int64) throws(DecodeError) {
        let count = try reader.varint()
        guard count <= SharpEvents.windowMax else { throw .packed("a window of \(count) readings") }
        window = []
        for _ in 0..<count {
            window.append(Speed(ts: try reader.time(before: endMs), metresPerHour: try reader.value()))
        }
        accelerating = try SharpEvents.side(&reader, endMs)
        braking = try SharpEvents.side(&reader, endMs)
    }

    private static func side(_ reader: inout VarintReader, _ endMs: Int64) throws(DecodeError) -> Side {
        let flags = try reader.byte()
        return Side(
            lastSharpTs: flags & 2 == 0 ? nil : try reader.time(before: endMs),
            stretchTs: flags & 4 == 0 ? nil : try reader.time(before: endMs), isCounted: flags & 1 != 0)
    }
}
