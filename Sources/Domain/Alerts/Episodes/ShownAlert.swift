internal import Basics
internal import Codecs
public import Formats

/// Values as an account wants to see them. They are stored as they were read and converted only here.
extension DriverSettings.Units {
    /// A stored value, in thousandths of `unit`, and the unit that it is shown in.
    public func shown(_ value: Int64, unit: String) -> (value: Int64, unit: String) {
        switch (self, unit) {
        case (.us, "km/h"): (Decimal.divided(value * 1_000_000, by: DriverSettings.micronsInMilliMile), "mph")
        case (.us, "°C"): (Decimal.divided(value * 9, by: 5) + 32_000, "°F")
        case (.us, _), (.metric, _): (value, unit)
        }
    }
}

/// An alert's record, or its row, for its driver: the fields as they stand there, with the numbers that have its unit in
/// the account's.
public enum ShownAlert {
    private static let converted: Set<String> = ["threshold", "opening_value", "worst_value"]

    public static func fields(_ fields: [JSONValue.Field], in units: DriverSettings.Units) -> [JSONValue.Field] {
        var unit = ""
        for case ("unit", .text(let text)) in fields { unit = text }
        return fields.map { key, value in
            switch value {
            case .null, .bool, .list, .object: return (key, value)
            case .text(let text):
                return (key, .text(key == "unit" ? units.shown(0, unit: unit).unit : text))
            case .number(let text):
                guard converted.contains(key), let stored = Decimal.scaled(text.utf8, decimals: 3) else {
                    return (key, .number(text))
                }
                return (key, .number(Decimal.text(units.shown(stored, unit: unit).value, decimals: 3)))
            }
        }
    }
}
