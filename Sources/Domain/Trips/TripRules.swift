public import Codecs

/// The limits that trips are computed with. Defaults are those of the specification for cars.
public struct TripRules: Equatable, Sendable {
    /// Readings of a signal further apart than this are not bridged: the interval is a hole.
    public var gapMs: Int64 = 10_000
    /// A silence longer than this ends a trip.
    public var tripGapMs: Int64 = 300_000
    /// A change of speed over one second beyond this is sharp, in mm/s².
    public var sharpMmPerS2: Int64 = 3_000
    /// Sharp stretches at most this far apart are one event.
    public var sharpMergeMs: Int64 = 1_000
    /// The larger of two speeds a second apart must reach this for a change to be sharp, in metres per hour.
    public var sharpLeastMetresPerHour: Int64 = 0
    /// A stretch counts once it has been sharp for this long.
    public var sharpHoldMs: Int64 = 0

    public init() {}

    /// The fault of these limits, or nil. No silence ends a trip inside a minute, because two readings of one minute are less than
    /// `tripGapMs` apart; the minute rows rest on that.
    public var fault: String? {
        if gapMs < 1_000 || gapMs > 600_000 { return "the hole limit is \(gapMs) ms, must be 1 s to 600 s" }
        if tripGapMs < 60_000 || tripGapMs > 6_000_000_000 {
            return "the trip gap is \(tripGapMs) ms, must be 1 min to 100000 min"
        }
        if sharpMmPerS2 < 500 || sharpMmPerS2 > 20_000 {
            return "the sharp limit is \(sharpMmPerS2) mm/s², must be 500 to 20000"
        }
        if sharpHoldMs < 0 || sharpHoldMs > 10_000 {
            return "a sharp stretch is held for \(sharpHoldMs) ms, must be 0 to 10000 ms"
        }
        if sharpMergeMs < 0 || sharpMergeMs > 60_000 {
            return "sharp stretches are merged within \(sharpMergeMs) ms, must be 0 to 60000 ms"
        }
        if sharpLeastMetresPerHour < 0 || sharpLeastMetresPerHour > 200_000 {
            return "the least speed of a sharp change is \(sharpLeastMetresPerHour) m/h, must be 0 to 200000"
        }
        if gapMs > tripGapMs { return "the hole limit (\(gapMs) ms) is longer than the trip gap (\(tripGapMs) ms)" }
        return nil
    }

    /// The sharp limit as a change of speed over one second, in metres per hour.
    var sharpMetresPerHour: Int64 { sharpMmPerS2 * 3_600 / 1_000 }
}

extension TripRules {
    /// The content of a record of kind `trip_rules`.
    public init(_ limits: TripLimits) throws(DecodeError) {
        self.init()
        gapMs = limits.gapMs
        tripGapMs = limits.tripGapMs
        sharpMmPerS2 = limits.sharpMmPerS2
        sharpMergeMs = limits.sharpMergeMs
        sharpLeastMetresPerHour = limits.sharpLeastMetresPerHour
        sharpHoldMs = limits.sharpHoldMs
        if let fault { throw .tripRules(fault) }
    }

    public var limits: TripLimits {
        TripLimits(
            gapMs: gapMs, tripGapMs: tripGapMs, sharpMmPerS2: sharpMmPerS2, sharpMergeMs: sharpMergeMs,
            sharpLeastMetresPerHour: sharpLeastMetresPerHour, sharpHoldMs: sharpHoldMs)
    }
}
