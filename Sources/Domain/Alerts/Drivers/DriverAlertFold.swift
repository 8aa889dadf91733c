internal import Basics
public import Codecs
public import Fleet

/// A car's drivers and their settings: the limits for its readings.
public struct DriverContext: Equatable, Sendable {
    public var drivers: Drivers
    public var rules: [String: DriverRules]

    /// True when anybody has ever driven or owned the car, or the installation has limits for all cars.
    public let isWatched: Bool

    /// - Parameter hasDriven: also those count whose drives are left out because they were over before.
    public init(drivers: Drivers, rules: [String: DriverRules], hasDriven: Bool = false) {
        self.drivers = drivers
        self.rules = rules
        isWatched = hasDriven || !drivers.accounts.isEmpty || rules[InstallationLimits.account] != nil
    }
}

/// The alerts of whoever drives one car, as its readings come in the order of their times: the engine of machines
/// (`AlertFold`) with the limits of the account in the place of the model's.
///
/// A silence ends open alerts: nothing is known any more of a car that is off. Hours at the wheel continue over it until the account's
/// pause is over. So alerts depend on no reading before a silence of `reachMs`. Another driver begins anew: open alerts were the previous
/// one's, who has left.
public struct DriverAlertFold: Sendable {
    /// Without a reading for so long, alerts of single values are over.
    public static let quietMs: Int64 = 300_000
    /// The longest pause that an account can set.
    public static let reachMs: Int64 = 3_600_000

    public let vehicle: VehicleID
    private var context: DriverContext
    private var fold = AlertFold()
    public private(set) var lastMs: Int64?
    /// Since when somebody is at the wheel, and the last reading at which the car moved.
    private var spell: (startMs: Int64, lastMs: Int64)?
    private var judged: InForce

    /// The limits between two changes.
    private struct InForce {
        var fromMs = Int64.max
        var untilMs = Int64.min
        var account: String?
        var limits = CarLimits.none
        var pauseMs = DriverAlertFold.reachMs
        var wheelLimitMs: Int64?
    }

    public init(vehicle: VehicleID, _ context: DriverContext) {
        self.vehicle = vehicle
        self.context = context
        judged = InForce()
    }

    /// Episodes that this reading opened, made worse or resolved; of two with one id the later one stands.
    /// Precondition: `reading` is later than every reading before it.
    public mutating func observe(_ reading: CarReading) -> [Episode] {
        var changes = pass(reading.ts)
        if reading.ts < judged.fromMs || reading.ts >= judged.untilMs {
            let before = judged.account
            judged = inForce(at: reading.ts)
            if lastMs != nil, judged.account != before { changes += leave(at: reading.ts) }
        }
        if let speed = reading[.speed], speed > 0 {
            spell = (spell?.startMs ?? reading.ts, reading.ts)
        }
        lastMs = reading.ts
        let isWheelDue = judged.wheelLimitMs.flatMap { limit in spell.map { reading.ts - $0.startMs > limit } } ?? false
        // Nearly every reading: nothing is open and nothing is crossed.
        if fold.watches.isEmpty, !isWheelDue, judged.limits.crossed(by: reading) == 0 { return changes }
        let timeline = judged.account.flatMap { context.rules[$0]?.timeline } ?? RuleTimeline()
        changes += fold.observe(values(reading), rules: timeline)
        return changes
    }

    /// Ends alerts at `ms` when there was no reading, or no movement, before it.
    public mutating func pass(_ ms: Int64) -> [Episode] {
        var changes: [Episode] = []
        if let lastMs, ms - lastMs > DriverAlertFold.quietMs {
            for parameter in fold.watches.keys.sorted(by: { $0.rawValue < $1.rawValue }) where parameter != .wheelHours
            {
                changes += end(parameter, atMs: lastMs + DriverAlertFold.quietMs)
            }
        }
        if let last = spell?.lastMs, ms - last >= judged.pauseMs {
            spell = nil
            changes += end(.wheelHours, atMs: last + judged.pauseMs)
        }
        return changes
    }

    /// Another driver begins at `ms`.
    private mutating func leave(at ms: Int64) -> [Episode] {
        spell = nil
        return fold.watches.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { end($0, atMs: ms) }
    }

    /// All that is known is over at `borderMs`, as by the longest silence; what comes from there on begins anew.
    /// Precondition: the last reading is before it.
    public mutating func cut(at borderMs: Int64) -> [Episode] {
        defer { (fold, spell, lastMs) = (AlertFold(), nil, nil) }
        return pass(borderMs - 1 + DriverAlertFold.reachMs)
    }

    private mutating func end(_ parameter: MachineParameter, atMs ms: Int64) -> [Episode] {
        guard case .open(let episode)? = fold.watches.removeValue(forKey: parameter) else { return [] }
        return [AlertFold.resolved(episode, ms)]
    }

