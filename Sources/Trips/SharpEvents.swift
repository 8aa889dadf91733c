/// Counts sharp accelerations and brakings: for each speed reading at t the change over the second before it,
/// v(t) − v(t − 1 s), with v(t − 1 s) by linear interpolation inside the run. Readings beyond the limit form an
/// event; stretches whose nearest readings are at most `mergeMs` apart are one event. The rule and its reference
/// counts stand beside the recorded drives (obd-*/README.md). Exact in integers: nothing is divided.
struct SharpEvents: Equatable, Sendable {
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
}
