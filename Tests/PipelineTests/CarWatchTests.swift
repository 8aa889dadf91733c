import Alerts
import Fleet
import Pipeline
import SimKit
import Testing

/// A car, its readings as they come, and a worker that judges only when the watch asks for it.
private struct Desk {
    static let car = VehicleID("car-1")!
    static let drivers = Drivers(
        drivings: [], assignments: [], owners: [Drivers.Change(fromMs: 0, account: "jo")])
    static let rules = ["jo": DriverRules(account: "jo", versions: [])]
    /// By time; none: the standard.
    var versions: [DriverRules.Version] = []

    var watch: CarWatch
    var readings: [CarReading] = []
    var told: [Episode] = []
    var judgements = 0
    private var openMs = Int64.min

    init(eagerMax: Int = 32) {
        watch = CarWatch(eagerMax: eagerMax)
        watch.watch(0, limits: DriverSettings.standard.limits, sinceMs: .min)
    }

    /// Judged by the latest two versions until it is said otherwise.
    init(versions: [DriverRules.Version]) {
        (watch, self.versions) = (CarWatch(), versions)
        var limits = CarLimits.none
        for version in versions.suffix(2) { limits.formUnion(version.settings.limits) }
        watch.watch(0, limits: limits, sinceMs: versions.suffix(2)[versions.count - 2].inForceMs)
    }

    static func judged(
        _ readings: [CarReading], versions: [DriverRules.Version] = [], passedMs: Int64
    ) -> DriverJudgement {
        DriverJudgement(
            vehicle: car, readings: readings.unioned(), drivers: drivers,
            rules: ["jo": DriverRules(account: "jo", versions: versions)], passedMs: passedMs)
    }

    mutating func take(_ reading: CarReading) {
        let minute = UTC.minute(of: reading.ts)
        if openMs != .min, minute > openMs { watch.wrote(0, minuteMs: openMs) }
        openMs = max(openMs, minute)
        readings.append(reading)
        watch.look(0, reading, pushedMs: 0)
    }

    mutating func late(_ reading: CarReading) {
        readings.append(reading)
        watch.look(0, reading, pushedMs: 0)
        watch.ask(0, CarWatch.Span(fromMs: reading.ts, toMs: reading.ts, pushedMs: 0, isLate: true))
    }

    mutating func commit(clockMs: Int64) {
        guard !watch.takeDue().isEmpty else { return }
        judgements += 1
        let judgement = Desk.judged(readings, versions: versions, passedMs: clockMs)
        told = judgement.episodes
        watch.judged(0, judgement, lastMs: readings.map(\.ts).max()!)
    }

    /// The open minute is written and time passes.
    mutating func end() {
        watch.wrote(0, minuteMs: openMs)
        let lastMs = readings.map(\.ts).max()!
        commit(clockMs: lastMs)
        for clockMs in stride(from: lastMs, through: lastMs + 4_000_000, by: 5_000) {
            watch.tick(clockMs: clockMs, pushedMs: 0)
            commit(clockMs: clockMs)
        }
    }
}

@Suite("Which cars are judged when")
struct CarWatchTests {
    private static let start: Int64 = 1_789_344_000_000

    private static func drive(_ chance: inout SeededChance) -> [CarReading] {
        var (ts, readings, speed, volts): (Int64, [CarReading], Int64, Int64) = (start, [], 50_000, 13_000)
        for _ in 0..<(100 + chance.below(300)) {
            ts += chance.once(in: 80) ? 1 + chance.below(70 * 60_000) : 1_000 + chance.below(2_000)
            if chance.once(in: 40) { speed = chance.below(5) * 40_000 }
            if chance.once(in: 40) { volts = 11_000 + chance.below(6) * 1_000 }
            var reading = CarReading(ts: ts)
            if !chance.once(in: 4) { reading[.speed] = Int32(speed + chance.below(20_000)) }
            if chance.once(in: 3) { reading[.coolant] = Int32(95_000 + chance.below(12) * 1_000) }
            if chance.once(in: 2) { reading[.voltage] = Int32(volts) }
            readings.append(reading)
        }
        return readings
    }

