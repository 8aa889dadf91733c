public import Fleet

/// To whom a car was given, by time: in whose name it was registered, or who is to drive it. Of two records of one time the one with the
/// greater id counts. Whether one more says anything anew.
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

    /// Whose it was before the first record.
    enum Before { case whoseTheFirstSays, nobodys }

    /// By time, one a time.
    private var entries: [Entry]

    public init(_ entries: [Entry] = []) { self.entries = entries.sorted { $0.fromMs < $1.fromMs } }

    /// False: at each time it is whose it was.
    mutating func insert(_ entry: Entry, before: Before) -> Bool {
        let known = answers(before)
        let index = entries.firstIndex { $0.fromMs >= entry.fromMs } ?? entries.count
        if index == entries.count || entries[index].fromMs != entry.fromMs {
            entries.insert(entry, at: index)
        } else if entries[index].id.utf8.lexicographicallyPrecedes(entry.id.utf8) {
            entries[index] = entry
        }
        return answers(before) != known
    }

    /// Whose it was, each from when on it was another's.
    private func answers(_ before: Before) -> [Entry] {
        var answers: [Entry] = before == .nobodys ? [Entry(fromMs: .min, id: "", account: nil)] : []
        for entry in entries where answers.last.map({ $0.account != entry.account }) ?? true {
            answers.append(Entry(fromMs: answers.isEmpty ? .min : entry.fromMs, id: "", account: entry.account))
        }
        return answers
    }
}

/// What is known of whose a car was and who was to drive it.
public struct CarAccounts: Equatable, Sendable {
    var owners, drivers: AccountLog

    public init(owners: AccountLog, drivers: AccountLog) { (self.owners, self.drivers) = (owners, drivers) }

    /// False: it says nothing anew.
    mutating func insert(_ action: Action) -> Bool {
        func entry(_ account: String?) -> AccountLog.Entry {
            AccountLog.Entry(fromMs: action.ts, id: action.id, account: account)
        }
        switch action.kind {
        case .registration(let registration):
            guard let car = registration.car else { return true }
            return owners.insert(entry(car.account), before: .whoseTheFirstSays)
        case .assignment(let driver): return drivers.insert(entry(driver), before: .nobodys)
        default: return true
        }
    }
}

extension DriverBook {
    /// Before it is taken it must be known whose the car was and who was to drive it, as far as that is written: what says nothing anew has
    /// nothing judged again. Records come twice, and lists of cars are said again as a whole.
    public func needsAccounts(for action: Action, lastMs: Int64, offset: Int64) -> Bool {
        guard action.givesCar, let vehicle = action.vehicle else { return false }
        return offset >= storedOffset && lastMs != .min && accounts[vehicle] == nil
    }

    /// In the place of those that were known before. Precondition: all that was taken is written.
    public mutating func know(accounts: [VehicleID: CarAccounts]) { self.accounts = accounts }

    /// False: the record says nothing anew. Precondition: where it is judged, the car's accounts are known.
    mutating func isNew(_ action: Action, of vehicle: VehicleID) -> Bool {
        action.givesCar ? accounts[vehicle]?.insert(action) ?? true : true
    }
}

extension Action {
    /// It says whose a car is, or who is to drive it.
    fileprivate var givesCar: Bool {
        switch kind {
        case .registration(let registration): registration.car != nil
        case .assignment: true
        default: false
        }
    }
}
