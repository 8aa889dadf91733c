internal import Alerts
internal import Basics
internal import Presentation

/// What a setting is called on a page, and in what unit it is typed.
struct SettingsWords {
    let label: String
    var help: String = ""
    var unit: String = ""

    /// Settings that belong together, in the order in which people look for them. Of two that say the same in two units the first stands
    /// for both.
    static let groups: [(title: String, about: String, settings: [DriverSetting])] = [
        ("Alerts", "", [.alerts, .mail, .units]),
        ("Speed", "", [.speedAlert, .speedLimitMph, .speedHysteresisMph]),
        ("Hours at the wheel", "", [.wheelAlert, .wheelLimitH, .wheelPauseMin]),
        ("Coolant", "", [.coolantAlert, .coolantLimitF, .coolantHysteresisF]),
        (
            "Voltage", "Of the engine's control module",
            [.voltageAlert, .voltageLowV, .voltageHighV, .voltageHoldS, .voltageHysteresisV]
        ),
        ("Trouble codes", "", [.codesAlert]),
        ("Fuel cost", "For trips from now on", [.fuelPrice, .fuelCurrency]),
        ("Surveys", "", [.forwardSurveys]),
    ]

    static func of(_ setting: DriverSetting) -> SettingsWords {
        switch setting {
        case .alerts: SettingsWords(label: "Alerts", help: "Off: nothing below raises one")
        case .mail: SettingsWords(label: "By email, too")
        case .units: SettingsWords(label: "Units of alerts and apps", help: "Pages use the units of your account")
        case .speedAlert: SettingsWords(label: "Tell me when the car is too fast")
        case .speedLimitMph: SettingsWords(label: "Max speed", unit: "mph")
        case .speedLimitKmh: SettingsWords(label: "Max speed", unit: "km/h")
        case .speedHysteresisMph: SettingsWords(label: "Over when this far below", unit: "mph")
        case .speedHysteresisKmh: SettingsWords(label: "Over when this far below", unit: "km/h")
        case .wheelAlert: SettingsWords(label: "Tell me when somebody drives too long")
        case .wheelLimitH: SettingsWords(label: "Longest time at the wheel", help: "Short pauses included", unit: "h")
        case .wheelPauseMin: SettingsWords(label: "A pause starts it anew after", help: "Standing or off", unit: "min")
        case .coolantAlert: SettingsWords(label: "Tell me when the coolant is too hot")
        case .coolantLimitF: SettingsWords(label: "Hottest", unit: "°F")
        case .coolantLimitC: SettingsWords(label: "Hottest", unit: "°C")
        case .coolantHysteresisF: SettingsWords(label: "Over when this far below", unit: "°F")
        case .coolantHysteresisC: SettingsWords(label: "Over when this far below", unit: "°C")
        case .voltageAlert: SettingsWords(label: "Tell me when the voltage is too low or too high")
        case .voltageLowV: SettingsWords(label: "Lowest", unit: "V")
        case .voltageHighV: SettingsWords(label: "Highest", unit: "V")
        case .voltageHoldS: SettingsWords(label: "For at least", unit: "s")
        case .voltageHysteresisV: SettingsWords(label: "Over when this far inside", unit: "V")
        case .codesAlert: SettingsWords(label: "Tell me when a scan shows a new trouble code")
        case .fuelPrice: SettingsWords(label: "Fuel price", unit: "a US gallon")
        case .fuelCurrency: SettingsWords(label: "Currency", help: "Three letters")
        case .forwardSurveys:
            SettingsWords(label: "Pass my surveys on to the collector", help: "Without names of people")
        }
    }

    /// How a choice reads.
    static func choice(_ word: String) -> String {
        switch DriverSettings.Units(rawValue: word) {
        case .us: "Miles, mpg, °F"
        case .metric: "Kilometres, litres, °C"
        case nil: word
        }
    }

    /// The default in the unit that the field has; nil: there is none.
    static func standard(_ setting: DriverSetting) -> String? {
        switch setting.row.standard ?? setting.row.twin?.row.standard {
        case .number(let thousandths):
            let value = Double(thousandths) / 1_000
            let own = setting.row.standard == nil ? converted(value, setting) : value
            // People set whole degrees and km/h.
            return Decimal.scaled(own, decimals: setting.row.standard == nil ? 0 : 3).map {
                Decimal.text($0, decimals: setting.row.standard == nil ? 0 : 3)
            }
        case .text(let text): return text
        case .flag, nil: return nil
        }
    }

    /// Its twin's value in the unit of this one.
    private static func converted(_ value: Double, _ setting: DriverSetting) -> Double {
        switch setting {
        case .speedLimitKmh, .speedHysteresisKmh: value * 1.609_344
        case .coolantLimitC: (value - 32) * 5 / 9
        case .coolantHysteresisC: value * 5 / 9
        case .alerts, .mail, .units, .speedAlert, .speedLimitMph, .speedHysteresisMph, .wheelAlert, .wheelLimitH,
            .wheelPauseMin, .coolantAlert, .coolantLimitF, .coolantHysteresisF, .voltageAlert, .voltageLowV,
            .voltageHighV, .voltageHoldS, .voltageHysteresisV, .codesAlert, .fuelPrice, .fuelCurrency, .forwardSurveys:
            value
        }
    }
}
