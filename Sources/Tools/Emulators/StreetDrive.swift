internal import Basics
internal import Fleet

/// A drive along streets, second by second: it keeps to limits, slows down for bends, waits at some of the traffic lights, and stands
/// at its end.
struct StreetDrive {
    struct Moment: Equatable {
        let place: Position
        let metresPerS: Double
        /// Metres per second squared.
        let gain: Double
    }

    private static let gain = 1.3
    private static let braking = 1.5
    /// Of red lights, those that are seen late.
    private static let lateShare = 0.06
    private static let lateBraking = 3.7
    /// Within it any speed of a town is braked.
    private static let sightM = 80.0
    /// Of lights, those that are red; for so long.
    private static let redShare = 0.35
    private static let redS = 6...24

    private(set) var moments: [Moment] = []

    /// - Parameter way: crossings, each joined to the next by a street.
    init(_ streets: Streets, along way: [Int], chance: inout SplitMix64) {
        guard way.count > 1 else { return }
        let line = Line(streets, way, &chance)
        var (metres, speed, next) = (0.0, 0.0, 1)
        // Nothing drives longer: a fault of the formulas shall not fill the memory.
        while moments.count < 7_200 {
            let before = speed
            speed = max(0.8, min(speed + StreetDrive.gain, line.speed(at: metres, next)))
            let from = metres
            metres += speed
            var waits: Int?
            while next < way.count, waits == nil, line.metres[next] <= metres + 0.5 {
                if line.waits[next] > 0 || next == way.count - 1 { waits = line.waits[next] }
                next += 1
            }
            guard let waits else {
                moments.append(Moment(place: line.place(at: metres, next), metresPerS: speed, gain: speed - before))
                continue
            }
            // It rolls to the line, and stands there.
            metres = line.metres[next - 1]
            let (place, last) = (streets.nodes[way[next - 1]], max(0, metres - from))
            moments.append(Moment(place: place, metresPerS: last, gain: last - before))
            for _ in 0...waits { moments.append(Moment(place: place, metresPerS: 0, gain: 0)) }
            speed = 0
            guard next < way.count else { return }
        }
    }

    /// The way with the speed that is right at each crossing.
    private struct Line {
        let places: [Position]
        /// From the start to each crossing.
        private(set) var metres = [0.0]
        /// Up to each crossing, and at it.
        private var limit = [0.0]
        private var most: [Double]
        private var braking: [Double]
        /// Seconds.
        private(set) var waits: [Int]

        init(_ streets: Streets, _ way: [Int], _ chance: inout SplitMix64) {
            places = way.map { streets.nodes[$0] }
            waits = Array(repeating: 0, count: way.count)
            most = Array(repeating: 0, count: way.count)
            braking = Array(repeating: StreetDrive.braking, count: way.count)
            for (a, b) in zip(way, way.dropFirst()) {
                let edge = streets.edge(a, b)
                metres.append(metres[metres.count - 1] + edge.metres)
                limit.append(Double(edge.kmh) / 3.6 * (0.86 + 0.16 * chance.unit()))
            }
            for at in 1..<way.count - 1 where way.count > 2 {
                most[at] = min(limit[at], limit[at + 1], bend(at))
                if streets.signals.contains(way[at]), chance.unit() < StreetDrive.redShare {
                    waits[at] = StreetDrive.redS.lowerBound + chance.below(StreetDrive.redS.count)
                    most[at] = 0
                    if chance.unit() < StreetDrive.lateShare { braking[at] = StreetDrive.lateBraking }
                }
            }
        }

        /// Straight on is fast, a right angle slow.
        private func bend(_ at: Int) -> Double {
            let (a, b, c) = (places[at - 1], places[at], places[at + 1])
            func step(_ from: Position, _ to: Position) -> (Double, Double) {
                // Longitudes are half as far apart in Helsinki; for a bend that is near enough anywhere this is used.
                (Double(to.latitude - from.latitude), Double(to.longitude - from.longitude) / 2)
            }
            let ((x1, y1), (x2, y2)) = (step(a, b), step(b, c))
            let lengths = ((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2)).squareRoot()
            let straight = lengths > 0 ? (x1 * x2 + y1 * y2) / lengths : 1
            return straight > 0.9 ? 30 : straight > 0.6 ? 8 : straight > 0.2 ? 5.5 : 3.5
        }

        /// So that it is slow enough wherever it must be, though moments are a second apart.
        func speed(at metres: Double, _ next: Int) -> Double {
            var speed = limit[next]
            for at in next..<most.count {
                let room = self.metres[at] - metres
                if room > StreetDrive.sightM { break }
                let half = braking[at] / 2
                speed = min(speed, (half * half + most[at] * most[at] + 4 * half * max(0, room)).squareRoot() - half)
            }
            return speed
        }

        func place(at metres: Double, _ next: Int) -> Position {
            let (from, to) = (self.metres[next - 1], self.metres[next])
            let share = to > from ? min(1, max(0, (metres - from) / (to - from))) : 1
            return places[next - 1].towards(places[next], share: share)
        }
    }
}

extension Position {
    /// - Parameter share: 0 here, 1 there. For places of one town.
    func towards(_ other: Position, share: Double) -> Position {
        Position(
            latitude: latitude + Int32((Double(other.latitude - latitude) * share).rounded()),
            longitude: longitude + Int32((Double(other.longitude - longitude) * share).rounded()))
    }
}
