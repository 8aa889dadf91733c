public import Fleet
internal import Pipeline
public import Trips

/// A seeded run of a partition of cars in memory: a log, a store with the fence, and workers that crash, are cut off
/// from the answers to their commits, and go on after the partition was given to another. Time is ticks on the log.
public struct CarSimulation {
    public enum Record: Sendable {
        case reading(VehicleID, CarReading)
        /// A driver's mark, as the cut that it is.
        case cut(VehicleID, Int64)
        case tick(Int64)
        /// A set of trip rules, and from when it shall be in force.
        case rules(TripRules, fromMs: Int64)
    }

    /// How often something goes wrong: once in so many chances; 0 is never.
    public struct Faults: Sendable {
        public var crash: Int64 = 0
        /// The commit happens and its answer is lost.
        public var lostAnswer: Int64 = 0
        /// The commit does not happen.
        public var refusal: Int64 = 0
        /// Another worker takes the partition over while this one goes on.
        public var takeover: Int64 = 0
        public init() {}
        public static let many: Faults = {
            var faults = Faults()
            (faults.crash, faults.lostAnswer, faults.refusal, faults.takeover) = (12, 10, 10, 15)
            return faults
        }()
    }

    private struct Commit {
        let rows: CarRows
        let cuts: [(VehicleID, Int64)]
        let rules: [TripRuleTimeline.Entry]
        /// Names the cars of `rows`.
        let book: CarBook
        let from: Int64
        let to: CarProgress
    }

    private struct Worker {
        var book: CarBook
        var at: Int64
        /// The offset that the next commit compares with.
        var written: Int64
        /// Handed over and not yet answered: the lane goes on meanwhile.
        var inFlight: Commit?
        /// Marks since the last hand-over.
        var cuts: [(VehicleID, Int64)] = []
        /// Sets since then.
        var rules: [TripRuleTimeline.Entry] = []
    }

    public private(set) var tables = CarTables()
    private let rules: TripRules
    private let log: [Record]
    private var chance: SeededChance
    private var workers: [Worker] = []
    private let batchMax: Int64

    public init(log: [Record], rules: TripRules, batchMax: Int64, seed: UInt64) {
        (self.log, self.rules, self.batchMax) = (log, rules, batchMax)
        chance = SeededChance(seed: seed)
    }

    /// Works the log off up to `end` under these faults; then, undisturbed, what is left.
    public mutating func run(faults: Faults, end: Int? = nil) {
        let end = Int64(end ?? log.count)
        workers = [takeOver()]
        var steps = 0
        while workers.contains(where: { $0.at < end }), steps < 10 * log.count {
            steps += 1
            step(Int(chance.below(Int64(workers.count))), faults, end)
        }
        workers = [takeOver()]
        while workers[0].at < end || workers[0].inFlight != nil || workers[0].written < end {
            step(0, Faults(), end)
        }
    }

    private func takeOver() -> Worker {
        Worker(
            book: tables.book(rules: rules), at: tables.progress.replayFrom, written: tables.progress.nextOffset,
            inFlight: nil)
    }

    private mutating func once(in n: Int64) -> Bool { n > 0 && chance.once(in: n) }

    private mutating func step(_ number: Int, _ faults: Faults, _ end: Int64) {
        if once(in: faults.crash) {
            workers[number] = takeOver()
            return
        }
        if workers.count < 3, once(in: faults.takeover) { workers.append(takeOver()) }
        for _ in 0..<(1 + chance.below(batchMax)) where workers[number].at < end { take(number) }
        if !chance.once(in: 3) { cycle(number, faults) }
    }

