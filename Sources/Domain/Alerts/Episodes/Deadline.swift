internal import Basics
public import Fleet

/// An alert that opens by itself at a time unless a reading comes first.
///
/// Two rules have one: a missing value (`<absent>`), counted only while the machine is expected to go on reporting, and
/// an age with a limit (no call-in for five days), counted always. `<for>` has none: it is measured between readings. A
/// deadline is set by the last reading and belongs to the rules in force at that reading's own time.
struct Deadline {
    let parameter: MachineParameter
    let threshold: Threshold
    let last: AlertFold.Last
    /// When it opens if it is passed.
    let openedMs: Int64
    let sinceMs: Int64
    /// The time whose age it is; nil for an absence.
    let timeMs: Int64?

    /// A call-in that happened in time and is only told later.
    func isExplained(by reading: MachineReading) -> Bool {
        guard let timeMs, let later = reading.values[parameter] else { return false }
        return later > timeMs && later <= openedMs
    }

    func episode(_ vehicle: VehicleID, _ rules: RuleTimeline) -> Episode {
        let value = timeMs.map { Decimal.divided(openedMs - $0, by: Threshold.msInMilliDay) }
        return Episode(
            vehicle: vehicle, model: last.model, parameter: parameter, threshold: threshold, isMissing: timeMs == nil,
            sinceMs: sinceMs, openedMs: openedMs, value: value, rulesVersion: rules.inForce(at: last.ts).version)
    }
}

extension Threshold {
    /// Thousandths of a day are this long.
    static let msInMilliDay: Int64 = 86_400

    /// The age at which a time's alert is due by the clock; nil for every other rule.
    var ageLimitMs: Int64? {
        guard case .parameter(let parameter) = field, parameter.row.kind == .time, test == .above, holdMs == 0,
            every == nil
        else { return nil }
        return threshold.map { $0 * Threshold.msInMilliDay }
    }
}

extension AlertFold {
    /// The next deadline of each parameter that is not open, in the order of the parameters.
    func deadlines(_ rules: RuleTimeline, _ vehicle: VehicleID) -> [Deadline] {
        guard let last else { return [] }
        return rules.inForce(at: last.ts).judged(last.model, vehicle).compactMap { parameter, threshold in
            if case .open? = watches[parameter] { return nil }
            func deadline(_ dueMs: Int64, sinceMs: Int64, timeMs: Int64?) -> Deadline {
                Deadline(
                    parameter: parameter, threshold: threshold, last: last, openedMs: max(dueMs, last.ts),
                    sinceMs: sinceMs, timeMs: timeMs)
            }
            var found: [Deadline] = []
            if last.isReporting, let absentMs = threshold.absentMs, let sinceMs = lastPresentMs[parameter] {
                found.append(deadline(sinceMs + absentMs, sinceMs: sinceMs, timeMs: nil))
            }
            if let limitMs = threshold.ageLimitMs, let timeMs = lastTimeMs[parameter] {
                let dueMs = timeMs + limitMs
                found.append(deadline(dueMs, sinceMs: max(dueMs, last.ts), timeMs: timeMs))
            }
            // No clock comes as far as what lies beyond our times.
            return found.filter { $0.openedMs < UTC.plausible.upperBound }.min { $0.openedMs < $1.openedMs }
        }
    }

    /// The alerts that the clock has opened since the last reading. `clockMs` is the partition's greatest tick.
    public func overdue(at clockMs: Int64, rules: RuleTimeline, vehicle: VehicleID) -> [Episode] {
        deadlines(rules, vehicle).filter { $0.openedMs < clockMs }.map { $0.episode(vehicle, rules) }
    }

    /// The earliest deadline that `clockMs` has not passed.
    public func nextDeadlineMs(after clockMs: Int64, rules: RuleTimeline, vehicle: VehicleID) -> Int64? {
        deadlines(rules, vehicle).map(\.openedMs).filter { $0 >= clockMs }.min()
    }
}
