internal import Alerts
internal import Trips

/// A column's name ends in its unit, as stored; for who reads in US units it is converted and named anew.
struct ReportUnit: Sendable {
    /// The ending of the column's name, and its reading for people; empty: none.
    let ending: String
    let text: String
    /// For figures shown to people; nil: all digits.
    let decimals: Int?
    var convert: @Sendable (Double) -> Double = { $0 }

    /// - Returns: the column's name without and with the unit that is shown, and the unit.
    static func of(_ column: String, _ units: DriverSettings.Units) -> (name: String, key: String, unit: ReportUnit) {
        for (metric, us) in table where column.hasSuffix("_" + metric.ending) {
            let name = String(column.dropLast(metric.ending.count + 1))
            let unit = units == .us ? us ?? metric : metric
            return (name, "\(name)_\(unit.ending)", unit)
        }
        return (column, column, ReportUnit(ending: "", text: "", decimals: nil))
    }

    /// The longer ending first. NIST SP 811 (2008), B.8: mile and US gallon are exact.
    private static let table: [(metric: ReportUnit, us: ReportUnit?)] = [
        (
            ReportUnit(ending: "l_per_100km", text: "L/100 km", decimals: 1),
            ReportUnit(ending: "mpg", text: "MPG", decimals: 1) {
                $0 > 0 ? 100 * Fuel.litresPerUSGallon / Fuel.kilometresPerMile / $0 : 0
            }
        ),
        (
            ReportUnit(ending: "kmh", text: "km/h", decimals: 1),
            ReportUnit(ending: "mph", text: "mph", decimals: 1) { $0 / Fuel.kilometresPerMile }
        ),
        (
            ReportUnit(ending: "km", text: "km", decimals: 1),
            ReportUnit(ending: "mi", text: "mi", decimals: 1) { $0 / Fuel.kilometresPerMile }
        ),
        (
            ReportUnit(ending: "l", text: "L", decimals: 2),
            ReportUnit(ending: "us_gal", text: "US gal", decimals: 2) { $0 / Fuel.litresPerUSGallon }
        ),
        (ReportUnit(ending: "h", text: "h", decimals: 1), nil), (ReportUnit(ending: "s", text: "s", decimals: 1), nil),
        (ReportUnit(ending: "pct", text: "%", decimals: 1), nil),
    ]
}
