internal import Fleet
internal import Wire

/// Counts sharp accelerations and brakings: for each speed reading at t the change over the second before it,
/// v(t) − v(t − 1 s), with v(t − 1 s) by linear interpolation inside the run. Readings beyond the limit form an
/// event; stretches whose nearest readings are at most `mergeMs` apart are one event. The rule and its reference
/// counts stand beside the recorded drives (obd-*/README.md). Exact in integers: nothing is divided.
struct SharpEvents: Equatable, Sendable {
    /// One second of readings, at most one a millisecond, and the one before it.
    private static let windowMax: UInt64 = 1_002

    private struct Speed: Equatable { var ts: Int64, metresPerHour: Int64 }
    private struct Side: Equatable {
        var lastSharpTs: Int64?
        var lastWasSharp = false

        /// True when this reading opens a new event.
        mutating func observe(_ isSharp: Bool, ts: Int64, mergeMs: Int64) -> Bool {
            defer { lastWasSharp = isSharp }
            guard isSharp else { return false }
            defer { lastSharpTs = ts }
            if lastWasSharp { return false }
            guard let lastSharpTs else { return true }
            return ts - lastSharpTs > mergeMs
        }
    }

    /// The readings of the last second and the one before them: all that the next reading can ask for.
    private var window: [Speed] = []
    private var accelerating = Side()
    private var braking = Side()

    mutating func startRun() { window.removeAll(keepingCapacity: true) }

    mutating func observe(
        ts: Int64, metresPerHour: Int32, rules: TripRules
    ) -> (acceleration: Bool, braking: Bool) {
        window.append(Speed(ts: ts, metresPerHour: Int64(metresPerHour)))
        let (change, unit) = changeOverOneSecond()
        let limit = rules.sharpMetresPerHour * unit
        return (
            accelerating.observe(change > limit, ts: ts, mergeMs: rules.sharpMergeMs),
            braking.observe(change < -limit, ts: ts, mergeMs: rules.sharpMergeMs)
        )
    }

    /// The change over one second in metres per hour, times `unit` (the length of the interval interpolated in).
    /// In a run's first second there is none: 0.
    private mutating func changeOverOneSecond() -> (change: Int64, unit: Int64) {
        let now = window[window.count - 1]
        let wanted = now.ts - 1_000
        guard let before = window.lastIndex(where: { $0.ts <= wanted }) else { return (0, 1) }
        window.removeFirst(before)
        let (a, b) = (window[0], window[1])
        let length = b.ts - a.ts
        let rise = (b.metresPerHour - a.metresPerHour) * (wanted - a.ts)
        return ((now.metresPerHour - a.metresPerHour) * length - rise, length)
    }

    func pack(to out: inout [UInt8], before endMs: Int64) {
        out.appendVarint(UInt64(window.count))
        for speed in window {
            out.appendZigzag(endMs - speed.ts)
            out.appendZigzag(speed.metresPerHour)
        }
        for side in [accelerating, braking] {
            out.append((side.lastWasSharp ? 1 : 0) | (side.lastSharpTs == nil ? 0 : 2))
            if let ts = side.lastSharpTs { out.appendZigzag(endMs - ts) }
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
            lastSharpTs: flags & 2 == 0 ? nil : try reader.time(before: endMs), lastWasSharp: flags & 1 != 0)
    }
}

extension VarintReader {
    /// A time counted back from `endMs`.
    mutating func time(before endMs: Int64) throws(DecodeError) -> Int64 {
        let (ts, overflow) = endMs.subtractingReportingOverflow(try zigzag())
        guard !overflow, UTC.plausible.contains(ts) else { throw .packed("an impossible time") }
        return ts
    }

    /// A stored value: sums over a minute of them must not overflow.
    mutating func value() throws(DecodeError) -> Int64 {
        let value = try zigzag()
        guard Int32(exactly: value) != nil else { throw .packed("a value out of range") }
        return value
    }
}
