package import Alerts
internal import Basics

/// A value as an account reads it. Stored values keep their unit; they are converted here, at the edge.
package struct ShownValue: Sendable, Equatable {
    package let value: Double
    package let unit: String

    /// - Parameter unit: as the value was stored, or as a threshold file writes it; a space where there is none.
    package init(_ value: Double, unit: String?, in units: DriverSettings.Units) {
        let unit = ShownValue.plain(unit ?? "")
        switch (units, unit) {
        // NIST SP 811 (2008), B.8: the US gallon, the pound-force per square inch and the mile are exact or given so.
        case (.metric, "US gal"): (self.value, self.unit) = (value * 3.785_411_784, "L")
        case (.us, "kPa"): (self.value, self.unit) = (value / 6.894_757, "psi")
        case (.us, "°C"): (self.value, self.unit) = (value * 9 / 5 + 32, "°F")
        case (.us, "km/h"): (self.value, self.unit) = (value / 1.609_344, "mph")
        case (.us, "km"): (self.value, self.unit) = (value / 1.609_344, "mi")
        case (_, "hours"): (self.value, self.unit) = (value, "h")
        default: (self.value, self.unit) = (value, unit.allSatisfy(\.isWhitespace) ? "" : unit)
        }
    }

    /// Gallons by one name: files of rules have several, and a metric account must not meet any.
    private static func plain(_ unit: String) -> String {
        let word = unit.lowercased().filter { !$0.isWhitespace && $0 != "." }
        return ["usgal", "usgallon", "usgallons", "gal", "gallon", "gallons"].contains(word) ? "US gal" : unit
    }

    /// `86.5 °C`: at most one decimal, none where it is whole.
    package var text: String { unit.isEmpty ? number : "\(number) \(unit)" }

    package var number: String {
        guard let tenths = Decimal.scaled(value, decimals: 1) else { return "–" }
        return Decimal.text(tenths, decimals: 1)
    }
}
