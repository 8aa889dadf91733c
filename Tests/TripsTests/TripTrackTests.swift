import Fleet
import SimKit
import Testing
import Trips

/// What a trip's page shows of its readings: thinned, and what happened on it.
struct TripTrackTests {
    private func reading(_ ts: Int64, speed: Double?, rpm: Int32? = nil, at place: (Double, Double)? = nil)
        -> CarReading
    {
        var reading = CarReading(ts: ts)
        reading[.speed] = speed.map { Int32(($0 * 1_000).rounded()) }
        reading[.rpm] = rpm
        reading[.latitude] = place.map { Int32($0.0 * 1e7) }
        reading[.longitude] = place.map { Int32($0.1 * 1e7) }
        return reading
    }

    private func drive(_ speeds: [Double], everyMs: Int64 = 1_000) -> [CarReading] {
        speeds.enumerated().map { reading(Int64($0) * everyMs, speed: $1, rpm: 2_000_000) }
    }

    @Test func fewReadingsAreAllKept() {
        let track = TripTrack(drive([0, 10, 20]), signals: [.speed, .coolant], rules: TripRules())
        #expect(track.points.map(\.ts) == [0, 1_000, 2_000] && track.signals == [.speed])
        #expect(track.points.map(\.values) == [[0], [10_000], [20_000]])
        // Half of 10, then 15 km/h for a second.
        #expect(track.points.map(\.distanceMm) == [0, 1_388, 5_555])
    }

    @Test func manyAreThinnedWithinTheBoundAndKeepTheirPeaks() {
        var readings = (0..<20_000).map {
            reading(Int64($0) * 1_000, speed: 50, rpm: 2_000_000, at: (60, 24 + Double($0) / 1e5))
        }
        readings[7_777][.speed] = 131_000
        readings[12_345][.rpm] = 5_900_000
        readings[15_001][.latitude] = 600_100_000
        let track = TripTrack(readings, signals: [.speed, .rpm], rules: TripRules())
        #expect(track.points.count <= TripTrack.pointsMax && track.points.count > 300)
        #expect(track.points.first?.ts == 0 && track.points.last?.ts == 19_999_000)
        #expect(
            track.points.contains { $0.values[0] == 131_000 } && track.points.contains { $0.values[1] == 5_900_000 })
        #expect(track.points.contains { $0.latitude == 600_100_000 }, "the corner of the way")
        #expect(
            zip(track.points, track.points.dropFirst()).allSatisfy { $0.ts < $1.ts && $0.distanceMm <= $1.distanceMm })
    }

    @Test func aValueHoldsForAWhileAndNoLonger() {
        var readings = drive([50, 50])
        readings[0][.coolant] = 90_000
        readings.append(reading(60_000, speed: nil, rpm: 2_000_000))
        readings.append(reading(60_001, speed: nil, rpm: 2_000_000))
        let track = TripTrack(readings, signals: [.speed, .coolant], rules: TripRules())
        #expect(track.points.map { $0.values[1] } == [90_000, 90_000, 90_000, nil])
        #expect(track.points.map { $0.values[0] } == [50_000, 50_000, nil, nil], "a silence stays one")
    }

    @Test func theDistanceOfTheLastPointIsTheTrips() {
        let readings = drive((0..<3_000).map { Double($0 % 97) })
        let trip = Drive.whole(readings, rules: TripRules()).trips[0]
        let last = TripTrack(readings, signals: [.speed], rules: TripRules()).points.last
        // Minutes are rounded one by one.
        #expect(abs((last?.distanceMm ?? 0) - trip.totals.distanceMm) <= 51)
    }

    @Test func stopsSilencesAndTheTopSpeedAreFound() {
        let speeds = [30.0, 40] + [Double](repeating: 0, count: 70) + [20, 0, 0, 20]
        var readings = drive(speeds)
        readings.append(reading(100_000, speed: 20, rpm: 2_000_000))
        let events = TripEvents(readings, rules: TripRules())
        #expect(
            events.events.filter { $0.kind != .acceleration && $0.kind != .braking } == [
                TripEvent(.topSpeed, from: 1_000, to: 1_000, value: 40_000), TripEvent(.stop, from: 2_000, to: 72_000),
                TripEvent(.silence, from: 75_000, to: 100_000),
            ])
        // From 0 to 2 s, and the second after the stop.
        #expect(events.movingMs == 3_000)
    }

    @Test func thereAreAsManySharpEventsAndSilencesAsTheSumsCount() {
        var chance = SeededChance(seed: 7_217)
        for _ in 0..<50 {
            var (ts, speed) = (Int64(0), 30.0)
            let readings = (0..<400).map { _ -> CarReading in
                ts += chance.once(in: 20) ? 15_000 : 1_000
                speed = min(120, max(0, speed + Double(chance.below(31)) - 15))
                return reading(ts, speed: speed, rpm: 2_000_000)
            }
            let totals = Drive.whole(readings, rules: TripRules()).trips[0].totals
            let events = TripEvents(readings, rules: TripRules()).events
            func count(_ kind: TripEvent.Kind) -> Int64 { Int64(events.count { $0.kind == kind }) }
            #expect(count(.acceleration) == totals.sharpAccelerations && count(.braking) == totals.sharpBrakings)
            #expect(count(.silence) == totals.holes)
            let peaks = events.filter { $0.kind == .braking }.compactMap(\.value)
            #expect(peaks.allSatisfy { $0 > TripRules().sharpMmPerS2 } && peaks.max() == totals.maxBrakingMPeak(peaks))
        }
    }
}

extension DriveTotals {
    /// The greatest braking, where it was sharp.
    fileprivate func maxBrakingMPeak(_ peaks: [Int64]) -> Int64? {
        peaks.isEmpty ? nil : maxBrakingMmPerS2.map { Int64($0) }
    }
}
