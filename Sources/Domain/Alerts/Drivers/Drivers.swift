internal import Basics
internal import Fleet

/// The accounts that drove and own a car over time, and so whose limits judge it. The same records give the same answers, in any order.
public struct Drivers: Equatable, Sendable {
    /// An account uploaded readings of this span, both ends included: a piece of a drive, or all of it.
    public struct Driving: Equatable, Sendable {
        public let fromMs, untilMs: Int64
        public let account: String
        public let id: String
        public init(fromMs: Int64, untilMs: Int64, account: String, id: String) {
            self.fromMs = fromMs
            self.untilMs = untilMs
            self.account = account
            self.id = id
        }
    }
    /// Phones upload a drive in pieces of some seconds or minutes. Between two of one drive lies no more than this, as long as
    /// a trip waits for its next reading.
    public static let pauseMsMax: Int64 = 300_000
    /// When two people claim to have driven, the one who began later counts, within this time. So a piece that joins two drives, and moves
    /// a beginning, changes nothing further back.
    public static let beginMsMax = UTC.msPerDay

    /// Pieces of one account that overlap or adjoin become one drive. Its id is that of the piece that began first, of two that
    /// began together the greater. Drives may be joined again with more pieces: the same set gives the same drives.
    public static func joined(_ pieces: [Driving]) -> [Driving] {
        var drives: [Driving] = []
        for piece in pieces.sorted(by: { ($0.account, $0.fromMs, $0.id) < ($1.account, $1.fromMs, $1.id) }) {
            guard let last = drives.last, last.account == piece.account,
                piece.fromMs <= last.untilMs + pauseMsMax
            else {
                drives.append(piece)
                continue
            }
            drives[drives.count - 1] = Driving(
                fromMs: last.fromMs, untilMs: max(last.untilMs, piece.untilMs), account: last.account,
                id: piece.fromMs == last.fromMs ? piece.id : last.id)
        }
        return drives
    }

    /// From a time on.
    public struct Change: Equatable, Sendable {
        public let fromMs: Int64
        /// Nil: nobody.
        public let account: String?
        public init(fromMs: Int64, account: String?) { (self.fromMs, self.account) = (fromMs, account) }
    }

    let drivings: [Driving]
    let assignments: [Change]
    let owners: [Change]

    public init(drivings: [Driving], assignments: [Change], owners: [Change]) {
        let people = drivings.filter { $0.account != InstallationLimits.account }
        self.drivings = Drivers.joined(people).sorted { ($0.fromMs, $0.id) < ($1.fromMs, $1.id) }
        self.assignments = Drivers.people(assignments)
        self.owners = Drivers.people(owners)
    }

    /// By time. An account named like the installation counts as none.
    private static func people(_ changes: [Change]) -> [Change] {
        changes.map { change in
            change.account == InstallationLimits.account ? Change(fromMs: change.fromMs, account: nil) : change
        }.sorted { $0.fromMs < $1.fromMs }
    }

    /// The account that drove at that time. Of two that say so the one whose drive began later; of two that have driven for `beginMsMax`
    /// or began together the last by name. Nil: nobody is known, and nobody's limits apply.
    public func account(at ts: Int64) -> String? {
        let latest = drivings.lazy.filter { $0.fromMs <= ts && ts <= $0.untilMs }.max {
            (max($0.fromMs, ts - Drivers.beginMsMax), $0.account) < (
                max($1.fromMs, ts - Drivers.beginMsMax), $1.account
            )
        }
        if let latest { return latest.account }
        if let assigned = assignments.last(where: { $0.fromMs <= ts })?.account { return assigned }
        // A car drives before it is registered.
        return (owners.last { $0.fromMs <= ts } ?? owners.first)?.account
    }

    /// The time after `ts` at which another answer may begin; `.max` when there is none.
    func nextChangeMs(after ts: Int64) -> Int64 {
        let times =
            drivings.flatMap { [$0.fromMs, $0.fromMs + Drivers.beginMsMax, $0.untilMs + 1] } + assignments.map(\.fromMs)
            + owners.map(\.fromMs)
        return times.filter { $0 > ts }.min() ?? .max
    }

    /// Without drives that are over before `fromMs`, and that none of a later time goes on with.
    func since(_ fromMs: Int64) -> Drivers {
        Drivers(
            drivings: drivings.filter { $0.untilMs + Drivers.pauseMsMax >= fromMs }, assignments: assignments,
            owners: owners)
    }

    /// Adds a drive. Nil: it changes the time up to `lastMs`, because it continues a drive that ended before.
    func adding(_ driving: Driving, after lastMs: Int64) -> Drivers? {
        let isGoingOn = drivings.contains {
            $0.account == driving.account && $0.untilMs < lastMs && $0.untilMs + Drivers.pauseMsMax >= driving.fromMs
        }
        // An id that is used again for something else: what is written decides.
        let isOther = drivings.contains {
            $0.id == driving.id
                && ($0.account != driving.account || $0.fromMs > driving.fromMs || $0.untilMs < driving.untilMs)
        }
        guard !isGoingOn, !isOther else { return nil }
        return Drivers(drivings: drivings + [driving], assignments: assignments, owners: owners)
    }

    /// Since when it is registered, in whoever's name; `.max`: it is not.
    public var ownedMs: Int64 { owners.first?.fromMs ?? .max }

    /// True when the account is named: since `fromMs` as driver, at any time as assigned driver or owner.
    func knows(_ account: String, since fromMs: Int64) -> Bool {
        drivings.contains { $0.account == account && $0.untilMs + Drivers.pauseMsMax >= fromMs }
            || assignments.contains { $0.account == account } || owners.contains { $0.account == account }
    }

    /// True at all times: the car was never registered without an owner.
    public var isAlwaysOwned: Bool { !owners.isEmpty && owners.allSatisfy { $0.account != nil } }

    public var accounts: Set<String> {
        Set(drivings.map(\.account) + (assignments + owners).compactMap(\.account))
    }
}
