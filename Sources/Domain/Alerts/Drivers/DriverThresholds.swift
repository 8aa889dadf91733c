internal import Basics
public import Fleet

/// The limits that an account's settings give, in the units of readings.
extension DriverSettings {
    /// 1 mile is 1.609344 km (exact, international yard and pound agreement of 1959).
    static let micronsInMilliMile: Int64 = 1_609_344

    /// Thousandths of km/h. Rounded half away from zero: a wheel's speed comes in whole km/h.
    public var speedLimitMilliKmh: Int64 {
        said[.speedLimitKmh] != nil ? number(.speedLimitKmh) : DriverSettings.kmh(fromMph: number(.speedLimitMph))
    }
    private var speedHysteresisMilliKmh: Int64 {
        said[.speedHysteresisKmh] != nil
            ? number(.speedHysteresisKmh) : DriverSettings.kmh(fromMph: number(.speedHysteresisMph))
    }

    /// Thousandths of °C.
    public var coolantLimitMilliC: Int64 {
        said[.coolantLimitC] != nil
            ? number(.coolantLimitC) : Decimal.divided((number(.coolantLimitF) - 32_000) * 5, by: 9)
    }
    private var coolantHysteresisMilliC: Int64 {
        said[.coolantHysteresisC] != nil
            ? number(.coolantHysteresisC) : Decimal.divided(number(.coolantHysteresisF) * 5, by: 9)
    }

    static func kmh(fromMph milliMph: Int64) -> Int64 {
        Decimal.divided(milliMph * micronsInMilliMile, by: 1_000_000)
    }

    /// Thousandths of hours.
    var wheelLimitMilliH: Int64 { number(.wheelLimitH) }
    var wheelPauseMs: Int64 { number(.wheelPauseMin) * 60 }

    /// A car of this account is judged by these: none when the master switch is off.
    var thresholds: [Threshold] {
        guard isOn(.alerts) else { return [] }
        var thresholds: [Threshold] = []
        func add(
            _ alert: DriverSetting, _ parameter: MachineParameter, _ test: Threshold.Test, _ limit: Int64,
            inside: Int64 = 0, holdMs: Int64 = 0, _ advice: String
        ) {
            guard isOn(alert) else { return }
            var threshold = Threshold(
                field: .parameter(parameter), test: test, unit: parameter.row.unit, type: .int, audience: .farmer,
                threshold: limit)
            threshold.clear = test == .above ? limit - inside : limit + inside
            // The engine asks for longer than this, the setting for so long.
            threshold.holdMs = max(0, holdMs - 1)
            threshold.advice = advice
            thresholds.append(threshold)
        }
        let voltageInside = number(.voltageHysteresisV)
        let voltageHoldMs = number(.voltageHoldS)
        add(.speedAlert, .carSpeed, .above, speedLimitMilliKmh, inside: speedHysteresisMilliKmh, "Slow down.")
        add(.wheelAlert, .wheelHours, .above, wheelLimitMilliH, "Take a break.")
        add(
            .coolantAlert, .carCoolant, .above, coolantLimitMilliC, inside: coolantHysteresisMilliC,
            "Stop where it is safe, let the engine cool down and check the coolant.")
        add(
            .voltageAlert, .voltageLow, .below, number(.voltageLowV), inside: voltageInside, holdMs: voltageHoldMs,
            "Have battery, belt and alternator checked.")
        add(
            .voltageAlert, .voltageHigh, .above, number(.voltageHighV), inside: voltageInside, holdMs: voltageHoldMs,
            "Have the voltage regulator checked.")
        return thresholds
    }

    /// The bounds that a reading must cross before it can count as bad at all.
    public var limits: CarLimits {
        var limits = CarLimits.none
        guard isOn(.alerts) else { return limits }
        if isOn(.speedAlert) { limits.speedAbove = Int32(clamping: speedLimitMilliKmh) }
        if isOn(.coolantAlert) { limits.coolantAbove = Int32(clamping: coolantLimitMilliC) }
        if isOn(.voltageAlert) {
            limits.voltageBelow = Int32(clamping: number(.voltageLowV))
            limits.voltageAbove = Int32(clamping: number(.voltageHighV))
        }
        if isOn(.wheelAlert) { limits.wheelMs = wheelLimitMilliH * 3_600 }
        return limits
    }
}

/// Limits of single values, in the integers of `CarReading`: what a loop over readings compares with. Tests are strict.
public struct CarLimits: Equatable, Sendable {
    public var speedAbove = Int32.max
    public var coolantAbove = Int32.max
    public var voltageBelow = Int32.min
    public var voltageAbove = Int32.max
    /// Longer at the wheel than this; nil: it is not judged.
    public var wheelMs: Int64?

    public static let none = CarLimits()
    public init() {}

    /// The limits that the reading crosses: 1 speed, 2 coolant, 4 voltage too low, 8 voltage too high.
    @inlinable
    public func crossed(by reading: borrowing CarReading) -> UInt8 {
        var bits: UInt8 = 0
        if let speed = reading[.speed], speed > speedAbove { bits |= 1 }
        if let coolant = reading[.coolant], coolant > coolantAbove { bits |= 2 }
        if let voltage = reading[.voltage] {
            if voltage < voltageBelow { bits |= 4 }
            if voltage > voltageAbove { bits |= 8 }
        }
        return bits
    }
}
