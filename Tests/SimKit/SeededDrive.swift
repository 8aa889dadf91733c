internal import Basics
public import Fleet
public import Trips

/// Seeded readings of one car: several trips over two days, midnight included, with holes, silences, several rates,
/// missing signals and readings that dispute each other.
public enum SeededDrive {
    public static func readings(seed: UInt64, count: Int) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        var ts: Int64 = 1_767_225_600_000 - chance.below(7_200_000)
        var (speed, readings): (Int64, [CarReading]) = (0, [])
        // What a car tells of its engine is the car's own; most tell little.
        let engine = max(0, chance.below(8) - 4)
        for _ in 0..<count {
            ts += step(&chance)
            speed = min(130_000, max(0, speed + chance.below(40_001) - 20_000))
            readings.append(reading(ts, speed, engine, &chance))
            if chance.once(in: 12) { readings.append(reading(ts, speed + 1_000, engine, &chance)) }
        }
        return readings
    }

    /// With these a few readings a day are a drive.
    public static let longRules: TripRules = {
        var rules = TripRules()
        (rules.gapMs, rules.tripGapMs) = (600_000, 7_200_000)
        return rules
    }()

    /// Seeded readings of one car that drives for days with `longRules`: on, before and behind midnights, silences near them,
    /// and some that end a drive.
    public static func long(seed: UInt64, count: Int) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        let midnightMs: Int64 = 1_767_225_600_000
        // The first border depends on which side of a midnight the drive begins.
        var ts = midnightMs + [0, -1, 1, chance.below(86_400_000)][Int(chance.below(4))]
        var (speed, readings): (Int64, [CarReading]) = (0, [])
        let engine = max(0, chance.below(8) - 4)
        for _ in 0..<count {
            ts += longStep(from: ts, &chance)
            speed = min(130_000, max(0, speed + chance.below(40_001) - 20_000))
            readings.append(reading(ts, speed, engine, &chance))
            if chance.once(in: 12) { readings.append(reading(ts, speed + 1_000, engine, &chance)) }
        }
        return readings
    }

    private static func longStep(from ts: Int64, _ chance: inout SeededChance) -> Int64 {
        let gapMs = longRules.tripGapMs
        let toMidnightMs = UTC.day(of: ts) + UTC.msPerDay - ts
        if toMidnightMs < gapMs, chance.once(in: 2) {
            return max(1, toMidnightMs + [0, -1, 1, chance.below(120_000) - 60_000][Int(chance.below(4))])
        }
        return switch chance.below(100) {
        case 0: gapMs + 1 + chance.below(100_000_000)
        case 1, 2: gapMs
        case 3: gapMs + 1
        case 4...18: 500 + chance.below(60_000)
        case 19...28: 600_000 + chance.below(2_400_000)
        default: 3_000_000 + chance.below(gapMs - 3_000_000)
        }
    }

    private static func step(_ chance: inout SeededChance) -> Int64 {
        switch chance.below(60) {
        case 0: 300_001 + chance.below(3_600_000)
        case 1, 2: 10_001 + chance.below(200_000)
        case 3: 300_000
        case 4: 10_000
        case 5...25: 100 + chance.below(900)
        default: 1_000 + chance.below(4_000)
        }
    }

    private static func reading(
        _ ts: Int64, _ speed: Int64, _ engine: Int64, _ chance: inout SeededChance
    ) -> CarReading {
        var reading = CarReading(ts: ts)
        if !chance.once(in: 5) { reading[.speed] = Int32(speed) }
        if !chance.once(in: 4) { reading[.rpm] = Int32(chance.below(5_000_000)) }
        if !chance.once(in: 3) { reading[.maf] = Int32(chance.below(90_000)) }
        if chance.once(in: 6) { reading[.coolant] = Int32(60_000 + chance.below(50_000)) }
        if chance.once(in: 6) { reading[.voltage] = Int32(11_000 + chance.below(4_000)) }
        if chance.once(in: 9) {
            reading[.latitude] = Int32(chance.below(900_000_000))
            reading[.longitude] = Int32(chance.below(900_000_000))
        }
        if engine > 0 { addEngine(&reading, &chance) }
        if engine > 1, chance.once(in: 3) { reading[.fuelSystemStatus] = Int32(1_000) << Int32(chance.below(3)) }
        if engine > 2, chance.once(in: 2) { reading[.lambda] = Int32(chance.below(2_000)) }
        return reading
    }

    private static func addEngine(_ reading: inout CarReading, _ chance: inout SeededChance) {
        if chance.once(in: 2) { reading[.manifoldPressure] = Int32(20_000 + chance.below(80_000)) }
        if chance.once(in: 4) { reading[.intakeAir] = Int32(chance.below(80_000)) - 20_000 }
        if chance.once(in: 2) { reading[.throttle] = Int32(12_000 + chance.below(20_000)) }
        if chance.once(in: 3) { reading[.shortFuelTrim] = Int32(chance.below(40_000)) - 20_000 }
        if chance.once(in: 5) { reading[.longFuelTrim] = Int32(chance.below(20_000)) - 10_000 }
        if chance.once(in: 8) { reading[.fuelRate] = Int32(chance.below(20_000)) }
        if chance.once(in: 8) { reading[.mafCalculated] = Int32(chance.below(80_000)) }
    }
}
