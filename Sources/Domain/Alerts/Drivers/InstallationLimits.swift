public import Fleet

/// The installation's limits for cars while no account answers for them: nobody uploads for them, is assigned to them or owns them.
/// Settings like an account's, under a name that no account has, in force from their record's time on; before the first there are none.
///
/// A partition may have a million cars, so a record does not count for all of them at once: it comes to one after the other, in the
/// order of their names, some at each tick. One record after the other does so.
public struct InstallationLimits: Equatable, Sendable {
    /// `drover.account` accepts no account of this name (`account_is_not_the_installation`).
    public static let account = "installation"

    /// The cars that a record has reached.
    public enum Reach: Equatable, Sendable {
        /// The cars up to this one; nil: none.
        case upTo(VehicleID?)
        /// All cars, at the tick with this offset.
        case all(offset: Int64)
    }

    /// The content of a record.
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

        /// By their records; where these are of a log that was lost, by their times and ids.
        func comes(before other: Entry) -> Bool {
            if offset != other.offset { return offset < other.offset }
            if inForceMs != other.inForceMs { return inForceMs < other.inForceMs }
            return id.utf8.lexicographicallyPrecedes(other.id.utf8)
        }
    }

    /// In the order of their records. Of one time three at most: the one that has come to all cars, one that goes on coming to them,
    /// and the last one that was said since, which waits until that is over.
    public private(set) var entries: [Entry]
    /// The limits of cars that the spreading record has reached, and those of the others.
    private var reached, others: DriverRules?

    /// - Parameter entries: in any order. What another one of its time has replaced for all cars counts no more: it is stored for cars
    ///   that are set apart, which know nothing of the other one yet.
    public init(_ entries: [Entry] = []) {
        let everywhere = entries.filter(\.isEverywhere)
        self.entries = entries.filter { entry in
            !everywhere.contains { $0.inForceMs == entry.inForceMs && entry.comes(before: $0) }
        }.sorted { $0.comes(before: $1) }
        combine()
    }

    /// The record that is being spread.
    public var spreading: Entry? { entries.first { !$0.isEverywhere } }

    /// All that is still needed of one time; the last one is what it says in the end.
    public func entries(inForceMs: Int64) -> [Entry] { entries.filter { $0.inForceMs == inForceMs } }

    /// Nil: nothing was ever set, as far as the car knows.
    public func rules(of vehicle: VehicleID) -> DriverRules? {
        guard case .upTo(let last)? = spreading?.reach else { return reached }
        return last.map { vehicle <= $0 } ?? false ? reached : others
    }

    /// Adds an entry. Of two records of one time the one with the greater id counts. The other one holds for each car until that has come to it, so that
    /// what is said changes no car at once. False: it is known, or says nothing.
    public mutating func add(_ entry: Entry) -> Bool {
        let known = entries(inForceMs: entry.inForceMs)
        guard known.allSatisfy({ $0.id.utf8.lexicographicallyPrecedes(entry.id.utf8) }) else { return false }
        // It never came to a car.
        entries.removeAll { $0.inForceMs == entry.inForceMs && $0.reach == .upTo(nil) }
        entries.append(entry)
        combine()
        return true
    }

    /// The record on its way has come so far. Returns it.
    public mutating func spread(to reach: Reach) -> Entry? {
        guard let index = entries.firstIndex(where: { !$0.isEverywhere }) else { return nil }
        entries[index].reach = reach
        let entry = entries[index]
        if case .all = reach {
            entries.removeAll { $0.inForceMs == entry.inForceMs && $0.isEverywhere && $0.id != entry.id }
            combine()
        }
        return entry
    }

    private mutating func combine() {
        let known = entries.filter(\.isEverywhere)
        others = InstallationLimits.rules(known)
        reached =
            spreading.map { entry in
                InstallationLimits.rules(known.filter { $0.inForceMs != entry.inForceMs } + [entry])
            } ?? others
    }

    private static func rules(_ entries: [Entry]) -> DriverRules? {
        guard !entries.isEmpty else { return nil }
        let versions = entries.map { DriverRules.Version(inForceMs: $0.inForceMs, settings: $0.settings) }
        return DriverRules(account: account, versions: versions, before: .off)
    }
}

extension DriverContext {
    /// The account whose limits judge the car at a time; nil: nobody's.
    public func judge(at ts: Int64) -> String? {
        drivers.account(at: ts) ?? (rules[InstallationLimits.account] == nil ? nil : InstallationLimits.account)
    }
}
