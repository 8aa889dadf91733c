internal import Basics
public import Fleet

/// The verdict of one rule on one reading, without duration.
struct Judgement {
    /// The value that is compared, in thousandths: the reading's own, an age in days, a flag as 0 or 1, what has run since
    /// the last service; nil when missing.
    let value: Int64?
    /// Beyond the threshold. Strict: an equal value raises nothing.
    let isFailing: Bool
    let isCritical: Bool
    /// Failing only in so far as a service will be due.
    let isSoon: Bool
    /// Back past `clear`, or not failing where there is none.
    let isCleared: Bool
    /// Said instead of the rule's own advice.
    let advice: String?
    private let isBelow: Bool

    var isPresent: Bool { value != nil }

    init(_ threshold: Threshold, _ parameter: MachineParameter, _ reading: MachineReading, _ services: ServiceLog) {
        isBelow = threshold.test == .below
        let compared = parameter.compared(in: reading)
        guard let compared, threshold.test != .shown else {
            value = compared
            advice = nil
            isFailing = false
            isCritical = false
            isSoon = false
            isCleared = compared != nil
            return
        }
        if let every = threshold.every {
            guard let service = services.last(at: reading.ts) else {
                // Services are recorded by a person; until the first is, the interval cannot be known and stays open.
                value = compared
                isFailing = true
                isCritical = false
                isSoon = false
                isCleared = false
                advice = MissingService.advice(threshold.advice)
                return
            }
            let run = compared - service.atHours
            value = run
            advice = nil
            isFailing = run > every - (threshold.soon ?? every / 10)
            isSoon = run <= every
            isCritical = threshold.critical.map { run > $0 } ?? false
            isCleared = !isFailing
            return
        }
        let value = compared
        self.value = value
        isSoon = false
        advice = nil
        // An age is compared to the millisecond, or a deadline would be passed at another time than it says.
        let isAge = parameter.row.kind == .time
        let exact = isAge ? reading.ts - reading.values[parameter]! : value
        func beyond(_ limit: Int64?) -> Bool {
            guard let limit = isAge ? limit.map({ $0 * Threshold.msInMilliDay }) : limit else { return false }
            return threshold.test == .below ? exact < limit : exact > limit
        }
        isFailing = beyond(threshold.threshold)
        isCritical = beyond(threshold.critical)
        isCleared = !beyond(threshold.clear ?? threshold.threshold)
    }

    func isWorse(_ value: Int64, than worst: Int64?) -> Bool { worst.map { isBelow ? value < $0 : value > $0 } ?? true }
}

extension MachineParameter {
    /// What rules compare of a reading, in thousandths: a value, a flag or count as such, the age of a time in days.
    public func compared(in reading: MachineReading) -> Int64? {
        guard let value = reading.values[self] else { return nil }
        switch row.kind {
        case .number: return value
        case .flag, .count: return value * 1_000
        // An age in days at the reading's time.
        case .time: return Decimal.divided(reading.ts - value, by: Threshold.msInMilliDay)
        }
    }
}
