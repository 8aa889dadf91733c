internal import Fleet

/// What one rule says of one reading, time left out.
struct Judgement {
    /// The value that is compared, in thousandths: the reading's own, an age in days, a flag as 0 or 1; nil when missing.
    let value: Int64?
    /// Beyond the threshold. Strict: an equal value raises nothing.
    let isFailing: Bool
    let isCritical: Bool
    /// Back past `clear`, or not failing where there is none.
    let isCleared: Bool
    /// Said instead of the rule's own advice.
    let advice: String?
    private let isBelow: Bool

    var isPresent: Bool { value != nil }

    init(_ threshold: Threshold, _ parameter: MachineParameter, _ reading: MachineReading) {
        isBelow = threshold.test == .below
        let value = Judgement.compared(parameter, reading)
        self.value = value
        guard let value, threshold.test != .shown else {
            (isFailing, isCritical, isCleared, advice) = (false, false, value != nil, nil)
            return
        }
        if threshold.every != nil {
            // Services are recorded by a person; until the first is, the interval cannot be known and stays open.
            (isFailing, isCritical, isCleared) = (true, false, false)
            advice = "No service recorded." + (threshold.advice.map { " \($0)" } ?? "")
            return
        }
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

    private static func compared(_ parameter: MachineParameter, _ reading: MachineReading) -> Int64? {
        guard let value = reading.values[parameter] else { return nil }
        switch parameter.row.kind {
        case .number: return value
        case .flag, .count: return value * 1_000
        // An age in days at the reading's time.
        case .time: return Decimal.divided(reading.ts - value, by: Threshold.msInMilliDay)
        }
    }
}
