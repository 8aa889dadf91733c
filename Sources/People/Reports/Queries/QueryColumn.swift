package import Alerts
internal import Basics
package import Postgres
internal import Trips

/// A column of a ready query as a page shows it: its name without the unit, and its values in the reader's unit. Files have what is stored.
package struct QueryColumn: Sendable {
    /// `idle` of `idle_h`; of a distance in all `distance`.
    package let name: String
    /// Empty: counts, names, times.
    package let unit: String
    /// At most; those that say nothing are left out.
    package let decimals: Int
    private let convert: @Sendable (Double) -> Double

    package init(_ column: String, _ units: DriverSettings.Units) {
        let full = QueryColumn.full[column] ?? column
        if let own = QueryColumn.units.first(where: { full.hasSuffix("_" + $0.ending) }) {
            name = String(full.dropLast(own.ending.utf8.count + 1))
            let other = own.other.flatMap { $0.units == units ? $0 : nil }
            unit = other?.text ?? own.text
            decimals = own.decimals
            convert = other?.convert ?? QueryColumn.asIs
        } else {
            let known = ReportUnit.of(full, units)
            name = known.name
            unit = known.unit.text
            decimals = known.unit.decimals ?? 2
            convert = known.unit.convert
        }
    }

    /// Nil: it is no number.
    package func number(_ value: FieldValue) -> Double? {
        switch value {
        case .integer(let count): unit.isEmpty ? Double(count) : convert(Double(count))
        case .number(let number) where number.isFinite: convert(number)
        // A band that the view has as a text.
        case .text(let text) where !unit.isEmpty: Double(text).map(convert)
        case .null, .text, .bool, .number, .timestampMs, .texts: nil
        }
    }

    @Sendable private static func asIs(_ number: Double) -> Double { number }

    // MARK: Units

    /// Columns that are named by their unit alone.
    private static let full = [
        "km": "distance_km", "h": "time_h", "l_per_100km": "consumption_l_per_100km", "mpg_us": "consumption_mpg_us",
        "from_c": "from_temperature_c",
    ]

    private struct Unit: Sendable {
        let ending, text: String
        let decimals: Int
        /// For readers of the other units.
        var other: Other?
    }

    private struct Other: Sendable {
        let units: DriverSettings.Units
        let text: String
        let convert: @Sendable (Double) -> Double
    }

    /// Those that reports do not have. NIST SP 811 (2008), B.8: mile and US gallon are exact.
    private static let units: [Unit] = [
        Unit(
            ending: "mpg_us", text: "MPG", decimals: 1,
            other: Other(units: .metric, text: "L/100 km") {
                $0 > 0 ? 100 * Fuel.litresPerUSGallon / Fuel.kilometresPerMile / $0 : 0
            }),
        Unit(
            ending: "gal", text: "US gal", decimals: 1,
            other: Other(units: .metric, text: "L") { $0 * Fuel.litresPerUSGallon }),
        Unit(ending: "c", text: "°C", decimals: 1, other: Other(units: .us, text: "°F") { $0 * 9 / 5 + 32 }),
        Unit(ending: "mps", text: "m/s", decimals: 1), Unit(ending: "min", text: "min", decimals: 1),
        Unit(ending: "deg", text: "°", decimals: 4),
    ]
}
