internal import Basics
package import Fleet

/// A car that goes round in a town, day and night: it is out for most of each hour and a half, visits some addresses and parks. Its
/// readings at a time are a function of seed and time.
package struct StreetCar: Sendable {
    /// What it weighs and takes.
    package struct Kind: Sendable {
        let kg: Double
        let idleLph: Double
        let tankL: Double
        package static let car = Kind(kg: 1_450, idleLph: 0.7, tankL: 50)
        package static let van = Kind(kg: 2_300, idleLph: 0.9, tankL: 70)
        package static let truck = Kind(kg: 7_400, idleLph: 1.6, tankL: 140)
    }

    /// One outing.
    package struct Outing: Sendable {
        package let startMs: Int64
        fileprivate let moments: [StreetDrive.Moment]
        package var endMs: Int64 { startMs + Int64(max(0, moments.count - 1)) * 1_000 }
    }

    private static let slotMs: Int64 = 90 * 60_000
    /// Out for that long at least; the last way comes on top.
    private static let outS = 50 * 60
    private static let standS = 30...150

    private let streets: Streets
    private let seed: UInt64
    private let kind: Kind

    package init(_ streets: Streets, kind: Kind, seed: UInt64) {
        (self.streets, self.kind) = (streets, kind)
        self.seed = SplitMix64.mixed(seed)
    }

    // MARK: Outings

    /// By number; each begins where the one before ended.
    package func slot(at now: Int64) -> Int64 { (now - phaseMs) / StreetCar.slotMs }

    package func startMs(_ slot: Int64) -> Int64 { slot * StreetCar.slotMs + phaseMs }

    private var phaseMs: Int64 { Int64(seed % UInt64(StreetCar.slotMs / 1_000)) * 1_000 }

    private func chance(_ slot: Int64) -> SplitMix64 {
        SplitMix64(seed: SplitMix64.mixed(seed &+ UInt64(bitPattern: slot) &* 0x9E37_79B9_7F4A_7C15))
    }

    private func home(_ slot: Int64) -> Int {
        var chance = chance(slot)
        return chance.below(streets.nodes.count)
    }

    package func outing(_ slot: Int64) -> Outing {
        var chance = chance(slot)
        var node = chance.below(streets.nodes.count)
        var moments = [StreetDrive.Moment(place: streets.nodes[node], metresPerS: 0, gain: 0)]
        while moments.count < StreetCar.outS {
            let next = chance.below(streets.nodes.count)
            moments += drive(node, next, &chance)
            node = next
            let stand = StreetCar.standS.lowerBound + chance.below(StreetCar.standS.count)
            for _ in 0..<stand { moments.append(.init(place: streets.nodes[node], metresPerS: 0, gain: 0)) }
        }
        moments += drive(node, home(slot + 1), &chance)
        return Outing(startMs: startMs(slot), moments: moments)
    }

    private func drive(_ from: Int, _ to: Int, _ chance: inout SplitMix64) -> [StreetDrive.Moment] {
        streets.way(from: from, to: to).map { StreetDrive(streets, along: $0, chance: &chance).moments } ?? []
    }

    // MARK: Readings

    /// Of the outing, a reading every `everyS` seconds in the range.
    package func readings(_ outing: Outing, in range: Range<Int64>, everyS: Int64) -> [CarReading] {
        let first = max(0, (range.lowerBound - outing.startMs + 999) / 1_000)
        return stride(
            from: first + (everyS - first % everyS) % everyS, to: Int64(outing.moments.count), by: Int64.Stride(everyS)
        )
        .map { second in reading(outing, second) }
        .filter { range.contains($0.ts) }
    }

    private func reading(_ outing: Outing, _ second: Int64) -> CarReading {
        let moment = outing.moments[Int(second)]
        let ts = outing.startMs + second * 1_000
        var reading = CarReading(ts: ts)
        func set(_ signal: Signal, _ value: Double) {
            reading[signal] = signal.row.stored(Int64((value * 1_000).rounded()))
        }
        let kmh = moment.metresPerS * 3.6
        set(.speed, kmh)
        let speed = Int64(kmh * 1_000)
        set(.rpm, max(800, Double(speed) / Double(EmulatedDrive.kmhPerThousandRPM(speed))))
        let watts = power(moment)
        // A litre of petrol gives some 9 MJ at the wheels of such an engine.
        set(.fuelRate, kind.idleLph + watts / 9_000_000 * 3_600)
        set(.engineLoad, min(96, 14 + watts / (kind.kg * 22) * 100))
        set(.throttle, min(90, 12 + watts / (kind.kg * 26) * 100))
        // It warms up in some six minutes.
        let warm = min(1, Double(second) / 360)
        set(.coolant, 24 + 64 * warm * (2 - warm) + 1.5 * wave(ts, 240))
        set(.voltage, 14.1 + 0.15 * wave(ts, 90))
        set(.fuelLevel, fuelLevel(ts))
        reading[.latitude] = moment.place.latitude
        reading[.longitude] = moment.place.longitude
        return reading
    }

    /// Against mass, rolling and air.
    private func power(_ moment: StreetDrive.Moment) -> Double {
        let force = kind.kg * (moment.gain + 0.012 * 9.81) + 0.75 * moment.metresPerS * moment.metresPerS
        return max(0, force * moment.metresPerS)
    }

    /// -1 to 1: a triangle.
    private func wave(_ ts: Int64, _ periodS: Int64) -> Double {
        let place = Double((ts / 1_000 + Int64(seed % 997)) % periodS) / Double(periodS)
        return place < 0.5 ? 4 * place - 1 : 3 - 4 * place
    }

    /// It is filled every third day.
    private func fuelLevel(_ ts: Int64) -> Double {
        let periodMs: Int64 = 3 * 86_400_000
        return 94 - 72 * Double((ts + phaseMs * 31) % periodMs) / Double(periodMs)
    }
}
