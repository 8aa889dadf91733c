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
    static var groups: [Group] {
        [
            Group(title: t("Alerts"), settings: [.alerts, .mail, .units]),
            Group(
                title: t("Speed"), settings: [.speedAlert, .speedLimitMph], finer: [.speedHysteresisMph],
                isJudged: true),
            Group(
                title: t("Hours at the wheel"), settings: [.wheelAlert, .wheelLimitH], finer: [.wheelPauseMin],
                isJudged: true),
            Group(
                title: t("Coolant"), settings: [.coolantAlert, .coolantLimitF], finer: [.coolantHysteresisF],
                isJudged: true),
            Group(
                title: t("Voltage"), about: t("Of the engine's control module"),
                settings: [.voltageAlert, .voltageLowV, .voltageHighV],
                finer: [.voltageHoldS, .voltageHysteresisV], isJudged: true),
            Group(title: t("Trouble codes"), settings: [.codesAlert], isJudged: true),
            Group(title: t("Fuel cost"), about: t("For trips from now on"), settings: [.fuelPrice, .fuelCurrency]),
            Group(title: t("Surveys"), settings: [.forwardSurveys]),
        ]
    }

    struct Group {
        let title: String
        var about = ""
        let settings: [DriverSetting]
        /// What hardly anybody changes: behind *More*.
        var finer: [DriverSetting] = []
        /// It raises alerts: off with them.
        var isJudged = false
    }

    static func of(_ setting: DriverSetting) -> SettingsWords {
        switch setting {
        case .alerts: SettingsWords(label: t("Alerts"), help: t("Off: nothing below raises one"))
        case .mail: SettingsWords(label: t("By email, too"))
        case .units: SettingsWords(label: t("Units of alerts and apps"), help: t("Pages use the units of your account"))
        case .speedAlert: SettingsWords(label: t("Tell me when the car is too fast"))
        case .speedLimitMph: SettingsWords(label: t("Max speed"), unit: "mph")
        case .speedLimitKmh: SettingsWords(label: t("Max speed"), unit: "km/h")
        case .speedHysteresisMph: SettingsWords(label: t("Over when this far below"), unit: "mph")
        case .speedHysteresisKmh: SettingsWords(label: t("Over when this far below"), unit: "km/h")
        case .wheelAlert: SettingsWords(label: t("Tell me when somebody drives too long"))
        case .wheelLimitH:
            SettingsWords(label: t("Longest time at the wheel"), help: t("Short pauses included"), unit: "h")
        case .wheelPauseMin:
            SettingsWords(label: t("A pause starts it anew after"), help: t("Standing or off"), unit: "min")
        case .coolantAlert: SettingsWords(label: t("Tell me when the coolant is too hot"))
        case .coolantLimitF: SettingsWords(label: t("Hottest"), unit: "°F")
        case .coolantLimitC: SettingsWords(label: t("Hottest"), unit: "°C")
        case .coolantHysteresisF: SettingsWords(label: t("Over when this far below"), unit: "°F")
        case .coolantHysteresisC: SettingsWords(label: t("Over when this far below"), unit: "°C")
        case .voltageAlert: SettingsWords(label: t("Tell me when the voltage is too low or too high"))
        case .voltageLowV: SettingsWords(label: t("Lowest"), unit: "V")
        case .voltageHighV: SettingsWords(label: t("Highest"), unit: "V")
        case .voltageHoldS: SettingsWords(label: t("For at least"), unit: "s")
        case .voltageHysteresisV: SettingsWords(label: t("Over when this far inside"), unit: "V")
        case .codesAlert: SettingsWords(label: t("Tell me when a scan shows a new trouble code"))
        case .fuelPrice: SettingsWords(label: t("Fuel price"), unit: t("a US gallon"))
        case .fuelCurrency: SettingsWords(label: t("Currency"), help: t("Three letters"))
        case .forwardSurveys:
            SettingsWords(label: t("Pass my surveys on to the collector"), help: t("Without names of people"))
        }
    }

    /// How a choice reads.
    static func choice(_ word: String) -> String {
        switch DriverSettings.Units(rawValue: word) {
        case .us: t("Miles, mpg, °F")
        case .metric: t("Kilometres, litres, °C")
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
