internal import Fleet
internal import Trips

/// How far the distance from a car's speed is off the distance between its positions, which a satellite receiver gave
/// and the car knows nothing of. Both over the same intervals.
struct DistanceAccuracy: Equatable, Sendable {
    /// By the speed, holes left out.
    let speedMetres: Double
    /// By the positions, as straight lines from one to the next: bends between them are cut short.
    let positionMetres: Double

    /// Less than this many metres of positions are more noise than distance.
    static let metresMin = 200.0

    /// Nil when there is no independent measure, or hardly any of it.
    /// - Parameter readings: of one recording, by time, one a time.
    init?(_ readings: [CarReading], rules: TripRules) {
        let both = readings.filter { $0[.speed] != nil && Position($0) != nil }
        let trips = Drive.whole(both, rules: rules).trips
        speedMetres = trips.reduce(0) { $0 + Double($1.totals.distanceMm) } / 1_000
        positionMetres = zip(both, both.dropFirst()).reduce(0) { sum, pair in
            guard pair.1.ts - pair.0.ts <= rules.gapMs else { return sum }
            return sum + Position(pair.0)!.metres(to: Position(pair.1)!)
        }
        if positionMetres < DistanceAccuracy.metresMin { return nil }
    }

    /// 0.01 is one percent too far.
    var error: Double { speedMetres / positionMetres - 1 }
}
