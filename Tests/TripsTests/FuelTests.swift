import Fleet
import SimKit
import Testing
import Trips

/// Fuel by every method, against values worked out by hand and against a brute force in floating point.
struct FuelTests {
    /// One reading a second for an hour, all alike.
    private func hour(_ values: [Signal: Int32], seconds: Int64 = 3_600) -> [CarReading] {
        (0...seconds).map { CarReading(ts: $0 * 1_000, values) }
    }

    private func totals(_ readings: [CarReading]) -> DriveTotals {
        Drive.whole(readings, rules: TripRules()).trips[0].totals
    }

    private func litres(_ readings: [CarReading], _ car: Action.Car? = nil) -> Double? {
        if case .litres(let litres, _) = FuelUse(totals(readings), car: car) { litres } else { nil }
    }

    private static let check: [Signal: Int32] = [.rpm: 2_000_000, .manifoldPressure: 50_000, .intakeAir: 29_850]

    /// By the ideal gas law 2.0 L, 2000 rpm, MAP 50 kPa, IAT 303 K, VE 80 % are 15.33 g/s, 5.08 L/h at 739.3 g/L.
    @Test func speedDensityGivesTheCheckValue() {
        let flow = SpeedDensity.microgramsPerSecond(rpmMilli: 2_000_000, pressureMilliKPa: 50_000, intakeMilliC: 29_850)
        #expect(abs(Double(flow) / 1e6 * 2 * 0.8 - 15.33) < 0.005)
        let hour = litres(hour(FuelTests.check), car(cc: 2_000, efficiency: 80_000))!
        #expect(abs(hour * 745 / 739.3 - 5.08) < 0.005)
        // The three known blunders: (IAT + 273)/2 in the divisor is 4 times too much, diesel's 820 g/L with 14.7,
        // and vacuum (101 - 50 kPa) read as pressure.
        #expect(abs(hour / 5.039 - 1) < 0.001)
        #expect(abs(hour / (5.039 * 745 / 820) - 1) > 0.09)
        #expect(abs(hour / (5.039 * 51 / 50) - 1) > 0.019)
    }

    @Test func volumetricEfficiencyIs80PercentUntilItIsKnown() {
        let (known, assumed) = (car(cc: 2_000, efficiency: 80_000), car(cc: 2_000))
        #expect(litres(hour(FuelTests.check), known) == litres(hour(FuelTests.check), assumed))
    }

    /// The extremes of the signals: nothing overflows.
    @Test func theGreatestFlowThatCanBeRead() {
        let flow = SpeedDensity.microgramsPerSecond(
            rpmMilli: 16_384_000, pressureMilliKPa: 655_000, intakeMilliC: -40_000)
        // 16384 · 655 / 233.15 / 120 · 28.97 / 8.314, in g/s.
        #expect(abs(Double(flow) / 1e6 - 1336.543347) < 1e-3)
        let most = hour([.rpm: 16_384_000, .manifoldPressure: 655_000, .intakeAir: -40_000, .lambda: 500], seconds: 59)
        #expect(totals(most).burntAirPerLitreMg == (flow * 118 + 500) / 1_000)
    }

    @Test func theEnginesOwnRateIsTaken() {
        #expect(litres(hour([.fuelRate: 7_200])) == 7.2)
        #expect(litres(hour([.fuelRate: 7_200]), car(.diesel)) == 7.2)
    }

    /// g fuel/s = MAF / (14.7 λ). 14.7 g/s at λ 0.9 for an hour: 4000 g.
    @Test(
        "λ is taken before trims; trims where there is no λ; what no engine has is no λ and no trim",
        arguments: [
            ([:], 1.0), ([.lambda: 900], 1 / 0.9), ([.lambda: 900, .shortFuelTrim: 20_000], 1 / 0.9),
            ([.shortFuelTrim: 5_000], 1.05), ([.shortFuelTrim: 5_000, .longFuelTrim: -7_500], 0.975),
            ([.lambda: 0, .longFuelTrim: 2_000], 1.02), ([.lambda: 0], 1), ([.shortFuelTrim: -100_000], 1),
        ] as [([Signal: Int32], Double)])
    func mixture(_ values: [Signal: Int32], _ factor: Double) {
        let air = values.merging([.maf: 14_700]) { $1 }
        #expect(abs(litres(hour(air))! - 3_600 / 745 * factor) < 1e-5)
        let density = values.merging(FuelTests.check) { $1 }
        let plain = litres(hour(FuelTests.check), car(cc: 2_000))!
        #expect(abs(litres(hour(density), car(cc: 2_000))! / plain - factor) < 1e-6)
        // What was measured stays as it was measured.
        #expect(totals(hour(air)).airMg == 52_920_000)
    }

