internal import Alerts
internal import Fleet
internal import Pipeline

/// What people said of cars, as the real tables keep it: whatever the order and the repeats, the same is left.
struct DriverSayings: Sendable {
    /// Of two records of one time the one with the greater id counts.
    private struct Entry<Value: Sendable>: Sendable {
        let id: String
        let value: Value
    }
    private struct Scan: Sendable {
        let ts: Int64
        let isDone: Bool
        let codes: Set<String>
    }

    private var drivings: [VehicleID: [String: Drivers.Driving]] = [:]
    private var assignments: [VehicleID: [Int64: Entry<String?>]] = [:]
    private var owners: [VehicleID: [Int64: Entry<String?>]] = [:]
    private var settings: [String: [Int64: Entry<DriverSettings>]] = [:]
    /// Of each account that was named, made of its settings: to make them costs more than all else here.
    private var rules: [String: DriverRules] = [:]
    private var answers: [VehicleID: [String: Scan]] = [:]

    mutating func take(_ action: Action) {
        switch action.kind {
        case .driving(let fromMs):
            drivings[action.vehicle!, default: [:]][action.id] = .init(
                fromMs: fromMs, untilMs: action.ts, account: action.by, id: action.id)
            know(action.by)
        case .assignment(let driver):
            DriverSayings.put(driver, action, &assignments[action.vehicle!, default: [:]])
            know(driver)
        case .registration(let registration):
            DriverSayings.put(registration.car?.account, action, &owners[action.vehicle!, default: [:]])
            know(registration.car?.account)
        case .settings(let account, let text):
            DriverSayings.put(try! DriverSettings(text: text), action, &settings[account, default: [:]])
            let versions = settings[account]!.sorted { $0.key < $1.key }
            rules[account] = DriverRules(
                account: account, versions: versions.map { .init(inForceMs: $0.key, settings: $0.value.value) },
                before: account == InstallationLimits.account ? .off : .standard)
        case .scan(let scan):
            let id = scan.request ?? action.id
            // Of two answers to one request the one that brought something counts, else the first.
            if let known = answers[action.vehicle!]?[id], known.isDone || !scan.isDone { return }
            answers[action.vehicle!, default: [:]][id] = Scan(
                ts: action.ts, isDone: scan.isDone, codes: Set(scan.stored + scan.pending + scan.permanent))
        default: break
        }
    }

    private mutating func know(_ account: String?) {
        guard let account, rules[account] == nil else { return }
        rules[account] = DriverRules(account: account, versions: [])
    }

    private static func put<Value>(_ value: Value, _ action: Action, _ entries: inout [Int64: Entry<Value>]) {
        if let known = entries[action.ts], known.id >= action.id { return }
        entries[action.ts] = Entry(id: action.id, value: value)
    }

    /// Whom somebody drives or owns, or did.
    var watched: [VehicleID] {
        Set(drivings.keys).union(assignments.keys).union(owners.keys).filter(isWatched).sorted()
    }

    func isWatched(_ vehicle: VehicleID) -> Bool {
        drivings[vehicle] != nil || !drivers(vehicle).accounts.isEmpty
    }

    /// Which somebody may have driven or owned.
    func cars(of account: String) -> [VehicleID] {
        watched.filter { drivers($0).accounts.contains(account) }
    }

    /// - Parameter fromMs: drives that were over before matter no more.
    func drivers(_ vehicle: VehicleID, fromMs: Int64 = 0) -> Drivers {
        let drivings = Drivers.joined(drivings[vehicle].map { Array($0.values) } ?? [])
        return Drivers(
            drivings: drivings.filter { $0.untilMs + Drivers.pauseMsMax >= fromMs },
            assignments: DriverSayings.changes(assignments[vehicle]), owners: DriverSayings.changes(owners[vehicle]))
    }

    /// - Parameter installation: what it has set, as far as the car knows.
    func context(_ vehicle: VehicleID, fromMs: Int64 = 0, installation: DriverRules?) -> DriverContext {
        let drivers = drivers(vehicle, fromMs: fromMs)
        var rules = rules.filter { drivers.accounts.contains($0.key) }
        rules[InstallationLimits.account] = installation
        return DriverContext(drivers: drivers, rules: rules, hasDriven: drivings[vehicle] != nil)
    }

    /// All that the installation has set.
    var installation: DriverRules? { rules[InstallationLimits.account] }

    private static func changes(_ entries: [Int64: Entry<String?>]?) -> [Drivers.Change] {
        (entries ?? [:]).sorted { $0.key < $1.key }.map { .init(fromMs: $0.key, account: $0.value.value) }
    }

    /// As `DriverContextStore`, but fewer: more is said of a car than is read at once.
    func accounts(of vehicle: VehicleID, since ms: Int64) -> CarAccounts {
        CarAccounts(
            owners: DriverSayings.log(owners[vehicle], since: ms),
            drivers: DriverSayings.log(assignments[vehicle], since: ms))
    }

    private static func log(_ entries: [Int64: Entry<String?>]?, since ms: Int64) -> AccountLog {
        let all = (entries ?? [:]).sorted { $0.key < $1.key }
        let first = all.lastIndex { $0.key < ms } ?? 0
        return AccountLog(
            all[first...].prefix(entriesMax).map { .init(fromMs: $0.key, id: $0.value.id, account: $0.value.value) },
            since: ms, most: entriesMax)
    }

    private static let entriesMax = 3

    /// Cars that have said which trouble codes they have.
    var scanned: [VehicleID] { answers.keys.filter { !scans(of: $0).isEmpty }.sorted() }

    /// Those that were answered.
    func scans(of vehicle: VehicleID) -> [TroubleCodes.Scan] {
        (answers[vehicle] ?? [:]).filter(\.value.isDone).map {
            .init(ts: $0.value.ts, id: $0.key, codes: $0.value.codes)
        }
    }
}
