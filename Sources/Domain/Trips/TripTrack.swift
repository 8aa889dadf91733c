public import Fleet
internal import Glibc

/// A trip's readings in no more points than a browser draws well: the corners of its way and the peaks of its signals are kept, so that it
/// looks as the whole would.
public struct TripTrack: Equatable, Sendable {
    public static let pointsMax = 2_000
    /// What was read longer ago says nothing of this moment. Adapters ask for some signals once in half a minute.
    private static let latestMs: Int64 = 60_000

    public struct Point: Equatable, Sendable {
        public let ts: Int64
        /// Nil: this reading has no place.
        public let latitude, longitude: Int32?
        /// In the order of `signals`: what was read last, if it still holds.
        public let values: [Int32?]
        /// Since the start of the trip, by the rule of its sums.
        public let distanceMm: Int64
    }

    /// Those that were read at all.
    public let signals: [Signal]
    public let points: [Point]

    /// Precondition: `readings` are one trip's, by time, one a time.
    public init(
        _ readings: [CarReading], signals wanted: [Signal], rules: TripRules, pointsMax: Int = TripTrack.pointsMax
    ) {
        let any = readings.reduce(UInt32(0)) { $0 | $1.mask }
        let signals = wanted.filter { any & (1 << UInt32($0.rawValue)) != 0 }
        let kept = TripTrack.kept(readings, pointsMax)
        var (points, next): ([Point], Int) = ([], 0)
        var latest = [(value: Int32, ts: Int64)?](repeating: nil, count: signals.count)
        var (lastSpeed, twice): ((value: Int64, ts: Int64)?, Int64) = (nil, 0)
        for (index, reading) in readings.enumerated() {
            for (slot, signal) in signals.enumerated() {
                if let value = reading[signal] { latest[slot] = (value, reading.ts) }
            }
            if let speed = reading[.speed] {
                if let last = lastSpeed, reading.ts - last.ts <= rules.gapMs {
                    twice += (last.value + Int64(speed)) * (reading.ts - last.ts)
                }
                lastSpeed = (Int64(speed), reading.ts)
            }
            guard next < kept.count, kept[next] == index else { continue }
            next += 1
            let values = zip(signals, latest).map { signal, last -> Int32? in
                let holdsMs = signal == .speed ? rules.gapMs : TripTrack.latestMs
                return last.flatMap { reading.ts - $0.ts <= holdsMs ? $0.value : nil }
            }
            let hasPlace = reading[.latitude] != nil && reading[.longitude] != nil
            points.append(
                Point(
                    ts: reading.ts, latitude: hasPlace ? reading[.latitude] : nil,
                    longitude: hasPlace ? reading[.longitude] : nil, values: values,
                    // m/h times ms, twice: 2 · 3600 of them are a millimetre.
                    distanceMm: twice / 7_200))
        }
        self.signals = signals
        self.points = points
    }

    /// Of so many readings in a row: the first, the least and the greatest speed, the greatest engine speed, and the place that is furthest
    /// off the straight way. Indices, in order.
    private static func kept(_ readings: [CarReading], _ pointsMax: Int) -> [Int] {
        guard readings.count > pointsMax else { return Array(readings.indices) }
        let pieces = max(1, (pointsMax - 1) / 5)
        var kept: Set<Int> = [readings.count - 1]
        for piece in 0..<pieces {
            let span = readings.count * piece / pieces..<readings.count * (piece + 1) / pieces
            kept.insert(span.lowerBound)
            func keep(_ signal: Signal, _ isBetter: (Int32, Int32) -> Bool) {
                var best: (index: Int, value: Int32)?
                for index in span {
                    guard let value = readings[index][signal] else { continue }
                    if best.map({ isBetter(value, $0.value) }) ?? true { best = (index, value) }
                }
                if let best { kept.insert(best.index) }
            }
            keep(.speed, <)
            keep(.speed, >)
            keep(.rpm, >)
            if let corner = corner(readings, span) { kept.insert(corner) }
        }
        return kept.sorted()
    }

    /// The place of a stretch that is furthest from the straight line between its ends.
    private static func corner(_ readings: [CarReading], _ span: Range<Int>) -> Int? {
        let places = span.compactMap { index -> (index: Int, x: Double, y: Double)? in
            guard let latitude = readings[index][.latitude], let longitude = readings[index][.longitude] else {
                return nil
            }
            let shrink = cos(Double(latitude) / 1e7 * .pi / 180)
            return (index, Double(longitude) * shrink, Double(latitude))
        }
        guard let first = places.first, let last = places.last else { return nil }
        let (dx, dy) = (last.x - first.x, last.y - first.y)
        return places.max { off($0) < off($1) }?.index

        func off(_ place: (index: Int, x: Double, y: Double)) -> Double {
            let (x, y) = (place.x - first.x, place.y - first.y)
            // Where it comes back to where it was, how far away it has been.
            return dx == 0 && dy == 0 ? x * x + y * y : abs(dx * y - dy * x)
        }
    }
}
