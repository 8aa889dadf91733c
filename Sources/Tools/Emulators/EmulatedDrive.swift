internal import Basics

/// A car's values at a time: a function of a seed and that time. It accelerates, cruises, brakes and stands, as in
/// town and on roads between; nothing of it is chance when it is asked.
struct EmulatedDrive: Sendable {
    /// In thousandths of the unit that the key names.
    struct Values: Equatable, Sendable {
        var speed: Int64 = 0
        var rpm: Int64 = 0
        var maf: Int64 = 0
        var load: Int64 = 0
        var throttle: Int64 = 0
    }

    private let seed: UInt64
    private static let legMs: Int64 = 20_000
    /// km/h that a leg ends with; more than one stands.
    private static let paces: [Int64] = [0, 0, 30, 30, 50, 50, 50, 70, 100, 120]

    init(seed: UInt64) { self.seed = seed }

    private func pace(ofLeg leg: Int64) -> Int64 {
        let number = SplitMix64.mixed(seed &+ UInt64(bitPattern: leg) &* 0x9E37_79B9_7F4A_7C15)
        return EmulatedDrive.paces[Int(number % UInt64(EmulatedDrive.paces.count))] * 1_000
    }

    func values(atMs ts: Int64) -> Values {
        let leg = ts / EmulatedDrive.legMs
        let (from, to) = (pace(ofLeg: leg - 1), pace(ofLeg: leg))
        // The pace changes in the leg's first 15 s and is kept in the rest.
        let place = min(ts % EmulatedDrive.legMs, 15_000)
        var values = Values()
        values.speed = from + (to - from) * place / 15_000
        let climbing = place < 15_000 ? (to - from) / 15 : 0
        values.rpm = max(800_000, values.speed * 1_000 / EmulatedDrive.kmhPerThousandRPM(values.speed))
        values.throttle = min(100_000, max(12_000, 15_000 + climbing * 10))
        values.load = min(100_000, max(15_000, 25_000 + climbing * 15))
        // A two-litre engine: so much air at this speed and load.
        values.maf = values.rpm / 1_000 * values.load / 4_500
        return values
    }

    /// The speed a thousand revolutions, of the gear that one drives in at this speed.
    static func kmhPerThousandRPM(_ speed: Int64) -> Int64 {
        switch speed {
        case ..<20_000: 8
        case ..<40_000: 15
        case ..<60_000: 24
        case ..<85_000: 33
        default: 45
        }
    }
}
