import Basics
import Codecs
import Fleet
import SimKit
import Testing
import Trips

struct DriveTests {
    private func reading(_ ts: Int64, speed: Double, rpm: Int32? = 1_000_000, maf: Int32? = nil) -> CarReading {
        var reading = CarReading(ts: ts)
        (reading[.speed], reading[.rpm], reading[.maf]) = (Int32((speed * 1_000).rounded()), rpm, maf)
        return reading
    }

    private func trip(_ readings: [CarReading], _ rules: TripRules = TripRules()) -> DriveTotals {
        Drive.whole(readings, rules: rules).trips[0].totals
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

    @Test func unknownIsNilNeverZero() {
        let only = Drive.whole([CarReading(ts: 0, [.coolant: 80_000])], rules: TripRules()).trips[0]
        let figures = TripFigures(only, price: .standard)
        #expect(figures.distanceKm == nil && figures.averageSpeedKmh == nil && figures.maxRpm == nil)
        #expect(figures.fuelUSGal == nil && figures.fuelCost == nil && figures.fuelMethod == nil)
        #expect(figures.minVoltageV == nil && figures.maxCoolantC == "80")
    }

    /// L/h = MAF·3600/(14.7·745); an hour at 14.7 g/s of air burns 3600 g = 4.832 L = 1.27656 US gal.
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

    // MARK: Parts of a drive (docs/decisions/0023)

    @Test("A border changes no minute, and parts add up to the whole", arguments: 0..<40 as Range<UInt64>)
    func addingUp(seed: UInt64) {
        let rules = SeededDrive.longRules
        let readings = SeededDrive.long(seed: seed, count: 300).unioned()
        let (minutes, trips, _) = Drive.whole(readings, rules: rules)
        let borders = trips.filter(\.isFromBefore).map(\.startMs)
        for trip in trips {
            let sum = minutes.filter { $0.tripStartMs == trip.startMs }.map(\.totals).reduce(DriveTotals(), +)
            #expect(sum == trip.totals && trip.endMs <= trip.borderMs && trip.endMs - trip.startMs <= 2 * UTC.msPerDay)
            #expect(trip.isFromBefore == (trip.startMs % UTC.msPerDay == 0 && !trip.carry.isEmpty))
        }
        for (part, next) in zip(trips, trips.dropFirst()) {
            #expect(part.goesOn == next.isFromBefore && (!part.goesOn || part.endMs == next.startMs))
        }
        // Around each border the same readings without one: less than a day of them has none. What fuel cut-off
        // makes of the air is left out: it is judged by the least throttle of all that the fold has seen.
        for border in borders {
            let near = readings.filter { (border - 40_000_000..<border + 40_000_000).contains($0.ts) }
            let alone = Drive.whole(near, rules: rules)
            #expect(alone.trips.allSatisfy { !$0.goesOn })
            let judged = border - 4_000_000..<border + 40_000_000
            func sums(_ minutes: [VehicleMinute]) -> [[Int64?]] {
                minutes.filter { judged.contains($0.startMs) }.map(\.totals).map {
                    [
                        $0.distanceMm, $0.idleMs, $0.holes, $0.sharpAccelerations, $0.sharpBrakings, $0.integratedMs,
                        $0.milliTurns, $0.airMg, $0.fuelRateUl, $0.accelerationMm2PerS3,
                    ]
                }
            }
            #expect(sums(minutes) == sums(alone.minutes), "seed \(seed)")
        }
    }

    private func packed(_ drive: Drive, _ rules: TripRuleTimeline) throws -> Drive {
        var bytes: [UInt8] = []
        drive.pack(to: &bytes)
        var reader = VarintReader(bytes)
        return try Drive(&reader, rules: rules)
    }

    @Test("A drive goes on the same from its bytes, in a part, too", arguments: 0..<40 as Range<UInt64>)
    func packing(seed: UInt64) throws {
        let readings = SeededDrive.long(seed: seed, count: 200).unioned()
        var rules = TripRuleTimeline(base: SeededDrive.longRules)
        // Of the half of them other limits come into force meanwhile.
        for index in [50, 120] where seed % 2 == 1 {
            var other = SeededDrive.longRules
            (other.gapMs, other.sharpMmPerS2) = (Int64(index) * 1_000, 1_000)
            rules.insert(.init(fromMs: readings[index].ts, rules: other))
        }
        let whole = Drive.whole(readings, rules: rules)
        // At a minute's edge, as it is stored.
        for minute in stride(from: 10, to: whole.minutes.count, by: 17) {
            let startMs = whole.minutes[minute].startMs
            let drive = Drive.whole(readings.filter { $0.ts < startMs }, rules: rules).drive
            let rest = Drive.whole(readings.filter { $0.ts >= startMs }, from: try packed(drive, rules), rules: rules)
            #expect(rest.minutes == Array(whole.minutes[minute...]))
            #expect(rest.trips == whole.trips.suffix(rest.trips.count))
        }
        // And each part from what its row carries.
        for part in whole.trips where part.isFromBefore {
            let own = readings.filter { $0.ts >= part.startMs && $0.ts < part.borderMs }
            let start = try Drive(resuming: part, rules: rules)
            let again = Drive.whole(own, from: start, rules: rules).trips[0]
            #expect(again.totals == part.totals && again.carry == part.carry)
        }
    }

    /// What an upgrade has cut in the table was whole in the packed drive.
    @Test func aDriveThatAnUpgradeCutGoesOnInItsPart() throws {
        let midnightMs: Int64 = 1_767_225_600_000
        let readings = (0...2_000).map { reading(midnightMs - 50_000_000 + Int64($0) * 30_000, speed: 36) }
        var rules = TripRules()
        rules.gapMs = 60_000
        var drive = Drive.whole(readings, rules: rules).drive
        var totals = DriveTotals()
        totals.distanceMm = 7
        drive.cut(at: midnightMs, totals: totals)
        let last = readings[2_000].ts
        _ = drive.add(minute: [reading(last + 60_000, speed: 36)], isCut: false)
        let trip = try #require(drive.trip)
        #expect(trip.startMs == midnightMs && trip.isFromBefore && trip.totals.distanceMm == 600_007)
        let ended = drive.add(minute: [reading(midnightMs + UTC.msPerDay, speed: 36)], isCut: true).ended
        #expect(ended == trip)
    }
}