    private mutating func take(_ number: Int) {
        let offset = workers[number].at
        workers[number].at += 1
        switch log[Int(offset)] {
        case .tick(let ts): workers[number].book.tick(ts, offset: offset)
        case .cut(let vehicle, let cut):
            workers[number].cuts.append((vehicle, cut))
            unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                try! unsafe workers[number].book.take(key: key, cut: cut, offset: offset, pushedMs: 1_000 + offset)
            }
        case .rules(let rules, let fromMs):
            workers[number].book.take(rules: rules, fromMs: fromMs, offset: offset, pushedMs: 1_000 + offset).map {
                workers[number].rules.append($0)
            }
        case .reading(let vehicle, let reading):
            unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                _ = try! unsafe workers[number].book.take(key: key, reading, offset: offset, pushedMs: 1_000 + offset)
            }
        }
    }

    /// One commit cycle: the one in flight is answered, the next is handed over. With late readings it waits.
    private mutating func cycle(_ number: Int, _ faults: Faults) {
        guard settle(number, faults) else { return }
        let worker = workers[number]
        // Between the replay's start and the stored offset there is nothing to write.
        guard worker.at > worker.written else { return }
        let replay = worker.book.replayFrom
        let commit = Commit(
            rows: worker.book.rows, cuts: worker.cuts, rules: worker.rules, book: worker.book, from: worker.written,
            to: CarProgress(nextOffset: worker.at, replayFrom: replay.offset, replayClockMs: replay.clockMs))
        workers[number].inFlight = commit
        workers[number].written = worker.at
        workers[number].book.clearRows()
        (workers[number].cuts, workers[number].rules) = ([], [])
        if worker.book.hasLate { _ = settle(number, faults) }
    }

    /// The commit in flight happens, or not, and its answer arrives, or not. False: the worker starts anew.
    private mutating func settle(_ number: Int, _ faults: Faults) -> Bool {
        guard let commit = workers[number].inFlight else { return true }
        workers[number].inFlight = nil
        let isOwner = tables.progress.nextOffset == commit.from
        if isOwner, !once(in: faults.refusal) {
            tables.write(commit.rows, of: commit.book)
            for (vehicle, cut) in commit.cuts { tables.cuts[vehicle, default: []].insert(cut) }
            for entry in commit.rules { tables.rules[entry.fromMs] = entry.rules }
            if workers[number].book.hasLate, workers[number].at == commit.to.nextOffset {
                resolve(number)
            }
            tables.progress = commit.to
            if !once(in: faults.lostAnswer) { return true }
        }
        workers[number] = takeOver()
        return false
    }

    private mutating func resolve(_ number: Int) {
        while workers[number].book.hasLate {
            let histories = tables.histories(workers[number].book.lateQueries)
            workers[number].book.resolve(histories, nextOffset: workers[number].at)
            tables.write(workers[number].book.rows, of: workers[number].book)
            workers[number].book.clearRows()
        }
    }

    /// The reference: each car's set folded once, days summed straight from the minutes.
    public static func expected(_ log: [Record], rules: TripRules) -> CarTables.Results {
        var (readings, clockMs): ([VehicleID: [CarReading]], Int64) = ([:], 0)
        var cuts: [VehicleID: TripCuts] = [:]
        var (timeline, latestMs) = (TripRuleTimeline(base: rules), Int64.min)
        for record in log {
            switch record {
            case .reading(let vehicle, let reading):
                readings[vehicle, default: []].append(reading)
                latestMs = max(latestMs, reading.ts)
            case .rules(let rules, let fromMs):
                timeline.insert(TripRuleTimeline.Entry(fromMs: max(fromMs, latestMs + 1), rules: rules))
            case .cut(let vehicle, let cut): _ = cuts[vehicle, default: TripCuts()].insert(cut)
            case .tick(let ts): clockMs = max(clockMs, ts)
            }
        }
        var tables = CarTables.Results()
        for (vehicle, readings) in readings {
            let cuts = cuts[vehicle] ?? TripCuts()
            let (minutes, trips, _) = Drive.whole(readings.unioned(), cuts: cuts, rules: timeline)
            for minute in minutes {
                tables.minutes[vehicle, default: [:]][minute.startMs] = minute
                let day = UTC.day(of: minute.startMs)
                tables.days[vehicle, default: [:]][day] = (tables.days[vehicle]?[day] ?? DriveTotals()) + minute.totals
            }
            for (index, trip) in trips.enumerated() {
                let isOpen =
                    index == trips.count - 1
                    && clockMs <= trip.endMs + timeline.inForce(at: trip.startMs).tripGapMs
                    && !cuts.separate(trip.endMs, .max)
                tables.trips[vehicle, default: [:]][trip.startMs] = .init(trip, isOpen: isOpen)
                let first = minutes.filter { $0.tripStartMs == trip.startMs }.min { $0.startMs < $1.startMs }!
                // Of a day of a longer drive there is a row where a minute begins with it.
                guard first.startMs <= trip.startMs else { continue }
                let place = first.readings.filter { $0[.latitude] != nil && $0[.longitude] != nil }.first
                tables.starts[vehicle, default: [:]][trip.startMs] = CarTables.Start(
                    place.map { Position(latitude: $0[.latitude]!, longitude: $0[.longitude]!) })
            }
        }
        return tables
    }
}

