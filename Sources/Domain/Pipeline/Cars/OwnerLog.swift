public import Fleet

/// In whose name a car was registered, by time: of two registrations of one time the one with the greater id counts. Whether one more
/// says anything anew.
public struct OwnerLog: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        let fromMs: Int64
        let id: String
        /// Nil: nobody's.
        let account: String?

        public init(fromMs: Int64, id: String, account: String?) {
            (self.fromMs, self.id, self.account) = (fromMs, id, account)
        }
    }

    /// By time, one a time.
    private var entries: [Entry]

    public init(_ entries: [Entry] = []) { self.entries = entries.sorted { $0.fromMs < $1.fromMs } }

    /// False: at each time it is owned by whom it was.
    mutating func insert(_ entry: Entry) -> Bool {
        let before = answers
        let index = entries.firstIndex { $0.fromMs >= entry.fromMs } ?? entries.count
        if index == entries.count || entries[index].fromMs != entry.fromMs {
            entries.insert(entry, at: index)
        } else if entries[index].id.utf8.lexicographicallyPrecedes(entry.id.utf8) {
            entries[index] = entry
        }
        return answers != before
    }

    /// Who owned it, each from when on another did. Whose the first registration says it is it was before, too (`Drivers`).
    private var answers: [Entry] {
        entries.reduce(into: []) { answers, entry in
            if let last = answers.last, last.account == entry.account { return }
            answers.append(Entry(fromMs: answers.isEmpty ? .min : entry.fromMs, id: "", account: entry.account))
        }
    }
}

extension DriverBook {
    /// Before it is taken it must be known who owned the car, as far as that is written: what says nothing anew has nothing judged
    /// again. Records come twice, and lists of cars are said again as a whole.
    public func needsOwners(for action: Action, lastMs: Int64, offset: Int64) -> Bool {
        guard case .registration(let registration) = action.kind, registration.car != nil, let vehicle = action.vehicle
        else { return false }
        return offset >= storedOffset && lastMs != .min && owners[vehicle] == nil
    }

    /// In the place of those that were known before. Precondition: all that was taken is written.
    public mutating func know(owners: [VehicleID: OwnerLog]) { self.owners = owners }

    /// False: the registration says nothing anew. Precondition: where it is judged, the car's owners are known.
    mutating func isNew(_ registration: Action.Registration, _ action: Action, of vehicle: VehicleID) -> Bool {
        guard let car = registration.car else { return true }
        let entry = OwnerLog.Entry(fromMs: action.ts, id: action.id, account: car.account)
        return owners[vehicle]?.insert(entry) ?? true
    }
}
