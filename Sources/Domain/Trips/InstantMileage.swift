public import Fleet

/// Miles a US gallon at this moment: the last of each signal, none older than the hole limit.
public struct InstantMileage: Sendable {
    private let car: Action.Car?
    private let rules: TripRules
    private var last: [Signal: LastValue] = [:]
    private var mixture = Mixture()
    private static let signals: [Signal] = [
        .speed, .rpm, .fuelRate, .maf, .mafCalculated, .manifoldPressure, .intakeAir,
    ]

    public init(car: Action.Car?, rules: TripRules) { (self.car, self.rules) = (car, rules) }

    /// 0 at standstill; nil where speed or the flow of fuel is not known, or there is none, as on overrun.
    /// By air flow of gasoline it is 7.155 · km/h ÷ (g/s): Lightner's formula (fuelly.com) at 14.7 g of air to a gram and 745 g/L.
    public mutating func observe(_ reading: CarReading) -> Double? {
        mixture.observe(reading)
        for signal in InstantMileage.signals {
            if let value = reading[signal] { last[signal] = LastValue(ts: reading.ts, value: Int64(value)) }
        }
        guard let speed = value(.speed, reading.ts) else { return nil }
        if speed == 0 { return 0 }
        guard let litresPerHour = litresPerHour(reading.ts), litresPerHour > 0 else { return nil }
        return Double(speed) / 1_000 / Fuel.kilometresPerMile / (litresPerHour / Fuel.litresPerUSGallon)
    }

    private func value(_ signal: Signal, _ ts: Int64) -> Int64? {
        last[signal].flatMap { $0.isFresh(at: ts, rules) ? $0.value : nil }
    }

    /// By the best method at hand, as `FuelUse` orders them.
    private func litresPerHour(_ ts: Int64) -> Double? {
        let kind = car?.fuel ?? .gasoline
        if let rate = value(.fuelRate, ts), kind != .electric { return Double(rate) / 1_000 }
        guard let row = FuelRow.of(kind), let flow = airFlow(ts),
            mixture.isFuelCut(at: ts, speed: last[.speed], rpm: last[.rpm], rules) != true
        else { return nil }
        return Fuel.litres(burntAirMg: Double(mixture.burnt(flow, at: ts, rules)) / 1_000, row) * 3_600
    }

    /// µg/s.
    private func airFlow(_ ts: Int64) -> Int64? {
        if let measured = value(.maf, ts) ?? value(.mafCalculated, ts) { return measured * 1_000 }
        guard let displacementCc = car?.displacementCc, let rpm = value(.rpm, ts),
            let pressure = value(.manifoldPressure, ts), let intake = value(.intakeAir, ts)
        else { return nil }
        let perLitre = SpeedDensity.microgramsPerSecond(
            rpmMilli: rpm, pressureMilliKPa: pressure, intakeMilliC: intake)
        let efficiency = car?.volumetricEfficiencyMilliPct.map { Double($0) / 100_000 }
        let litres = Double(displacementCc) / 1_000 * (efficiency ?? SpeedDensity.volumetricEfficiency)
        return Int64((Double(perLitre) * litres).rounded())
    }
}
