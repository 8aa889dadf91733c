internal import Alerts
internal import Fleet
internal import Presentation
internal import Trips

/// The signals that a trip's page draws, what they are called, and in what units an account reads them.
struct TripSignals {
    static var all: [(signal: Signal, name: String, decimals: Int)] {
        [
            (.speed, t("Speed"), 0), (.rpm, t("Engine speed"), 0), (.fuelRate, t("Fuel rate"), 1),
            (.coolant, t("Coolant"), 1), (.maf, t("Air flow"), 1), (.mafCalculated, t("Air flow, worked out"), 1),
            (.engineLoad, t("Engine load"), 0), (.throttle, t("Throttle"), 0), (.intakeAir, t("Intake air"), 0),
            (.ambientAir, t("Outside air"), 0), (.voltage, t("Voltage"), 1), (.fuelLevel, t("Fuel level"), 0),
        ]
    }

    /// So many stand on the page at first.
    static let shownMax = 4

    let units: DriverSettings.Units
    let settings: DriverSettings?

    struct Limit {
        /// In the reader's units.
        let value: Double
        let isLeast: Bool
        let text: String
    }

    func unit(_ signal: Signal) -> String { shown(0, signal).unit }

    /// - Parameter stored: as readings hold it.
    func value(_ stored: Int32, _ signal: Signal) -> Double {
        shown(Double(stored) / Double(signal.row.scale), signal).value
    }

    private func shown(_ value: Double, _ signal: Signal) -> (value: Double, unit: String) {
        if signal == .rpm { return (value, "rpm") }
        if signal == .fuelRate, units == .us { return (value / Fuel.litresPerUSGallon, "gal/h") }
        let shown = ShownValue(value, unit: signal.row.unit, in: units)
        return (shown.value, shown.unit)
    }

    /// Those of the trip's driver; nobody has any where nobody drives or owns the car.
    func limits(_ signal: Signal) -> [Limit] {
        guard let settings, settings.isOn(.alerts) else { return [] }
        func limit(_ thousandths: Int64, isLeast: Bool = false) -> Limit {
            let shown = shown(Double(thousandths) / 1_000, signal)
            let text = GroupedNumber.text(shown.value, signal == .voltage ? 1 : 0)
            return Limit(value: shown.value, isLeast: isLeast, text: t("Limit \(text) \(shown.unit)"))
        }
        switch signal {
        case .speed: return settings.isOn(.speedAlert) ? [limit(settings.speedLimitMilliKmh)] : []
        case .coolant: return settings.isOn(.coolantAlert) ? [limit(settings.coolantLimitMilliC)] : []
        case .voltage:
            guard settings.isOn(.voltageAlert) else { return [] }
            return [limit(settings.number(.voltageLowV), isLeast: true), limit(settings.number(.voltageHighV))]
        case .rpm, .maf, .mafCalculated, .fuelRate, .manifoldPressure, .intakeAir, .engineLoad, .throttle, .fuelLevel,
            .ambientAir, .latitude, .longitude, .fuelSystemStatus, .lambda, .shortFuelTrim, .longFuelTrim,
            .engineRunTime, .distanceSinceClear:
            return []
        }
    }
}
