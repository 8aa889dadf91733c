public import Codecs

/// The rule sets that a partition knows, by the time from which they are in force. A set is known once its record was
/// read, and then it judges all readings of its time, also those that were read before it.
public struct RuleTimeline: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public let inForceMs: Int64
        public let rules: RuleSet
        public init(inForceMs: Int64, rules: RuleSet) { (self.inForceMs, self.rules) = (inForceMs, rules) }

        /// A record of kind `rules`.
        public init(fromMs: Int64, version: String, text: String) throws(DecodeError) {
            self.init(inForceMs: fromMs, rules: try RuleSet(text: text))
            guard rules.version == version else { throw .rules("its version is \(rules.version)") }
        }
    }

    /// The readings that are judged by other rules than before.
    public struct Effect: Equatable, Sendable {
        public let fromMs: Int64
        /// Nil: no end.
        public let untilMs: Int64?
        public init(fromMs: Int64, untilMs: Int64?) { (self.fromMs, self.untilMs) = (fromMs, untilMs) }
    }

    /// By time, one a time.
    public private(set) var entries: [Entry] = []

    public init() {}
    /// Precondition for equal results: the entries of one partition's records, in any order.
    public init(_ entries: some Sequence<Entry>) { for entry in entries { _ = insert(entry) } }
    /// One set for all times.
    public init(always rules: RuleSet) { entries = [Entry(inForceMs: .min, rules: rules)] }

    /// The set in force at a reading's own time. Readings from before the first set are judged by the first; without
    /// any set nothing is judged.
    public func inForce(at ts: Int64) -> RuleSet {
        guard let first = entries.first else { return .empty }
        return entries.last { $0.inForceMs <= ts }?.rules ?? first.rules
    }

    /// Nil when every reading is judged as before. Of two sets of one time the one whose version sorts last counts.
    public mutating func insert(_ entry: Entry) -> Effect? {
        let index = entries.firstIndex { $0.inForceMs >= entry.inForceMs } ?? entries.count
        var before = index > 0 ? entries[index - 1].rules : entries.first?.rules
        if index < entries.count, entries[index].inForceMs == entry.inForceMs {
            guard entries[index].rules.version < entry.rules.version else { return nil }
            before = entries[index].rules
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
        guard before != entry.rules else { return nil }
        let next = index + 1 < entries.count ? entries[index + 1].inForceMs : nil
        return Effect(fromMs: index == 0 ? .min : entry.inForceMs, untilMs: next)
    }
}