    @Test(
        "Whatever is asked for and when it is judged, in the end everything is told", arguments: 0..<20 as Range<UInt64>
    )
    func complete(group: UInt64) {
        for seed in group * 5..<(group + 1) * 5 {
            var chance = SeededChance(seed: seed)
            var desk = Desk(eagerMax: seed % 4 == 0 ? 32 : -1)
            let drive = CarWatchTests.drive(&chance)
            var kept: [CarReading] = []
            for reading in drive {
                if chance.once(in: 50) { kept.append(reading) } else { desk.take(reading) }
                if chance.once(in: 60), !kept.isEmpty { desk.late(kept.removeFirst()) }
                if chance.once(in: 7) { desk.commit(clockMs: reading.ts) }
            }
            for reading in kept { desk.late(reading) }
            desk.end()
            let lastMs = drive[drive.count - 1].ts
            let expected = Desk.judged(drive, passedMs: lastMs + 4_000_000).episodes
            guard desk.told != expected else { continue }
            func text(_ all: [Episode], _ others: [Episode]) -> [String] {
                all.filter { !others.contains($0) }
                    .map { "\($0.name) \($0.openedMs - CarWatchTests.start) \(String(describing: $0.resolvedMs))" }
            }
            Issue.record(
                "seed \(seed): \(text(desk.told, expected)) for \(text(expected, desk.told)) of \(expected.count)")
            return
        }
    }

    @Test(
        "A backlog that the clock has passed long ago ends where its readings say", arguments: 0..<20 as Range<UInt64>)
    func backlog(group: UInt64) {
        for seed in group * 5..<(group + 1) * 5 {
            var chance = SeededChance(seed: seed)
            var desk = Desk(eagerMax: seed % 4 == 0 ? 32 : -1)
            let drive = CarWatchTests.drive(&chance)
            let clockMs = drive[drive.count - 1].ts + 86_400_000
            for reading in drive {
                desk.take(reading)
                if chance.once(in: 7) { desk.watch.tick(clockMs: clockMs, pushedMs: 0) }
                if chance.once(in: 5) { desk.commit(clockMs: clockMs) }
            }
            desk.end()
            let expected = Desk.judged(drive, passedMs: clockMs).episodes
            #expect(desk.told == expected, "seed \(seed)")
        }
    }

