internal import Basics
internal import Codecs
internal import Fleet

/// The trip rules of one partition by the time from which they are in force (docs/decisions/0024). A trip is folded by
/// those of the time of its first reading; a part of a longer drive, by those of its border.
public struct TripRuleTimeline: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public let fromMs: Int64
        public let rules: TripRules
        public init(fromMs: Int64, rules: TripRules) { (self.fromMs, self.rules) = (fromMs, rules) }
    }

    /// Before the first entry.
    public let base: TripRules
    /// By time, one a time.
    public private(set) var entries: [Entry] = []

    /// Precondition for equal results: the entries of one partition, in any order.
    public init(base: TripRules, _ entries: some Sequence<Entry> = []) {
        precondition(base.fault == nil)
        self.base = base
        for entry in entries { insert(entry) }
    }

    /// The rules in force after the last change.
    public var last: TripRules { entries.last?.rules ?? base }

    /// In force at the time that a trip begins. Later times are asked for more often, and first looked at.
    public func inForce(at ts: Int64) -> TripRules {
        for entry in entries.reversed() where entry.fromMs <= ts { return entry.rules }
        return base
    }

    /// The longest silence of all sets that end a trip.
    public var longestGapMs: Int64 { entries.reduce(base.tripGapMs) { max($0, $1.rules.tripGapMs) } }

    /// The shortest and the longest silence that can end a trip whose last reading is at `endMs`: no trip is longer than two days.
    public func gapsMs(ofTripTo endMs: Int64) -> ClosedRange<Int64> {
        let startMs = endMs - Trip.lengthMsMax
        guard let newest = entries.last, newest.fromMs > startMs else { return last.tripGapMs...last.tripGapMs }
        let first = inForce(at: startMs).tripGapMs
        var gaps = first...first
        for entry in entries.reversed() {
            guard entry.fromMs > startMs else { break }
            guard entry.fromMs <= endMs else { continue }
            let gap = entry.rules.tripGapMs
            gaps = min(gaps.lowerBound, gap)...max(gaps.upperBound, gap)
        }
        return gaps
    }

    /// Trips that readings of this span can touch, or be touched by, are no further away from it: the longest silence of the sets
    /// under which such a trip can have begun.
    public func reachMs(from fromMs: Int64, to toMs: Int64) -> Int64 {
        var (reach, beginMs) = (Int64(0), Int64.min)
        for index in 0...entries.count {
            let gap = (index == 0 ? base : entries[index - 1].rules).tripGapMs
            let endMs = index < entries.count ? entries[index].fromMs : .max
            if beginMs <= toMs, endMs > fromMs - Trip.lengthMsMax - gap { reach = max(reach, gap) }
            beginMs = endMs
        }
        return reach
    }

    /// From when a set that was pushed then can be in force: a reading of that time cannot be on the log before it.
    public static func leastMs(pushedMs: Int64) -> Int64 {
        min(pushedMs, UTC.plausible.upperBound) + DecodeError.aheadMsMax
    }

    /// False: it changes nothing. Of two sets of one time the one whose limits are greater counts, compared in the order in
    /// which their record has them.
    @discardableResult
    public mutating func insert(_ entry: Entry) -> Bool {
        precondition(entry.rules.fault == nil)
        let index = entries.firstIndex { $0.fromMs >= entry.fromMs } ?? entries.count
        if index < entries.count, entries[index].fromMs == entry.fromMs {
            guard entries[index].rules.limits.values.lexicographicallyPrecedes(entry.rules.limits.values) else {
                return false
            }
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
        return true
    }
}