    /// Open loop on overrun, by PID 03 of SAE J1979. 54 km/h, 2000 rpm, throttle shut; each change alone lets the fuel flow.
    @Test(
        "Fuel is cut on overrun only",
        arguments: [
            ([:], 0.0), ([.fuelSystemStatus: 2_000], 1), ([.fuelSystemStatus: 1_000], 1), ([.speed: 0], 1),
            ([.rpm: 1_000_000], 1), ([.throttle: 40_000], 1), ([.throttle: 25_001], 1), ([.fuelSystemStatus: 6_000], 0),
        ] as [([Signal: Int32], Double)])
    func fuelCut(_ changed: [Signal: Int32], _ share: Double) {
        let coasting: [Signal: Int32] = [
            .maf: 14_700, .speed: 54_000, .rpm: 2_000_000, .throttle: 14_000, .fuelSystemStatus: 4_000,
        ]
        let readings = hour(coasting.merging(changed) { $1 })
        #expect(abs(litres(readings)! - 3_600 / 745 * share) < 1e-5)
        #expect(totals(readings).fuelCutMs == (share == 0 ? 3_600_000 : 0))
    }

    @Test func fullLoadIsNoFuelCutThoughItIsOpenLoopToo() {
        var readings = hour(
            [.maf: 14_700, .speed: 54_000, .rpm: 2_000_000, .throttle: 14_000, .fuelSystemStatus: 2_000], seconds: 100)
        for index in 50...100 {
            readings[index][.throttle] = 20_000
            readings[index][.fuelSystemStatus] = 4_000
        }
        #expect(totals(readings).fuelCutMs == 0)
    }

    @Test func aCarThatDoesNotTellItsStatusHasNoFuelCutTime() {
        #expect(totals(hour([.maf: 14_700, .speed: 54_000, .rpm: 2_000_000, .throttle: 14_000])).fuelCutMs == nil)
    }

    @Test func aValueThatIsOlderThanTheHoleLimitSaysNothing() {
        var readings = hour([.maf: 14_700], seconds: 20)
        readings[0][.lambda] = 500
        // Ten seconds at twice the fuel, one from twice to once, nine at once.
        let wanted: Int64 = 294_000 + 22_050 + 132_300
        #expect(totals(readings).burntAirMg == wanted)
    }

    // MARK: The choice of a method

    @Test(
        "The best method that covers the drive is named",
        arguments: [
            ([.fuelRate: 5_000, .maf: 14_700], nil, .fuelRate), ([.maf: 14_700, .mafCalculated: 14_700], nil, .maf),
            ([.mafCalculated: 14_700], nil, .mafCalculated), (check, 1_500, .speedDensity),
            ([.maf: 1_000, .rpm: 1, .manifoldPressure: 1, .intakeAir: 1], 1_500, .maf),
        ] as [([Signal: Int32], Int32?, FuelMethod)])
    func method(_ values: [Signal: Int32], _ cc: Int32?, _ method: FuelMethod) {
        let figures = TripFigures(
            Drive.whole(hour(values), rules: TripRules()).trips[0], car: car(cc: cc), price: .standard)
        #expect(figures.fuelMethod == method && figures.fuelUnknown == nil && figures.fuelCost != nil)
    }

    @Test(
        "No method says why",
        arguments: [
            ([.maf: 14_700], .diesel, .dieselWithoutRate), ([.speed: 1], nil, .nothingRead),
            (check, nil, .displacementUnknown), ([.fuelRate: 5_000], .electric, .electric),
        ] as [([Signal: Int32], Action.Car.Fuel?, FuelUnknown)])
    func unknown(_ values: [Signal: Int32], _ fuel: Action.Car.Fuel?, _ why: FuelUnknown) {
        let figures = TripFigures(
            Drive.whole(hour(values), rules: TripRules()).trips[0], car: car(fuel), price: .standard)
        #expect(figures.fuelUnknown == why && figures.fuelMethod == nil && figures.fuelUSGal == nil)
        #expect(figures.fuelCost == nil && figures.averageMpg == nil)
    }

    @Test func aRateThatCameLateDoesNotStandForTheWholeTrip() {
        var readings = hour([.maf: 14_700], seconds: 1_000)
        for index in 900...1_000 { readings[index][.fuelRate] = 5_000 }
        #expect(FuelUse(totals(readings), car: nil) == .litres(14_700 / 14.7 / 745, .maf))
    }

