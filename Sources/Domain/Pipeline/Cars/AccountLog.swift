public import Fleet

/// The accounts that a car was given to, by time: in whose name it was registered, or who is to drive it. Of two records of one time the one with the
/// greater id counts. `insert` tells whether a record changes anything.
public struct AccountLog: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        let fromMs: Int64
        let id: String
        /// Nil: nobody's.
        let account: String?

        public init(fromMs: Int64, id: String, account: String?) {
            (self.fromMs, self.id, self.account) = (fromMs, id, account)
        }
    }

    /// The account before the first record.
    enum Before { case whoseTheFirstSays, nobodys }

    /// By time, one a time.
    private var entries: [Entry]
    /// Of these times all entries are known, and the one before them.
    private let fromMs, untilMs: Int64

    /// - Parameters:
    ///   - entries: the one before a time and those from it on, in any order.
    ///   - most: where it has so many there may be later ones.
    public init(_ entries: [Entry] = [], since fromMs: Int64 = .min, most: Int = .max) {
        precondition(most > 1, "the one before a time leaves no room")
        self.entries = entries.sorted { $0.fromMs < $1.fromMs }
        (self.fromMs, untilMs) = (fromMs, entries.count < most ? .max : self.entries.last!.fromMs)
    }

    func covers(_ ms: Int64) -> Bool { ms >= fromMs && ms <= untilMs }

    /// False: at each time it is whose it was. Precondition: the log covers its time. It is asked of its neighbours only: a car may have been given on ten thousand times.
    mutating func insert(_ entry: Entry, before: Before) -> Bool {
        let index = place(of: entry.fromMs)
        if index < entries.count, entries[index].fromMs == entry.fromMs {
            guard entries[index].id.utf8.lexicographicallyPrecedes(entry.id.utf8) else { return false }
            defer { entries[index] = entry }
            return entries[index].account != entry.account
        }
        defer { entries.insert(entry, at: index) }
        if index > 0 { return entries[index - 1].account != entry.account }
        return switch before {
        case .nobodys: entry.account != nil
        case .whoseTheFirstSays: entries.first.map { $0.account != entry.account } ?? true
        }
    }

    /// The index of the first entry that is not before `ms`.
    private func place(of ms: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].fromMs < ms { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The owners and drivers that a car is known to have had.
public struct CarAccounts: Equatable, Sendable {
    var owners, drivers: AccountLog

    public init(owners: AccountLog, drivers: AccountLog) { (self.owners, self.drivers) = (owners, drivers) }

    /// What is read of a car at once: of its owners, and of its drivers.
    public static let entriesMax = 512

    /// Nil: it gives the car to nobody.
    private func log(of action: Action) -> AccountLog? {
        switch action.kind {
        case .registration: owners
        case .assignment: drivers
        case .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripStart, .tripStop,
            .tripDiscard,
            .tripTag, .driving, .settings, .scanRequest, .scan, .support, .tripSummary, .weather:
            nil
        }
    }

    func covers(_ action: Action) -> Bool { log(of: action)?.covers(action.ts) ?? true }

    /// False: it says nothing anew. Precondition: it covers the record.
    mutating func insert(_ action: Action) -> Bool {
        func entry(_ account: String?) -> AccountLog.Entry {
            AccountLog.Entry(fromMs: action.ts, id: action.id, account: account)
        }
        switch action.kind {
        case .registration(let registration):
            guard let car = registration.car else { return true }
            return owners.insert(entry(car.account), before: .whoseTheFirstSays)
        case .assignment(let driver): return drivers.insert(entry(driver), before: .nobodys)
        case .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripStart, .tripStop,
            .tripDiscard,
            .tripTag, .driving, .settings, .scanRequest, .scan, .support, .tripSummary, .weather:
            return true
        }
    }
}

extension DriverPartition {
    /// Before it is taken it must be known whose the car was and who was to drive it, as far as that is written: what says nothing anew has
    /// nothing judged again. Records come twice, and lists of cars are said again as a whole.
    public func needsAccounts(for action: Action, lastMs: Int64, offset: Int64) -> Bool {
        guard action.givesCar, let vehicle = action.vehicle else { return false }
        return offset >= storedOffset && lastMs != .min && !(accounts[vehicle]?.covers(action) ?? false)
    }

    /// Of so many cars at most it is known.
    public static var accountsMax: Int { 256 }

    /// Beside those that were known before, as far as there is room. Precondition: all that was taken is written.
    public mutating func know(accounts read: [VehicleID: CarAccounts]) {
        if accounts.count + read.count > DriverPartition.accountsMax { accounts = [:] }
        accounts.merge(read) { _, new in new }
    }

    /// False: the record says nothing anew. Of a car that has not reported yet nothing is judged; what its log does not cover it forgets, since
    /// the record may stand beside what it knows.
    mutating func isNew(_ action: Action, of vehicle: VehicleID) -> Bool {
        guard action.givesCar, let known = accounts[vehicle] else { return true }
        guard known.covers(action) else {
            accounts[vehicle] = nil
            return true
        }
        return accounts[vehicle]!.insert(action)
    }
}

extension Action {
    /// It says whose a car is, or who is to drive it.
    fileprivate var givesCar: Bool {
        switch kind {
        case .registration(let registration): registration.car != nil
        case .assignment: true
        case .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .tripStart, .tripStop,
            .tripDiscard,
            .tripTag, .driving, .settings, .scanRequest, .scan, .support, .tripSummary, .weather:
            false
        }
    }
}
