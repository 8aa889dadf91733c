/// Whose limits a car is judged by: who drove it and who owns it, over time. The same records make the same answers,
/// whatever their order.
public struct Drivers: Equatable, Sendable {
    /// An account uploaded readings of this span, both ends included.
    public struct Driving: Equatable, Sendable {
        public let fromMs, untilMs: Int64
        public let account: String
        public let id: String
        public init(fromMs: Int64, untilMs: Int64, account: String, id: String) {
            (self.fromMs, self.untilMs, self.account, self.id) = (fromMs, untilMs, account, id)
        }
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
        self.drivings = drivings.sorted { ($0.fromMs, $0.id) < ($1.fromMs, $1.id) }
        self.assignments = assignments.sorted { $0.fromMs < $1.fromMs }
        self.owners = owners.sorted { $0.fromMs < $1.fromMs }
    }

    /// The account of who drove at that time; of two that say so the one who began later. Nil: nobody is known, and
    /// nobody's limits apply.
    public func account(at ts: Int64) -> String? {
        if let driving = drivings.last(where: { $0.fromMs <= ts && ts <= $0.untilMs }) { return driving.account }
        if let assigned = assignments.last(where: { $0.fromMs <= ts })?.account { return assigned }
        // A car drives before it is registered.
        return (owners.last { $0.fromMs <= ts } ?? owners.first)?.account
    }

    /// The time after `ts` at which another answer may begin; `.max` when there is none.
    func nextChangeMs(after ts: Int64) -> Int64 {
        let times =
            drivings.flatMap { [$0.fromMs, $0.untilMs + 1] } + assignments.map(\.fromMs) + owners.map(\.fromMs)
        return times.filter { $0 > ts }.min() ?? .max
    }

    public var accounts: Set<String> {
        Set(drivings.map(\.account) + (assignments + owners).compactMap(\.account))
    }
}