extension CarSimulation {
    /// A log of a few cars: in order, shuffled, with a stretch that comes last, or with repeats; ticks of a clock that
    /// runs with the readings or long after them. The last tick closes everything.
    ///
    /// - Parameter rules: of drives that last for days, `SeededDrive.longRules`, or with a longer silence.
    public static func log(seed: UInt64, readings: Int, rules: TripRules = TripRules()) -> [Record] {
        var chance = SeededChance(seed: seed &* 7_919 &+ 1)
        var arrivals: [(VehicleID, CarReading)] = []
        for car in 0..<(1 + chance.below(3)) {
            let count = Int(5 + chance.below(Int64(readings)))
            let (own, isLong) = (seed &* 31 &+ UInt64(car), rules.tripGapMs >= SeededDrive.longRules.tripGapMs)
            let drive =
                isLong ? SeededDrive.long(seed: own, count: count) : SeededDrive.readings(seed: own, count: count)
            arrivals += drive.map { (VehicleID("car-\(car)")!, $0) }
        }
        arrivals.sort { $0.1.ts < $1.1.ts }
        let all = arrivals
        switch chance.below(5) {
        case 0: break
        case 1: arrivals.shuffle(using: &chance)
        case 2:
            let from = Int(chance.below(Int64(arrivals.count)))
            let late = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + late.count)
            arrivals += late
        case 3: arrivals += all.filter { _ in chance.once(in: 2) }
        default:
            // Neighbours change places.
            for index in arrivals.indices.dropLast() where chance.once(in: 3) {
                arrivals.swapAt(index, index + 1 + Int(chance.below(Int64(min(8, arrivals.count - index - 1)))))
            }
        }
        var log: [Record] = []
        let end = all[all.count - 1].1.ts
        let isLive = chance.once(in: 2)
        var clock = isLive ? all[0].1.ts : end + chance.below(100_000_000)
        for (vehicle, reading) in arrivals {
            if chance.once(in: 15) {
                clock = isLive ? max(clock, reading.ts + chance.below(20_000) - 5_000) : clock + 5_000
                log.append(.tick(clock))
            }
            log.append(.reading(vehicle, reading))
        }
        addCuts(&log, all, &chance)
        log.append(.tick(max(clock, end) + rules.tripGapMs + 1 + chance.below(1_000_000)))
        return log
    }

    /// Marks of most logs: at a reading, a millisecond beside one, between two, before the first, after the last; where
    /// they belong, or anywhere; some of them twice.
    private static func addCuts(
        _ log: inout [Record], _ all: [(VehicleID, CarReading)], _ chance: inout SeededChance
    ) {
        for _ in 0..<chance.below(8) {
            let (vehicle, reading) = all[Int(chance.below(Int64(all.count)))]
            let step = [0, 1, -1, chance.below(60_000) - 30_000, chance.below(1_200_000) - 600_000]
            let cut = reading.ts + step[Int(chance.below(5))]
            let isAtItsPlace = chance.once(in: 2)
            let place = log.firstIndex {
                if case .reading(vehicle, let other) = $0 { other.ts >= cut } else { false }
            }
            for _ in 0..<(chance.once(in: 5) ? 2 : 1) {
                let anywhere = Int(chance.below(Int64(log.count + 1)))
                log.insert(.cut(vehicle, cut), at: isAtItsPlace ? place ?? log.count : anywhere)
            }
        }
    }

    /// Sets of trip rules, in force at any time of the readings, most of them told before these; some at one time, or twice.
    public static func addRules(_ log: inout [Record], seed: UInt64) {
        var chance = SeededChance(seed: seed &* 6_271 &+ 5)
        let times = log.compactMap { record -> Int64? in
            if case .reading(_, let reading) = record { reading.ts } else { nil }
        }
        for _ in 0..<(1 + chance.below(5)) {
            var rules = TripRules()
            rules.tripGapMs = [60_000, 90_000, 300_000, 900_000, 7_200_000][Int(chance.below(5))]
            rules.gapMs = min(rules.tripGapMs, [1_000, 10_000, 60_000, 600_000][Int(chance.below(4))])
            rules.sharpMmPerS2 = 500 + chance.below(4_000)
            (rules.sharpMergeMs, rules.sharpHoldMs) = (chance.below(3_000), chance.below(2_000))
            let at = times[Int(chance.below(Int64(times.count)))]
            let step = [0, 1, -1, chance.below(60_000) - 30_000, chance.below(10_000_000) - 5_000_000]
            for _ in 0..<(chance.once(in: 5) ? 2 : 1) {
                let place = chance.once(in: 4) ? Int(chance.below(Int64(log.count))) : 0
                log.insert(.rules(rules, fromMs: at + step[Int(chance.below(5))]), at: place)
                if chance.once(in: 2) { rules.sharpHoldMs = chance.below(2_000) }
            }
        }
    }
}
