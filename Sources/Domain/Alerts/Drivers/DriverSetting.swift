/// The settings of an account, one row a key. Limits exist in both systems of units and are kept as given.
public enum DriverSetting: String, CaseIterable, Sendable {
    case alerts, mail, units
    case speedAlert = "speed_alert"
    case speedLimitMph = "speed_limit_mph"
    case speedLimitKmh = "speed_limit_kmh"
    case speedHysteresisMph = "speed_hysteresis_mph"
    case speedHysteresisKmh = "speed_hysteresis_kmh"
    case wheelAlert = "wheel_alert"
    case wheelLimitH = "wheel_limit_h"
    case wheelPauseMin = "wheel_pause_min"
    case coolantAlert = "coolant_alert"
    case coolantLimitF = "coolant_limit_f"
    case coolantLimitC = "coolant_limit_c"
    case coolantHysteresisF = "coolant_hysteresis_f"
    case coolantHysteresisC = "coolant_hysteresis_c"
    case voltageAlert = "voltage_alert"
    case voltageLowV = "voltage_low_v"
    case voltageHighV = "voltage_high_v"
    case voltageHoldS = "voltage_hold_s"
    case voltageHysteresisV = "voltage_hysteresis_v"
    case codesAlert = "codes_alert"
    case fuelPrice = "fuel_price_per_us_gal"
    case fuelCurrency = "fuel_currency"
    case forwardSurveys = "forward_surveys"

    public var row: DriverSettingRow { DriverSettingRow.table[self]! }

    /// True for limits that decide what is an alert; the other settings concern who is told.
    var isLimit: Bool {
        switch self {
        case .mail, .units, .fuelPrice, .fuelCurrency, .forwardSurveys: false
        case .alerts, .speedAlert, .speedLimitMph, .speedLimitKmh, .speedHysteresisMph, .speedHysteresisKmh,
            .wheelAlert, .wheelLimitH, .wheelPauseMin, .coolantAlert, .coolantLimitF, .coolantLimitC,
            .coolantHysteresisF, .coolantHysteresisC, .voltageAlert, .voltageLowV, .voltageHighV, .voltageHoldS,
            .voltageHysteresisV, .codesAlert:
            true
        }
    }

    public static let limits = allCases.filter(\.isLimit)
}

/// The type and the default of a setting.
public struct DriverSettingRow: Sendable {
    public enum Kind: Equatable, Sendable {
        case flag
        /// In the key's unit.
        case number(least: Int64, most: Int64)
        case choice([String])
        /// ISO 4217.
        case currency
    }

    public let kind: Kind
    /// Nil: its twin in the other unit has one.
    public let standard: DriverSettings.Value?
    /// The same limit in another unit: of the two one can be said.
    public let twin: DriverSetting?
    public let help: String

    static let table: [DriverSetting: DriverSettingRow] = [
        .alerts: row(.flag, .flag(true), "the master switch of all alerts"),
        .mail: row(.flag, .flag(false), "alerts by mail, too"),
        .units: row(
            .choice(["us", "metric"]), .text("us"),
            "what alerts of your drives and the figures of an app are shown in; pages go by your account"
        ),
        .speedAlert: row(.flag, .flag(true), "tell when the car is too fast"),
        .speedLimitMph: number(1, 300, 80, twin: .speedLimitKmh, "too fast is more than this"),
        .speedLimitKmh: number(1, 400, nil, twin: .speedLimitMph, "the same in km/h"),
        .speedHysteresisMph: number(0, 50, 3, twin: .speedHysteresisKmh, "so far below the limit it is over"),
        .speedHysteresisKmh: number(0, 80, nil, twin: .speedHysteresisMph, "the same in km/h"),
        .wheelAlert: row(.flag, .flag(true), "tell when somebody has driven too long"),
        .wheelLimitH: number(0, 24, 4, "too long is more than this, short pauses included"),
        .wheelPauseMin: number(5, 60, 30, "standing or off for so long ends the spell"),
        .coolantAlert: row(.flag, .flag(true), "tell when the coolant is too hot"),
        .coolantLimitF: number(100, 400, 220, twin: .coolantLimitC, "too hot is more than this"),
        .coolantLimitC: number(40, 205, nil, twin: .coolantLimitF, "the same in °C"),
        .coolantHysteresisF: number(0, 100, 5, twin: .coolantHysteresisC, "so far below the limit it is over"),
        .coolantHysteresisC: number(0, 60, nil, twin: .coolantHysteresisF, "the same in °C"),
        .voltageAlert: row(.flag, .flag(true), "tell when the control module's voltage is out of its band"),
        .voltageLowV: number(0, 66, 11_800, in: 1_000, "below is too low"),
        .voltageHighV: number(0, 66, 15, "above is too high"),
        .voltageHoldS: number(0, 3_600, 10, "for so long"),
        .voltageHysteresisV: number(0, 10, 200, in: 1_000, "so far inside the band it is over"),
        .codesAlert: row(.flag, .flag(true), "tell when a scan shows a trouble code that was not there"),
        .fuelPrice: number(0, 1_000, 2_390, in: 1_000, "what a US gallon costs"),
        .fuelCurrency: row(.currency, .text("USD"), "of the price, three letters"),
        .forwardSurveys: row(
            .flag, .flag(false), "pass the surveys that are handed in on to the operator's collector, without people"),
    ]

    private static func row(_ kind: Kind, _ standard: DriverSettings.Value?, _ help: String) -> DriverSettingRow {
        DriverSettingRow(kind: kind, standard: standard, twin: nil, help: help)
    }

    /// `standard` is in whole units, or in as many parts of one as `in` says.
    private static func number(
        _ least: Int64, _ most: Int64, _ standard: Int64?, in parts: Int64 = 1, twin: DriverSetting? = nil,
        _ help: String
    ) -> DriverSettingRow {
        DriverSettingRow(
            kind: .number(least: least, most: most), standard: standard.map { .number($0 * (1_000 / parts)) },
            twin: twin, help: help)
    }
}
