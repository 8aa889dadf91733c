import Fleet
import SimKit
import Testing
import Wire

@testable import Trips

struct RouteTests {
    private struct Place { var north, east: Double }  // metres

    /// A drive along corners at 15 m/s, read every `everyS` seconds, each place off by up to `noise` metres.
    private func drive(_ corners: [Place], everyS: Int64, noise: Double, seed: UInt64) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        var (readings, ts): ([CarReading], Int64) = ([], 1_700_000_000_000)
        for (a, b) in zip(corners, corners.dropFirst()) {
            let length = ((b.north - a.north) * (b.north - a.north) + (b.east - a.east) * (b.east - a.east))
                .squareRoot()
            var walked = 0.0
            while walked < length {
                func off() -> Double { (Double(chance.next() % 2_001) / 1_000 - 1) * noise }
                var reading = CarReading(ts: ts)
                let share = walked / length
                // A degree of latitude is 111,195 m on the sphere; at 48° one of longitude is cos 48° = 0.669 of that.
                let (north, east) = (
                    a.north + (b.north - a.north) * share + off(), a.east + (b.east - a.east) * share + off()
                )
                reading[.latitude] = Int32((48 + north / 111_195) * 1e7)
                reading[.longitude] = Int32((9 + east / 111_195 / 0.669_13) * 1e7)
                readings.append(reading)
                (ts, walked) = (ts + everyS * 1_000, walked + 15 * Double(everyS))
            }
        }
        return readings
    }

    private let toWork = [
        Place(north: 0, east: 0), Place(north: 3_000, east: 500), Place(north: 3_500, east: 4_000),
        Place(north: 9_000, east: 4_200),
    ]

    @Test("One way read seldom, often and with noise is one way", arguments: 1...5 as ClosedRange<UInt64>)
    func sampling(seed: UInt64) throws {
        let one = try #require(Route(drive(toWork, everyS: 1, noise: 5, seed: seed)))
        let other = try #require(Route(drive(toWork, everyS: 7, noise: 15, seed: seed + 100)))
        #expect(one.isSame(as: other) && other.isSame(as: one), "\(one.distance(to: other))")
    }

    @Test func otherWaysAreOthers() throws {
        let one = try #require(Route(drive(toWork, everyS: 3, noise: 8, seed: 1)))
        let back = try #require(Route(drive(toWork.reversed(), everyS: 3, noise: 8, seed: 2)))
        #expect(!one.isSame(as: back))
        // From and to the same places, by a road that is 800 m beside it in the middle.
        var detour = toWork
        detour[2].east += 800
        let around = try #require(Route(drive(detour, everyS: 3, noise: 8, seed: 3)))
        #expect(!one.isSame(as: around) && one.distance(to: around).start < 50)
        var short = toWork
        short.removeLast()
        #expect(!one.isSame(as: try #require(Route(drive(short, everyS: 3, noise: 8, seed: 4)))))
    }

    /// By hand: two parallel straight lines 300 m apart.
    @Test func theDistanceOfParallels() throws {
        let one = try #require(
            Route(drive([Place(north: 0, east: 0), Place(north: 5_000, east: 0)], everyS: 2, noise: 0, seed: 1)))
        let other = try #require(
            Route(drive([Place(north: 0, east: 300), Place(north: 5_000, east: 300)], everyS: 2, noise: 0, seed: 1)))
        let distance = one.distance(to: other)
        for metres in [distance.start, distance.end, distance.shape] { #expect((metres - 300).magnitude < 0.5) }
    }

    @Test func aWrongPositionIsLeftOut() throws {
        var readings = drive(toWork, everyS: 2, noise: 5, seed: 9)
        let clean = try #require(Route(readings))
        readings[200][.latitude] = 0
        let jumping = try #require(Route(readings))
        #expect(jumping.isSame(as: clean) && (jumping.metres - clean.metres).magnitude < 50)
    }

    @Test func aParkedCarHasNoRoute() {
        #expect(
            Route(drive([Place(north: 0, east: 0), Place(north: 200, east: 0)], everyS: 1, noise: 5, seed: 1)) == nil)
        #expect(Route([]) == nil)
    }
}

struct RefuellingTests {
    /// A level each `everyS` seconds with the sensor's steps of 0.39 % and up to `slosh` percent of sloshing.
    private func levels(_ percent: (Int) -> Double?, seconds: Int, slosh: Double, seed: UInt64) -> [CarReading] {
        var chance = SeededChance(seed: seed)
        return stride(from: 0, to: seconds, by: 10).compactMap { second in
            guard let level = percent(second) else { return nil }
            var reading = CarReading(ts: 1_700_000_000_000 + Int64(second) * 1_000)
            let moved = level + (Double(chance.next() % 2_001) / 1_000 - 1) * slosh
            let raw = (max(0, min(100, moved)) * 255 / 100).rounded()
            reading[.fuelLevel] = Int32((raw * 100_000 / 255).rounded())
            return reading
        }
    }

    @Test("A filling during a stop is found once, sloshing is not", arguments: 1...20 as ClosedRange<UInt64>)
    func filled(seed: UInt64) throws {
        // Half an hour with falling level, ten minutes of silence at the station, an hour on.
        let readings = levels(
            { $0 < 1_800 ? 30 - Double($0) / 300 : $0 < 2_400 ? nil : 78 - Double($0 - 2_400) / 300 }, seconds: 6_000,
            slosh: 3, seed: seed)
        let found = Refuelling.all(in: readings)
        #expect(found.count == 1, "\(found)")
        let one = try #require(found.first)
        #expect(one.fromMs == 1_700_000_000_000 + 1_790_000 && one.toMs == 1_700_000_000_000 + 2_400_000)
        #expect((Double(one.risenMilliPct) / 1_000 - 54).magnitude < 3)
        // 54 % of 50 L are 27 L.
        #expect((one.litres(tankMl: 50_000)! - 27).magnitude < 1.5)
        #expect(one.litres(tankMl: nil) == nil)
    }

    @Test("Nobody fills in while the car only drives", arguments: 1...20 as ClosedRange<UInt64>)
    func driven(seed: UInt64) {
        #expect(Refuelling.all(in: levels({ 60 - Double($0) / 400 }, seconds: 12_000, slosh: 4, seed: seed)).isEmpty)
    }

    @Test func twoFillingsAreTwo() {
        let readings = levels(
            { $0 < 1_800 ? 20 : $0 < 7_200 ? 60 - Double($0) / 400 : 95 }, seconds: 10_000, slosh: 2, seed: 3)
        #expect(Refuelling.all(in: readings).count == 2)
    }
}
