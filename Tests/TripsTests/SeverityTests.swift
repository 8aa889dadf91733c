import Fleet
import SimKit
import Testing
import Trips

/// Peaks, the limits of sharp events, and the severity.
struct SeverityTests {
    private func drive(_ speeds: [(ts: Int64, kmh: Double)], _ rules: TripRules = TripRules()) -> DriveTotals {
        let readings = speeds.map { CarReading(ts: $0.ts, [.speed: Int32(($0.kmh * 1_000).rounded())]) }
        return Drive.whole(readings, rules: rules).trips[0].totals
    }

    private func each(_ ms: Int64, _ speeds: [Double], from ts: Int64 = 0) -> [(ts: Int64, kmh: Double)] {
        speeds.enumerated().map { (ts + Int64($0) * ms, $1) }
    }

    @Test func peaksAreKeptWhetherSharpOrNot() {
        let totals = drive(each(1_000, [0, 3.6, 10.8, 9, 0]))
        #expect(totals.maxAccelerationMmPerS2 == 2_000 && totals.sharpAccelerations == 0)
        #expect(totals.maxBrakingMmPerS2 == 2_500 && totals.sharpBrakings == 0)
        #expect(drive(each(1_000, [0, 3.6])).maxBrakingMmPerS2 == 0)
        #expect(drive(each(500, [0, 36])).maxAccelerationMmPerS2 == nil)
    }

    @Test(
        "The least speed is that of the faster end",
        arguments: [
            ([0.0, 18, 18], 1, 20.0, 0), ([0, 20, 20], 1, 20, 1), ([20, 0, 0], -1, 20, 1), ([19, 0, 0], -1, 20, 0),
        ] as [([Double], Int, Double, Int64)])
    func leastSpeed(_ speeds: [Double], _ sign: Int, _ least: Double, _ events: Int64) {
        var rules = TripRules()
        rules.sharpLeastMetresPerHour = Int64(least * 1_000)
        let totals = drive(each(1_000, speeds), rules)
        #expect((sign > 0 ? totals.sharpAccelerations : totals.sharpBrakings) == events)
    }

    /// Four readings a second at 4 m/s² for `seconds`: sharp from the first whole second on, until the last.
    @Test(
        "A stretch counts after the hold time, once",
        arguments: [
            (1, 0, 1), (1, 1, 0), (3, 2_000, 1), (3, 2_001, 0),
        ] as [(Int, Int64, Int64)])
    func hold(_ seconds: Int, _ holdMs: Int64, _ events: Int64) {
        var rules = TripRules()
        rules.sharpHoldMs = holdMs
        let still = Array(repeating: 0.0, count: 8)
        let rising = (1...(4 * seconds)).map { Double($0) * 3.6 }
        let fast = Array(repeating: Double(4 * seconds) * 3.6, count: 8)
        #expect(drive(each(250, still + rising + fast), rules).sharpAccelerations == events)
    }

    /// From 0 to 20 m/s at 2 m/s²: the means of 2 s differ by 2 m/s² eight times, less at both ends.
    @Test("The severity of an even acceleration, whatever the rate", arguments: [100, 200, 250, 500, 1_000] as [Int64])
    func even(_ ms: Int64) throws {
        let points = (0...(30_000 / ms)).map {
            (ts: $0 * ms, kmh: min(72, max(0, Double($0 * ms - 5_000) / 1_000 * 7.2)))
        }
        let totals = drive(points)
        // At the ends the kernel (a triangle of 4 s) lies half over the edge: 1/8, 1/2 and 7/8 of 2 m/s² at each.
        let ends = 2 * 4.0 * (0.125 * 0.125 + 0.25 + 0.875 * 0.875)
        #expect(abs(Double(try #require(totals.accelerationMm2PerS3)) / 1e6 - (7 * 4 + ends)) < 0.02)
        #expect(totals.brakingMm2PerS3 == 0)
    }

    @Test func fewerThanFourWholeSecondsSayNothing() {
        #expect(drive(each(1_000, [0, 10, 20, 30])).accelerationMm2PerS3 == nil)
        #expect(drive(each(1_000, [0, 10, 20, 30, 40])).accelerationMm2PerS3 != nil)
        #expect(drive(each(1_000, [0, 10, 20, 30, 40], from: 1)).accelerationMm2PerS3 == nil)
    }

    /// Straight from the words, in floating point: mean speeds over two seconds at each whole second.
    @Test("Peaks and severity equal a brute force", arguments: 300..<360 as Range<UInt64>)
    func bruteForce(seed: UInt64) {
        var rules = TripRules()
        rules.tripGapMs = 6_000_000_000
        let readings = SeededDrive.readings(seed: seed, count: 400).unioned()
        let totals = Drive.whole(readings, rules: rules).trips[0].totals
        var runs: [[(t: Double, v: Double)]] = [[]]
        for reading in readings {
            guard let speed = reading[.speed] else { continue }
            let point = (t: Double(reading.ts - readings[0].ts / 1_000 * 1_000) / 1_000, v: Double(speed) / 3_600)
            if let last = runs[runs.count - 1].last, point.t - last.t > 10.0005 { runs.append([]) }
            runs[runs.count - 1].append(point)
        }
        var (up, down, isKnown, peak, drop): (Double, Double, Bool, Double?, Double?) = (0, 0, false, nil, nil)
        for run in runs where !run.isEmpty {
            func speed(_ t: Double) -> Double {
                let after = run.firstIndex { $0.t >= t - 1e-9 }!
                guard run[after].t > t + 1e-9 else { return run[after].v }
                let (a, b) = (run[after - 1], run[after])
                return a.v + (b.v - a.v) * (t - a.t) / (b.t - a.t)
            }
            func mean(_ from: Double, _ to: Double) -> Double {
                let edges = [from] + run.map(\.t).filter { $0 > from && $0 < to } + [to]
                return zip(edges, edges.dropFirst()).reduce(0) { $0 + (speed($1.0) + speed($1.1)) / 2 * ($1.1 - $1.0) }
                    / (to - from)
            }
            var second = run[0].t.rounded(.up)
            while second + 4 <= run[run.count - 1].t + 1e-9 {
                let change = (mean(second + 2, second + 4) - mean(second, second + 2)) / 2
                (isKnown, second) = (true, second + 1)
                if change > 0 { up += change * change } else { down += change * change }
            }
            for point in run where point.t - 1 >= run[0].t - 1e-9 {
                let change = point.v - speed(point.t - 1)
                (peak, drop) = (max(peak ?? 0, change), max(drop ?? 0, -change))
            }
        }
        #expect((totals.accelerationMm2PerS3 != nil) == isKnown, "seed \(seed)")
        #expect(abs(Double(totals.accelerationMm2PerS3 ?? 0) / 1e6 - up) < 0.01 * (1 + up), "seed \(seed)")
        #expect(abs(Double(totals.brakingMm2PerS3 ?? 0) / 1e6 - down) < 0.01 * (1 + down), "seed \(seed)")
        #expect((totals.maxAccelerationMmPerS2 == nil) == (peak == nil), "seed \(seed)")
        #expect(abs(Double(totals.maxAccelerationMmPerS2 ?? 0) / 1e3 - (peak ?? 0)) < 0.00051, "seed \(seed)")
        #expect(abs(Double(totals.maxBrakingMmPerS2 ?? 0) / 1e3 - (drop ?? 0)) < 0.00051, "seed \(seed)")
    }
}
