import Fleet
import SimKit
import Testing
import Trips

struct InstantMileageTests {
    private func reading(_ values: [Signal: Int32], ts: Int64 = 1_700_000_000_000) -> CarReading {
        CarReading(ts: ts, values)
    }

    /// The specification: 7.155 · km/h ÷ (g/s) at 745 g/L.
    @Test("By air flow", arguments: [(54_000, 14_700), (120_000, 30_000), (1_000, 500)] as [(Int32, Int32)])
    func airFlow(_ speed: Int32, _ maf: Int32) throws {
        let mpg = try #require(InstantMileage.of(reading([.speed: speed, .maf: maf]), car: nil))
        #expect(abs(mpg / (7.155 * Double(speed) / Double(maf)) - 1) < 1e-4)
    }

    /// MPG = 235.2146 ÷ L/100 km: 7.2 L/h at 90 km/h are 8 L/100 km, 29.4018 MPG.
    @Test func byTheEnginesOwnRate() throws {
        let fast = reading([.speed: 90_000, .fuelRate: 7_200, .maf: 1])
        #expect(abs(try #require(InstantMileage.of(fast, car: car(.diesel))) - 29.4018) < 1e-3)
    }

    @Test func bySpeedDensity() throws {
        let values =
            [Signal.speed: 54_000, .rpm: 2_000_000, .manifoldPressure: 50_000, .intakeAir: 29_850] as [Signal: Int32]
        let mpg = try #require(InstantMileage.of(reading(values), car: car(cc: 2_000)))
        #expect(abs(mpg / (7.155 * 54 / 15.33) - 1) < 1e-3)
    }

    @Test(
        "Unknown is nil, standstill is 0",
        arguments: [
            ([.speed: 0, .maf: 3_000], nil, 0.0), ([.speed: 0], nil, 0), ([.maf: 3_000], nil, nil),
            ([.speed: 50_000], nil, nil), ([.speed: 50_000, .maf: 0], nil, nil),
            ([.speed: 50_000, .maf: 9_000], .diesel, nil),
            ([.speed: 50_000, .fuelRate: 0], .diesel, nil), ([.speed: 50_000, .maf: 9_000], .electric, nil),
            (
                [.speed: 50_000, .maf: 9_000, .rpm: 2_000_000, .throttle: 14_000, .fuelSystemStatus: 4_000], nil, nil
            ),
        ] as [([Signal: Int32], Action.Car.Fuel?, Double?)])
    func edges(_ values: [Signal: Int32], _ fuel: Action.Car.Fuel?, _ mpg: Double?) {
        #expect(InstantMileage.of(reading(values), car: car(fuel)) == mpg)
    }

    @Test func aSignalCountsUntilTheHoleLimit() {
        var mileage = InstantMileage(car: nil, rules: TripRules())
        #expect(mileage.observe(reading([.maf: 14_700], ts: 1_000_000)) == nil)
        #expect(mileage.observe(reading([.speed: 54_000], ts: 1_010_000)) != nil)
        #expect(mileage.observe(reading([.speed: 54_000], ts: 1_010_001)) == nil)
    }
}

extension InstantMileage {
    /// What one reading alone says.
    fileprivate static func of(_ reading: CarReading, car: Action.Car?) -> Double? {
        var mileage = InstantMileage(car: car, rules: TripRules())
        return mileage.observe(reading)
    }
}
