public import Fleet

/// What the installation has set for every car at the times at which no account answers for it: nobody uploads for it, is
/// assigned to it or owns it. Settings like an account's, of a name that no account has, in force from their record's own time on;
/// before the first nobody's limits apply.
///
/// A partition may have a million cars, so a record does not count for all of them at once: it comes to one after the other, in the
/// order of their names, some at each tick. One record after the other does so.
public struct InstallationLimits: Equatable, Sendable {
    /// `drover.account` takes none of this name (0071_installation_limits.sql).
    public static let account = "installation"

    /// To which cars a record has come.
    public enum Reach: Equatable, Sendable {
        /// To those up to this one; nil: to none.
        case upTo(VehicleID?)
        /// To all, at the tick with this offset.
        case all(offset: Int64)
    }

    /// What a record says.
    public struct Entry: Equatable, Sendable {
        public let inForceMs: Int64
        public let id: String
        public let settings: DriverSettings
        public let offset: Int64
        /// Readings before it are not judged again, though the settings are older: a part of them may be deleted.
        public let fromMs: Int64
        public var reach: Reach

        public init(
            inForceMs: Int64, id: String, settings: DriverSettings, offset: Int64, fromMs: Int64,
            reach: Reach = .upTo(nil)
        ) {
            self.inForceMs = inForceMs
            self.id = id
            self.settings = settings
            self.offset = offset
            self.fromMs = fromMs
            self.reach = reach
        }

        var isEverywhere: Bool { if case .all = reach { true } else { false } }
    }

    /// One a time, in the order of their records.
    public private(set) var entries: [Entry]
    /// What cars are judged by to which the record on its way has come, and what the others are.
    private var reached, others: DriverRules?

    /// - Parameter entries: in any order; one a time.
    public init(_ entries: [Entry] = []) {
        self.entries = entries.sorted { ($0.offset, $0.inForceMs) < ($1.offset, $1.inForceMs) }
        combine()
    }

    /// What is on its way.
    public var spreading: Entry? { entries.first { !$0.isEverywhere } }

    /// Nil: nothing was ever set, as far as the car knows.
    public func rules(of vehicle: VehicleID) -> DriverRules? {
        guard case .upTo(let last)? = spreading?.reach else { return reached }
        return last.map { vehicle <= $0 } ?? false ? reached : others
    }

    public enum Taken { case known, added, replaced }

    /// Of two records of one time the one with the greater id counts.
    public mutating func take(_ entry: Entry) -> Taken {
        let index = entries.firstIndex { $0.inForceMs == entry.inForceMs }
        if let index {
            guard entries[index].id.utf8.lexicographicallyPrecedes(entry.id.utf8) else { return .known }
            entries.remove(at: index)
        }
        entries.append(entry)
        combine()
        return index == nil ? .added : .replaced
    }

    /// The record on its way has come so far. Returns it.
    public mutating func spread(to reach: Reach) -> Entry? {
        guard let index = entries.firstIndex(where: { !$0.isEverywhere }) else { return nil }
        entries[index].reach = reach
        if case .all = reach { combine() }
        return entries[index]
    }

    private mutating func combine() {
        let known = entries.filter(\.isEverywhere)
        others = InstallationLimits.rules(known)
        reached = spreading.map { InstallationLimits.rules(known + [$0]) } ?? others
    }

    private static func rules(_ entries: [Entry]) -> DriverRules? {
        guard !entries.isEmpty else { return nil }
        let versions = entries.map { DriverRules.Version(inForceMs: $0.inForceMs, settings: $0.settings) }
        return DriverRules(account: account, versions: versions, before: .off)
    }
}

extension DriverContext {
    /// Whose limits the car is judged by at a time; nil: nobody's.
    public func judge(at ts: Int64) -> String? {
        drivers.account(at: ts) ?? (rules[InstallationLimits.account] == nil ? nil : InstallationLimits.account)
    }
}
