import Fleet
import SimKit
import Testing
import Trips

struct DriveTests {
    private func reading(_ ts: Int64, speed: Double, rpm: Int32? = 1_000_000, maf: Int32? = nil) -> CarReading {
        var reading = CarReading(ts: ts)
        reading[.speed] = Int32((speed * 1_000).rounded())
        reading[.rpm] = rpm
        reading[.maf] = maf
        return reading
    }

    private func trip(_ readings: [CarReading], _ rules: TripRules = TripRules()) -> DriveTotals {
        Drive.whole(readings, rules: rules).trips[0].totals
    }

    @Test func tenSecondsAt36KmhAre100Metres() {
        #expect(trip((0...10).map { reading($0 * 1_000, speed: 36) }).distanceMm == 100_000)
    }

    @Test func theHoleLimitItselfIsBridgedAndOneMillisecondMoreIsNot() {
        let at = trip([reading(0, speed: 36), reading(10_000, speed: 36)])
        #expect(at.distanceMm == 100_000 && at.holes == 0)
        let beyond = trip([reading(0, speed: 36), reading(10_001, speed: 36)])
        #expect(beyond.distanceMm == 0 && beyond.holes == 1 && beyond.integratedMs == 0)
    }

    @Test func theTripGapItselfIsOneTripAndOneMillisecondMoreIsTwo() {
        #expect(Drive.whole([reading(0, speed: 1), reading(300_000, speed: 1)], rules: TripRules()).trips.count == 1)
        #expect(Drive.whole([reading(0, speed: 1), reading(300_001, speed: 1)], rules: TripRules()).trips.count == 2)
    }

    @Test(
        "Idle needs speed 0 and a turning engine",
        arguments: [
            (0.0, 800_000 as Int32?, 1_000 as Int64), (0, 0, 0), (0, nil, 0), (1, 800_000, 0),
        ] as [(Double, Int32?, Int64)])
    func idle(_ speed: Double, _ rpm: Int32?, _ idleMs: Int64) {
        #expect(trip([reading(0, speed: speed, rpm: rpm), reading(1_000, speed: 0, rpm: rpm)]).idleMs == idleMs)
    }

    @Test(
        "The sharp limit is strict and needs a whole second",
        arguments: [
            ([0, 10.8], 0), ([0, 10.81], 1), ([0, 5.5, 11], 0), ([0, 11, 22, 33], 1), ([0, 11, 11, 22], 2),
            ([0, 11, 22, 22, 22, 33], 2),
            ([33, 22, 11, 0], 0),
        ] as [([Double], Int64)])
    func sharp(_ speeds: [Double], _ events: Int64) {
        let readings = speeds.enumerated().map { reading(Int64($0) * 1_000, speed: $1) }
        #expect(trip(readings).sharpAccelerations == events)
        // The same drive backwards brakes as often as this one accelerates.
        let backwards = speeds.reversed().enumerated().map { reading(Int64($0) * 1_000, speed: $1) }
        #expect(trip(backwards).sharpBrakings == events)
    }

    @Test func aRunsFirstSecondHasNoSharpEvent() {
        #expect(trip([reading(0, speed: 0), reading(500, speed: 30), reading(900, speed: 60)]).sharpAccelerations == 0)
    }

    @Test func unknownIsNilNeverZero() {
        var only = CarReading(ts: 0)
        only[.coolant] = 80_000
        let figures = TripFigures(Drive.whole([only], rules: TripRules()).trips[0], price: .standard)
        #expect(figures.distanceKm == nil && figures.averageSpeedKmh == nil && figures.maxRpm == nil)
        #expect(figures.fuelUSGal == nil && figures.fuelCost == nil && figures.fuelMethod == nil)
        #expect(figures.minVoltageV == nil && figures.maxCoolantC == "80")
    }

    /// FACTS §3: L/h = MAF·3600/(14.7·745); an hour at 14.7 g/s of air burns 3600 g = 4.832 L = 1.27656 US gal.
    @Test func anHourOfAirIsTheFuelOfTheFormula() {
        let readings = (0...3600).map { reading(Int64($0) * 1_000, speed: 54, maf: 14_700) }
        let figures = TripFigures(Drive.whole(readings, rules: TripRules()).trips[0], price: .standard)
        #expect(figures.fuelUSGal == "1.276536")
        #expect(figures.distanceKm == "54")
        #expect(figures.fuelCost == "3.0509")
    }

    @Test("A trip is the sum of its minutes, and no reading is lost", arguments: 0..<60 as Range<UInt64>)
    func sumOfMinutes(seed: UInt64) {
        let readings = SeededDrive.readings(seed: seed, count: 400).unioned()
        let (minutes, trips, _) = Drive.whole(readings, rules: TripRules())
        #expect(minutes.flatMap(\.readings) == readings)
        for trip in trips {
            let sum = minutes.filter { $0.tripStartMs == trip.startMs }.map(\.totals).reduce(DriveTotals(), +)
            #expect(sum == trip.totals, "seed \(seed)")
        }
        #expect(zip(trips, trips.dropFirst()).allSatisfy { $1.startMs - $0.endMs > 300_000 })
    }

    /// Brute force in floating point, straight from the rule's words.
    @Test("Distance, idle and sharp events equal a brute force", arguments: 100..<160 as Range<UInt64>)
    func bruteForce(seed: UInt64) {
        var rules = TripRules()
        rules.tripGapMs = 6_000_000_000
        let readings = SeededDrive.readings(seed: seed, count: 500).unioned()
        let totals = trip(readings, rules)
        let speeds = readings.compactMap { r in r[.speed].map { (t: Double(r.ts) / 1_000, v: Double($0) / 3_600) } }
        var (distance, holes, runStart): (Double, Int64, Double) = (0, 0, speeds[0].t)
        var (sharp, lastSharp, before): (Int64, Double, Bool) = (0, -1e18, false)
        for (index, now) in speeds.enumerated() {
            if index > 0 {
                let last = speeds[index - 1]
                if now.t - last.t > 10.0005 {
                    (holes, runStart) = (holes + 1, now.t)
                } else {
                    distance += (now.v + last.v) / 2 * (now.t - last.t)
                }
            }
            var change = 0.0
            if now.t - 1 >= runStart - 1e-6 {
                let after = speeds[...index].firstIndex { $0.t > now.t - 1 + 1e-6 }!
                let (a, b) = (speeds[after - 1], speeds[after])
                change = now.v - (a.v + (b.v - a.v) * (now.t - 1 - a.t) / (b.t - a.t))
            }
            let isSharp = change > 3.0 + 1e-9
            if isSharp && !before && now.t - lastSharp > 1.0005 { sharp += 1 }
            if isSharp { lastSharp = now.t }
            before = isSharp
        }
        #expect(totals.holes == holes && totals.sharpAccelerations == sharp, "seed \(seed)")
        #expect(abs(Double(totals.distanceMm) / 1_000 - distance) < 0.1, "seed \(seed)")
    }
}
