internal import Alerts
internal import Basics
internal import Presentation

/// The unit in which a reader sees and types the values of one rule. The file keeps its own.
struct RuleUnit {
    /// As the file writes it.
    let stored: String
    /// As the form shows it; empty: there is none.
    let shown: String
    /// Both units differ: `shown = stored × factor + offset`.
    let isConverted: Bool
    private let factor, offset: Double

    init(_ stored: String, in units: DriverSettings.Units) {
        let zero = ShownValue(0, unit: stored, in: units)
        let one = ShownValue(1, unit: stored, in: units)
        self.stored = stored
        shown = zero.unit
        (factor, offset) = (one.value - zero.value, zero.value)
        isConverted = zero.value != 0 || one.value != 1
    }

    /// Of a form that was made for this unit; nil: for another reader's, or for the file's own.
    static func named(_ name: String?, of stored: String) -> RuleUnit? {
        [DriverSettings.Units.metric, .us].map { RuleUnit(stored, in: $0) }.first { $0.isConverted && $0.shown == name }
    }

    /// `206.6` of thousandths of the file's unit.
    func text(_ stored: Int64) -> String {
        guard isConverted else { return Decimal.text(stored, decimals: 3) }
        return number(Double(stored) / 1_000 * factor + offset)
    }

    /// To be read, with the unit behind it: `85 °C`. Rounded as all values that are read are, which fields to be typed in are not.
    func full(_ stored: Int64) -> String {
        let text = number(value(stored))
        return shown.isEmpty ? text : "\(text) \(shown == "days" ? text == "1" ? t("day") : t("days") : shown)"
    }

    /// Thousandths of the file's unit as a number of the reader's.
    func value(_ stored: Int64) -> Double { Double(stored) / 1_000 * factor + offset }

    /// Thousandths of the file's unit.
    func stored(_ value: Double) -> Int64? { Decimal.scaled((value - offset) / factor, decimals: 3) }

    /// What the file says, as the form shows it; what is no number stays as it is.
    func shown(_ text: String) -> String { Decimal.scaled(text.utf8, decimals: 3).map(self.text) ?? text }

    /// What the form says, as the file keeps it. What was not changed stays as the file has it: a value that is converted to and fro would
    /// wander.
    func stored(_ text: String, was: String?) -> String {
        if let was, shown(was) == text { return was }
        guard isConverted, let thousandths = Decimal.scaled(text.utf8, decimals: 3),
            let value = stored(Double(thousandths) / 1_000)
        else { return text }
        return Decimal.text(value, decimals: 3)
    }

    private func number(_ value: Double) -> String {
        Decimal.scaled(value, decimals: 1).map { Decimal.text($0, decimals: 1) } ?? "–"
    }
}

/// A length of time in the unit that says it shortest. Files have seconds.
enum RuleSpan {
    static let units: [(name: String, seconds: Int64)] = [("s", 1), ("min", 60), ("h", 3_600), ("days", 86_400)]

    /// `3` and `min` of 180,000 ms.
    static func parts(_ ms: Int64) -> (number: String, unit: String) {
        let unit = ms == 0 ? units[1] : units.last { ms % ($0.seconds * 1_000) == 0 } ?? units[0]
        return (Decimal.text(ms / unit.seconds, decimals: 3), unit.name)
    }

    static func text(_ ms: Int64) -> String {
        let (number, unit) = parts(ms)
        guard unit == "days" else { return "\(number) \(unit)" }
        return number == "1" ? t("1 day") : t("\(number) days")
    }

    /// The units to choose from, as people read them.
    static var choices: [(String, String)] { units.map { ($0.name, $0.name == "days" ? t("days") : $0.name) } }

    /// Seconds, as the file writes them; what is no number stays as it is.
    static func seconds(_ text: String, _ unit: String?) -> String {
        guard let unit = units.first(where: { $0.name == unit }), unit.seconds > 1,
            let number = Decimal.scaled(text.utf8, decimals: 3), number.magnitude < 1_000_000_000_000
        else { return text }
        return Decimal.text(number * unit.seconds, decimals: 3)
    }
}
