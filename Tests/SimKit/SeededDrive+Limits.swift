internal import Basics
internal import Fleet

extension SeededDrive {
    /// Seeded readings of one car that goes beyond its drivers' limits, and stays there for a while.
    ///
    /// - Parameter isLong: it drives for days, with few readings; else it reads every few seconds, with pauses of up to an hour
    ///   and some minutes.
    static func beyondLimits(seed: UInt64, count: Int, isLong: Bool) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        var (ts, readings): (Int64, [CarReading]) = (1_767_225_600_000 - chance.below(7_200_000), [])
        var (speed, volts): (Int64, Int64) = (50_000, 13_000)
        for _ in 0..<count {
            if isLong {
                ts += chance.once(in: 30) ? 1 + chance.below(3 * 3_600_000) : 1_200_000 + chance.below(2_300_000)
                let midnightMs = UTC.day(of: ts) + UTC.msPerDay
                if midnightMs - ts < 1_800_000, chance.once(in: 2) { ts = midnightMs - 1 + chance.below(3) }
            } else {
                ts += chance.once(in: 50) ? 1 + chance.below(70 * 60_000) : 1_000 + chance.below(9_000)
            }
            if chance.once(in: 10) { speed = chance.below(5) * 40_000 }
            if chance.once(in: 10) { volts = 11_000 + chance.below(6) * 1_000 }
            var reading = CarReading(ts: ts)
            if !chance.once(in: 4) { reading[.speed] = Int32(speed + chance.below(20_000)) }
            if chance.once(in: 3) { reading[.coolant] = Int32(95_000 + chance.below(12) * 1_000) }
            if chance.once(in: 2) { reading[.voltage] = Int32(volts) }
            readings.append(reading)
            if chance.once(in: 40) {
                reading[.speed] = Int32(chance.below(200_000))
                readings.append(reading)
            }
        }
        return readings
    }
}