    private func inForce(at ts: Int64) -> InForce {
        var found = InForce()
        found.fromMs = ts
        found.untilMs = context.drivers.nextChangeMs(after: ts)
        found.account = context.judge(at: ts)
        guard let rules = found.account.flatMap({ context.rules[$0] }) else { return found }
        let (settings, untilMs) = rules.inForce(at: ts)
        found.untilMs = min(found.untilMs, untilMs)
        found.limits = settings.limits
        found.pauseMs = settings.wheelPauseMs
        found.wheelLimitMs = found.limits.wheelMs
        return found
    }

    private func values(_ reading: CarReading) -> MachineReading {
        var judged = MachineReading(
            vehicle: vehicle, ts: reading.ts, id: "", model: judged.account ?? DriverAlertFold.nobody)
        judged.values[.carSpeed] = reading[.speed].map { Int64($0) }
        judged.values[.carCoolant] = reading[.coolant].map { Int64($0) }
        judged.values[.voltageLow] = reading[.voltage].map { Int64($0) }
        judged.values[.voltageHigh] = judged.values[.voltageLow]
        // Standing still proves nothing: the pause may continue or end.
        if let spell, spell.lastMs == reading.ts {
            // Thousandths of hours, up: the first millisecond beyond the limit is beyond it here, too.
            judged.values[.wheelHours] = (reading.ts - spell.startMs + 3_599) / 3_600
        }
        return judged
    }

    /// No account's name: it has no rules.
    private static let nobody = ""

    // MARK: What comes next

    /// The state after the last reading.
    public var open: [Episode] { fold.open }

    /// When silence ends what is open, by the clock; `.max`: nothing is open.
    public var quietMs: Int64 {
        let open = fold.open
        guard let lastMs, !open.isEmpty else { return .max }
        let isValueOpen = open.contains { $0.parameter != .wheelHours }
        return isValueOpen ? lastMs + DriverAlertFold.quietMs + 1 : (spell?.lastMs ?? lastMs) + judged.pauseMs
    }

    // MARK: As bytes

    private static let version: UInt8 = 1

    /// The state after the last reading, without what it is judged by.
    public var packed: [UInt8] {
        var out: [UInt8] = [DriverAlertFold.version]
        for ms in [lastMs, spell?.startMs, spell?.lastMs] {
            out.append(ms == nil ? 0 : 1)
            if let ms { out.appendZigzag(ms) }
        }
        let fold = fold.packed
        out.appendVarint(UInt64(fold.count))
        return out + fold
    }

    public init(packed bytes: [UInt8], vehicle: VehicleID, _ context: DriverContext) throws(DecodeError) {
        var reader = VarintReader(bytes)
        guard try reader.byte() == DriverAlertFold.version else { throw .packed("unknown version of a driver's state") }
        var times: [Int64?] = []
        for _ in 0..<3 {
            guard try reader.byte() == 1 else {
                times.append(nil)
                continue
            }
            let ms = try reader.zigzag()
            guard UTC.plausible.contains(ms) else { throw .packed("an impossible time") }
            times.append(ms)
        }
        self.init(vehicle: vehicle, context)
        fold = try AlertFold(packed: reader.bytes(most: bytes.count))
        lastMs = times[0]
        if let startMs = times[1], let endMs = times[2] { spell = (startMs, endMs) }
        // Re-evaluates by the limits of the last reading.
        if let lastMs { judged = inForce(at: lastMs) }
    }

    // MARK: What it is judged by

    /// True when the car has a responsible account at all times.
    public var isAlwaysOwned: Bool { context.drivers.isAlwaysOwned }

    /// From its next reading on the installation's limits are these, as if it were loaded with them.
    public mutating func apply(installation rules: DriverRules?) {
        context.rules[InstallationLimits.account] = rules
        if let lastMs { judged = inForce(at: lastMs) }
    }

    /// True when this account's limits may judge the car: it drove since `fromMs`, or has ever been assigned or owned the car. Older
    /// loaded drives do not count, so that every load gives the same answer.
    public func knows(_ account: String, since fromMs: Int64) -> Bool {
        context.rules[account] != nil && context.drivers.knows(account, since: fromMs)
    }

    /// Takes over a drive that begins after the last reading. False: readings that were judged may be judged otherwise by it,
    /// or its driver's limits are not known.
    public mutating func add(_ driving: Drivers.Driving, since fromMs: Int64) -> Bool {
        guard let lastMs, driving.fromMs > lastMs, knows(driving.account, since: fromMs),
            let drivers = context.drivers.since(fromMs).adding(driving, after: lastMs)
        else { return false }
        context.drivers = drivers
        judged.untilMs = min(judged.untilMs, driving.fromMs)
        return true
    }
}