    @Test("Readings from before the latest limits are judged by those of their time") func limitsOfTheirTime() throws {
        let versions = try [100, 200, 201].enumerated().map { index, limit in
            DriverRules.Version(
                inForceMs: CarWatchTests.start + Int64(index) * 86_400_000,
                settings: try DriverSettings(text: #"{"speed_limit_kmh":\#(limit)}"#))
        }
        var desk = Desk(versions: versions)
        for second in 0..<200 as Range<Int64> {
            var reading = CarReading(ts: CarWatchTests.start + 3_600_000 + second * 1_000)
            reading[.speed] = second < 100 ? 130_000 : 50_000
            desk.take(reading)
        }
        desk.end()
        #expect(desk.told.map(\.parameter) == [.carSpeed])
        #expect(desk.told.first?.openedMs == CarWatchTests.start + 3_600_000)
    }

    @Test("What opens is told by the very next commit", arguments: 0..<10 as Range<UInt64>)
    func atOnce(group: UInt64) {
        for seed in group * 4..<(group + 1) * 4 {
            var chance = SeededChance(seed: seed)
            var desk = Desk()
            var taken: [CarReading] = []
            for reading in CarWatchTests.drive(&chance).prefix(150) {
                desk.take(reading)
                taken.append(reading)
                desk.commit(clockMs: reading.ts)
                let now = Desk.judged(taken, passedMs: reading.ts).episodes
                for episode in now where episode.openedMs == reading.ts {
                    guard !desk.told.contains(where: { $0.id == episode.id }) else { continue }
                    Issue.record("seed \(seed): \(episode.id) is not told")
                    return
                }
            }
        }
    }

    @Test("A drive within its limits is judged by nobody")
    func cheap() {
        var desk = Desk()
        func drive(_ seconds: Range<Int64>, speed: Int32) {
            for second in seconds {
                var reading = CarReading(ts: CarWatchTests.start + second * 1_000)
                (reading[.speed], reading[.voltage], reading[.coolant]) = (speed, 13_000, 90_000)
                desk.take(reading)
                desk.commit(clockMs: reading.ts)
            }
        }
        drive(0..<3_600, speed: 100_000)
        // The first minute is judged because nobody knows what came before the limits.
        #expect(desk.judgements == 1)
    }

    @Test("Of many cars beyond their limits each is judged with its minutes, not with its readings")
    func many() {
        var watch = CarWatch()
        let cars = 33
        for number in 0..<cars { watch.watch(number, limits: DriverSettings.standard.limits, sinceMs: .min) }
        var (readings, judgements): ([CarReading], Int) = ([], 0)
        for second in 0..<300 as Range<Int64> {
            var reading = CarReading(ts: CarWatchTests.start + second * 1_000)
            reading[.speed] = 150_000
            readings.append(reading)
            for number in 0..<cars {
                if second > 0, second % 60 == 0 {
                    watch.wrote(number, minuteMs: reading.ts - 60_000)
                }
                watch.look(number, reading, pushedMs: 0)
            }
            let due = watch.takeDue()
            guard !due.isEmpty else { continue }
            let judgement = Desk.judged(readings, passedMs: reading.ts)
            for (number, _) in due { watch.judged(number, judgement, lastMs: reading.ts) }
            judgements += due.count
        }
        // Once when it begins, once a written minute, and what the first 32 were asked before the others came.
        #expect(judgements <= cars * (1 + 4) + 2 * 32)
    }

    @Test("A limit that is crossed again in a minute, after it was judged and over, is not passed over")
    func again() {
        var desk = Desk(eagerMax: -1)
        for (second, speed) in [(0, 150_000), (1, 50_000), (2, 150_000), (3, 50_000)] as [(Int64, Int32)] {
            var reading = CarReading(ts: CarWatchTests.start + second * 1_000)
            reading[.speed] = speed
            desk.take(reading)
            if second == 1 { desk.commit(clockMs: reading.ts) }
        }
        #expect(desk.told.count == 1)
        desk.end()
        #expect(desk.told.map { $0.openedMs - CarWatchTests.start } == [0, 2_000])
    }

    @Test("A car of nobody is never judged")
    func nobody() {
        var watch = CarWatch()
        var reading = CarReading(ts: CarWatchTests.start)
        reading[.speed] = 300_000
        watch.look(5, reading, pushedMs: 0)
        watch.wrote(5, minuteMs: CarWatchTests.start)
        watch.tick(clockMs: .max, pushedMs: 0)
        #expect(!watch.hasDue)
    }

    @Test("What is open ends by silence, also of a car whose only minute was written before its driver was known")
    func writtenBefore() {
        var hot = CarReading(ts: CarWatchTests.start)
        hot[.coolant] = 150_000
        var watch = CarWatch()
        watch.watch(0, limits: DriverSettings.standard.limits, sinceMs: .min)
        let judgement = Desk.judged([hot], passedMs: hot.ts)
        #expect(judgement.watch.isActive)
        watch.judged(0, judgement, lastMs: hot.ts)
        watch.tick(clockMs: hot.ts + DriverWatch.quietMs + 1, pushedMs: 0)
        let due = watch.takeDue()
        #expect(due.map(\.number) == [0])
        // A span in which no reading lies judges nothing.
        #expect(due.allSatisfy { $0.span.fromMs <= hot.ts && $0.span.toMs >= UTC.minute(of: hot.ts) })
    }
}
