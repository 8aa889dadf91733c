public import Fleet

/// The alerts of whoever drives one car, as its readings come in the order of their times: the engine of machines
/// (`AlertFold`) with the limits of the account in the place of the model's.
///
/// A silence ends what is open: nothing is known any more of a car that is off. Hours at the wheel go on over it until the
/// account's pause is over. So what readings say depends on no reading before a silence of `reachMs`.
public struct DriverWatch: Sendable {
    /// Without a reading for so long, alerts of single values are over.
    public static let quietMs: Int64 = 300_000
    /// As long as the longest pause that an account can set.
    public static let reachMs: Int64 = 3_600_000

    private let vehicle: VehicleID
    private let drivers: Drivers
    private let rules: [String: DriverRules]

    private var fold = AlertFold()
    private var lastMs: Int64?
    /// Since when somebody is at the wheel, and the last reading at which the car moved.
    private var spell: (startMs: Int64, lastMs: Int64)?
    private var judged: InForce

    /// What holds between two changes.
    private struct InForce {
        var fromMs = Int64.max
        var untilMs = Int64.min
        var account: String?
        var limits = CarLimits.none
        var pauseMs = DriverWatch.reachMs
        var wheelLimitMs: Int64?
    }

    public init(vehicle: VehicleID, drivers: Drivers, rules: [String: DriverRules]) {
        (self.vehicle, self.drivers, self.rules, judged) = (vehicle, drivers, rules, InForce())
    }

    /// Episodes that this reading opened, made worse or resolved; of two with one id the later one stands.
    /// Precondition: `reading` is later than every reading before it.
    public mutating func observe(_ reading: CarReading) -> [Episode] {
        var changes = pass(reading.ts)
        if reading.ts < judged.fromMs || reading.ts >= judged.untilMs { judged = inForce(at: reading.ts) }
        if let speed = reading[.speed], speed > 0 {
            spell = (spell?.startMs ?? reading.ts, reading.ts)
        }
        lastMs = reading.ts
        let isWheelDue = judged.wheelLimitMs.flatMap { limit in spell.map { reading.ts - $0.startMs > limit } } ?? false
        // Nearly every reading: nothing is open and nothing is crossed.
        if fold.watches.isEmpty, !isWheelDue, judged.limits.crossed(by: reading) == 0 { return changes }
        let timeline = judged.account.flatMap { rules[$0]?.timeline } ?? RuleTimeline()
        changes += fold.observe(values(reading), rules: timeline)
        return changes
    }

    /// What is over at `ms` because nothing was read, or nobody moved, before it.
    public mutating func pass(_ ms: Int64) -> [Episode] {
        var changes: [Episode] = []
        if let lastMs, ms - lastMs > DriverWatch.quietMs {
            for parameter in fold.watches.keys.sorted(by: { $0.rawValue < $1.rawValue }) where parameter != .wheelHours
            {
                changes += end(parameter, atMs: lastMs + DriverWatch.quietMs)
            }
        }
        if let last = spell?.lastMs, ms - last >= judged.pauseMs {
            spell = nil
            changes += end(.wheelHours, atMs: last + judged.pauseMs)
        }
        return changes
    }

    private mutating func end(_ parameter: MachineParameter, atMs ms: Int64) -> [Episode] {
        guard case .open(let episode)? = fold.watches.removeValue(forKey: parameter) else { return [] }
        return [AlertFold.resolved(episode, ms)]
    }

    private func inForce(at ts: Int64) -> InForce {
        var found = InForce()
        (found.fromMs, found.untilMs) = (ts, drivers.nextChangeMs(after: ts))
        found.account = drivers.account(at: ts)
        guard let rules = found.account.flatMap({ rules[$0] }) else { return found }
        let (settings, untilMs) = rules.inForce(at: ts)
        found.untilMs = min(found.untilMs, untilMs)
        (found.limits, found.pauseMs) = (settings.limits, settings.wheelPauseMs)
        found.wheelLimitMs = found.limits.wheelMs
        return found
    }

    private func values(_ reading: CarReading) -> MachineReading {
        var judged = MachineReading(
            vehicle: vehicle, ts: reading.ts, id: "", model: judged.account ?? DriverWatch.nobody)
        judged.values[.carSpeed] = reading[.speed].map { Int64($0) }
        judged.values[.carCoolant] = reading[.coolant].map { Int64($0) }
        judged.values[.voltageLow] = reading[.voltage].map { Int64($0) }
        judged.values[.voltageHigh] = judged.values[.voltageLow]
        // Who stands says nothing of it: the pause may go on or end.
        if let spell, spell.lastMs == reading.ts {
            // Thousandths of hours, up: the first millisecond beyond the limit is beyond it here, too.
            judged.values[.wheelHours] = (reading.ts - spell.startMs + 3_599) / 3_600
        }
        return judged
    }

    /// No account's name: it has no rules.
    private static let nobody = ""

    // MARK: What comes next

    /// Something is open, or may open by the next reading although that one crosses no limit.
    public var isActive: Bool { !fold.watches.isEmpty }
    public var open: [Episode] { fold.open }

    /// A reading from here on may open an alert although it crosses no limit, or although the alert's first readings
    /// were judged: the hours at the wheel, and a hold time. `.max`: never.
    public var dueMs: Int64 {
        var dueMs = Int64.max
        if let spell, let limitMs = judged.wheelLimitMs, !isOpen(.wheelHours) { dueMs = spell.startMs + limitMs + 1 }
        guard let account = judged.account, let lastMs, let rules = rules[account] else { return dueMs }
        for (parameter, threshold) in rules.timeline.inForce(at: lastMs).judged(account, vehicle) {
            guard case .pending(let sinceMs, _)? = fold.watches[parameter] else { continue }
            dueMs = min(dueMs, sinceMs + threshold.holdMs + 1)
        }
        return dueMs
    }

    /// When silence ends what is open, by the clock; `.max`: nothing is open.
    public var quietMs: Int64 {
        guard let lastMs, isActive else { return .max }
        let isValueOpen = fold.watches.keys.contains { $0 != .wheelHours }
        return isValueOpen ? lastMs + DriverWatch.quietMs + 1 : (spell?.lastMs ?? lastMs) + judged.pauseMs
    }

    private func isOpen(_ parameter: MachineParameter) -> Bool {
        if case .open? = fold.watches[parameter] { return true }
        return false
    }
}
