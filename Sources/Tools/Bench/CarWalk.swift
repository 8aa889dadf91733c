package import Fleet

/// A fleet on the move for benches: one reading of each car in turn, the same in every run.
package struct CarWalk {
    /// 2026-01-01.
    package static let startMs: Int64 = 1_767_225_600_000

    private let cars: [VehicleID]
    private var speeds: [Int32]
    private var state: UInt64 = 42
    private var index = 0

    package init(vehicles: Int) {
        cars = (0..<vehicles).map { VehicleID("car-\($0)")! }
        speeds = cars.indices.map { Int32($0 % 90) * 1_000 }
    }

    /// The next car's reading; each car has one every so many milliseconds.
    package mutating func next(everyMs: Int64) -> (car: VehicleID, reading: CarReading) {
        let (round, number) = (index / cars.count, index % cars.count)
        index += 1
        // Numerical Recipes' 64-bit linear congruential generator: repeatable is all that is asked.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        speeds[number] = min(130_000, max(0, speeds[number] + Int32(state >> 33 & 8_191) - 4_095))
        var reading = CarReading(ts: CarWalk.startMs + Int64(round) * everyMs)
        reading[.speed] = speeds[number]
        reading[.rpm] = 800_000 + speeds[number] * 25
        reading[.maf] = 2_000 + speeds[number] / 4
        reading[.coolant] = 88_000
        reading[.voltage] = 13_900
        return (cars[number], reading)
    }
}
