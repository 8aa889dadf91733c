internal import Basics
internal import Fleet
public import Trips

/// A seeded log of a partition with up to three cars. The same seed makes the same log.
public struct CarLog: Sendable {
    /// What a log may have beside readings, ticks and drivers' marks.
    public struct Parts: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Drives, assignments, owners, settings and scans; cars go beyond their drivers' limits.
        public static let people = Parts(rawValue: 1)
        /// Sets of trip rules.
        public static let rules = Parts(rawValue: 2)
        /// Clocks that go ahead and are set back.
        public static let clocks = Parts(rawValue: 4)
    }

    public internal(set) var records: [LoggedRecord] = []
    /// What the partition began with.
    public let rules: TripRules
    /// By time, each once.
    var readings: [(vehicle: VehicleID, reading: CarReading)] = []
    var chance: SeededChance
    var clockMs: Int64 = 0

    /// Of all that there is: a fifth are drives of days, half have trip rules, a quarter clocks that are set back.
    public init(seed: UInt64) {
        var (rules, parts) = (TripRules(), Parts.people)
        var chance = SeededChance(seed: seed &* 6_007 &+ 5)
        let isLong = seed % 5 == 0
        if isLong {
            rules = SeededDrive.longRules
            // A silence of days ends none of these: whole days between two borders have no reading.
            rules.tripGapMs = [3_600_000, 7_200_000, 7_200_000, 2 * UTC.msPerDay][Int(chance.below(4))]
        }
        if chance.once(in: 2) { parts.insert(.rules) }
        if chance.once(in: 4) { parts.insert(.clocks) }
        self.init(seed: seed, readings: isLong ? 100 : 70, rules: rules, with: parts)
    }

    /// Readings in order, shuffled, with a stretch that comes last or first, doubled, or with neighbours that change places.
    /// The clock runs with them or long after them; the last ticks close everything.
    ///
    /// - Parameters:
    ///   - readings: of a car, at most about so many.
    ///   - rules: of drives that last for days, `SeededDrive.longRules`, or with another silence of hours.
    public init(seed: UInt64, readings: Int, rules: TripRules = TripRules(), with parts: Parts = []) {
        self.rules = rules
        chance = SeededChance(seed: seed &* 7_919 &+ 1)
        addCars(seed, readings, parts)
        addArrivals(parts)
        addMarks()
        if parts.contains(.people) {
            addPeople()
            if chance.once(in: 2) { addDrives() }
        }
        if parts.contains(.rules) { addRules() }
        if parts.contains(.clocks) { addWrongClocks() }
        close(parts)
    }

    private mutating func addCars(_ seed: UInt64, _ most: Int, _ parts: Parts) {
        let isLong = rules.tripGapMs >= 3_600_000
        for car in 0..<(1 + chance.below(3)) {
            let count = Int(5 + chance.below(Int64(most)))
            let own = seed &* 31 &+ UInt64(car)
            let drive: [CarReading]
            if parts.contains(.people), !chance.once(in: 3) {
                drive = SeededDrive.beyondLimits(seed: own, count: count, isLong: isLong)
            } else {
                drive =
                    isLong ? SeededDrive.long(seed: own, count: count) : SeededDrive.readings(seed: own, count: count)
            }
            readings += drive.map { (VehicleID("car-\(car)")!, $0) }
        }
        readings.sort { $0.reading.ts < $1.reading.ts }
    }

    /// In the order in which they come, and between them ticks.
    private mutating func addArrivals(_ parts: Parts) {
        let hasPeople = parts.contains(.people)
        // What is in order is judged from memory: more of it.
        let arrivals = hasPeople && chance.once(in: 4) ? readings : arrivals(hasPeople ? 6 : 3)
        let endMs = readings[readings.count - 1].reading.ts
        let isLive = chance.once(in: 2)
        clockMs = isLive ? readings[0].reading.ts : endMs + chance.below(100_000_000)
        for (vehicle, reading) in arrivals {
            if chance.once(in: hasPeople ? 6 : 15) {
                clockMs = isLive ? max(clockMs, reading.ts + chance.below(20_000) - 5_000) : clockMs + 5_000
                records.append(.tick(clockMs, isClosing: hasPeople && chance.once(in: 50)))
            }
            records.append(.reading(vehicle, reading))
        }
    }

    /// - Parameter swap: once in so many, neighbours change places.
    private mutating func arrivals(_ swap: Int64) -> [(vehicle: VehicleID, reading: CarReading)] {
        var arrivals = readings
        switch chance.below(5) {
        case 0: break
        case 1: arrivals.shuffle(using: &chance)
        case 2:
            let from = Int(chance.below(Int64(arrivals.count)))
            let stretch = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + stretch.count)
            if chance.once(in: 3) { arrivals.insert(contentsOf: stretch, at: from / 2) } else { arrivals += stretch }
        case 3: arrivals += readings.filter { _ in chance.once(in: 2) }
        default:
            for index in arrivals.indices.dropLast() where chance.once(in: swap) {
                arrivals.swapAt(index, index + 1 + Int(chance.below(Int64(min(8, arrivals.count - index - 1)))))
            }
        }
        return arrivals
    }

    /// Where the partition's clock stands after all records.
    private var clockOfAll: Int64 {
        records.reduce(0) { clockMs, record in
            switch record {
            case .tick(let ts, _): max(clockMs, ts)
            case .setBack(let ts): min(clockMs, ts)
            default: clockMs
            }
        }
    }

    /// Ticks that end what can be ended. What people said may have each stretch judged again, one at a tick.
    private mutating func close(_ parts: Parts) {
        clockMs = max(clockOfAll, readings[readings.count - 1].reading.ts)
        if parts.contains(.people) {
            for _ in 0..<readings.count + 80 {
                clockMs += 1_000
                records.append(.tick(clockMs))
            }
        }
        let longestMs = max(rules.tripGapMs, CarLog.tripGapsMs.max()!, 3_600_000)
        for _ in 0..<3 {
            clockMs += longestMs + 1 + chance.below(1_000_000)
            records.append(.tick(clockMs))
        }
    }
}