    /// Grams of air a gram of fuel: (C + H/4 - O/2) mol of O2 a mol, and 3.773 mol of other gases for each, 28.16 g/mol.
    @Test(
        "Ratios follow from the fuels' formulas",
        arguments: [
            (.ethanol, [(1.0, 2.0, 6.0, 1.0)]), (.methanol, [(1, 1, 4, 1)]), (.cng, [(1, 1, 4, 0)]),
            (.lpg, [(0.6, 3, 8, 0), (0.4, 4, 10, 0)]),
        ] as [(Action.Car.Fuel, [(Double, Double, Double, Double)])])
    func ratio(_ fuel: Action.Car.Fuel, _ parts: [(Double, Double, Double, Double)]) throws {
        var (air, mass) = (0.0, 0.0)
        for (share, c, h, o) in parts {
            air += share * (c + h / 4 - o / 2) * (31.998 + 3.773 * 28.16)
            mass += share * (12.011 * c + 1.008 * h + 15.999 * o)
        }
        #expect(abs(try #require(FuelRow.of(fuel)).stoichiometricAir / (air / mass) - 1) < 0.004)
    }

    @Test func aGasolineGallonEquivalentOfGasWeighs2567Grams() throws {
        let gas = try #require(FuelRow.of(.cng))
        #expect(abs(gas.gramsPerLitre * 3.785411784 - 2_567) < 1e-9)
    }

    // MARK: Brute force

    /// Straight from the rules' words, in floating point, signal by signal.
    @Test("Fuel equals a brute force", arguments: 200..<260 as Range<UInt64>) func bruteForce(seed: UInt64) throws {
        var rules = TripRules()
        rules.tripGapMs = 6_000_000_000
        let readings = SeededDrive.readings(seed: seed, count: 500).unioned()
        let totals = Drive.whole(readings, rules: rules).trips[0].totals
        func latest(
            _ signal: Signal, _ index: Int, maxMs: Int64 = 10_000, where isValid: (Int32) -> Bool = { _ in true }
        ) -> Double? {
            for reading in readings[...index].reversed() {
                if readings[index].ts - reading.ts > maxMs { return nil }
                if let value = reading[signal], isValid(value) { return Double(value) / 1_000 }
            }
            return nil
        }
        func factor(_ index: Int) -> Double {
            let least = readings[...index].compactMap { $0[.throttle] }.min().map { Double($0) / 1_000 }
            if let status = latest(.fuelSystemStatus, index), Int(status) & 4 != 0,
                let throttle = latest(.throttle, index), (latest(.speed, index) ?? 0) > 0,
                (latest(.rpm, index) ?? 0) > 1_000, throttle <= least! + 2 + 1e-9, throttle <= 25
            {
                return 0
            }
            if let lambda = latest(.lambda, index, where: { $0 >= 500 && $0 <= 2_000 }) { return 1 / lambda }
            let trim = (latest(.shortFuelTrim, index) ?? 0) + (latest(.longFuelTrim, index) ?? 0)
            return abs(trim) <= 50 ? 1 + trim / 100 : 1
        }
        func integral(_ samples: [(ts: Int64, value: Double)]) -> Double? {
            var sum: Double?
            for (a, b) in zip(samples, samples.dropFirst()) where b.ts - a.ts <= 10_000 {
                sum = (sum ?? 0) + (a.value + b.value) / 2 * Double(b.ts - a.ts) / 1_000
            }
            return sum
        }
        func samples(_ value: (Int) -> Double?) -> [(ts: Int64, value: Double)] {
            readings.indices.compactMap { index in value(index).map { (readings[index].ts, $0) } }
        }
        let maf = integral(samples { index in readings[index][.maf].map { Double($0) / 1_000 * factor(index) } })
        equal(totals.burntAirMg, maf.map { $0 * 1_000 }, seed)
        let density = integral(
            samples { index in
                guard readings[index][.rpm] != nil || readings[index][.manifoldPressure] != nil,
                    let rpm = latest(.rpm, index), let pressure = latest(.manifoldPressure, index),
                    let intake = latest(.intakeAir, index, maxMs: 60_000)
                else { return nil }
                return rpm * pressure / (intake + 273.15) / 120 * 28.97 / 8.314 * factor(index)
            })
        equal(totals.burntAirPerLitreMg, density.map { $0 * 1_000 }, seed)
        let rate = integral(samples { index in readings[index][.fuelRate].map { Double($0) / 1_000 } })
        equal(totals.fuelRateUl, rate.map { $0 / 3_600 * 1e6 }, seed)
    }

    /// Each minute is rounded once: half a unit for each of at most 500 minutes.
    private func equal(_ sum: Int64?, _ wanted: Double?, _ seed: UInt64, line: SourceLocation = #_sourceLocation) {
        guard let sum, let wanted else {
            #expect(sum == nil && wanted == nil, "seed \(seed)", sourceLocation: line)
            return
        }
        #expect(
            abs(Double(sum) - wanted) < 250 + wanted * 1e-6, "seed \(seed): \(sum), \(wanted)", sourceLocation: line)
    }
}

func car(_ fuel: Action.Car.Fuel? = nil, cc: Int32? = nil, efficiency: Int32? = nil) -> Action.Car {
    var car = Action.Car()
    (car.fuel, car.displacementCc, car.volumetricEfficiencyMilliPct) = (fuel, cc, efficiency)
    return car
}
