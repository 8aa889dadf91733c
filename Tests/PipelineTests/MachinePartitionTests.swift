import Alerts
import Basics
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// As for cars: any order, any split, any repetition, any loss of memory gives what the readings in order give.
struct MachinePartitionTests {
    let vehicles = [VehicleID("m-1")!, VehicleID("m-2")!]

    /// As a lane does it: takes a batch, reads back what it needs, commits; it may be killed before or after each commit
    /// and reads on from the stored offset.
    private func run(
        _ log: [MachineEvent], _ chance: inout SeededChance, batchMax: Int64 = 40, killing: Bool = true,
        machinesMax: Int = 200_000, pace: MachinePartition.Pace = .product
    ) -> MachineTables {
        var tables = MachineTables()
        var machines = tables.partition(machinesMax: machinesMax, pace: pace)
        while tables.nextOffset < log.count {
            let batch = Array(log[Int(tables.nextOffset)...].prefix(Int(1 + chance.below(batchMax))))
            var written = tables
            _ = written.take(batch, into: &machines)
            let isKilled = killing && chance.once(in: 10)
            if !isKilled || chance.once(in: 2) { tables = written }
            if isKilled { machines = tables.partition(machinesMax: machinesMax, pace: pace) }
        }
        return tables
    }

    private func expectSame(_ tables: MachineTables, _ log: [MachineEvent], seed: UInt64) {
        let wanted = MachineTables.whole(log)
        #expect(tables.readings == wanted.readings, "seed \(seed)")
        #expect(tables.episodes == wanted.episodes, "seed \(seed)")
        #expect(tables.deadlines == wanted.deadlines, "seed \(seed)")
        #expect(tables.rejudging.isEmpty && tables.spreads.isEmpty, "seed \(seed)")
    }

    /// Pieces of a few readings, and of more than there are.
    private func pace(_ chance: inout SeededChance) -> MachinePartition.Pace {
        let first = Int(1 + chance.below(4))
        let last = first + Int(1 + chance.below(chance.once(in: 2) ? 8 : 100))
        return MachinePartition.Pace(pages: [first, last], rows: last + Int(chance.below(60)))
    }

    @Test("Any order, split and kill gives the rows of the whole set at once", arguments: 0..<160 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var chance = SeededChance(seed: seed &* 7919 + 1)
        let all = vehicles.enumerated().flatMap { index, vehicle in
            SeededMachine.readings(
                seed: seed &* 2 + UInt64(index), count: Int(20 + chance.below(120)), vehicle: vehicle)
        }
        var log = SeededMachine.log(SeededMachine.arrivals(all, seed: seed, &chance), &chance)
        let pace = seed % 2 == 0 ? MachinePartition.Pace.product : pace(&chance)
        log += SeededMachine.closing(log, count: 10 + 4 * all.count)
        let tables = run(log, &chance, pace: pace)
        expectSame(tables, log, seed: seed)
        // What was told follows from the log alone: ids, revisions, withdrawn rows and transitions.
        let single = run(log, &chance, batchMax: 1, killing: false, pace: pace)
        #expect(tables == single, "seed \(seed)")
        #expect(Set(tables.transitions.map(\.id)).count == tables.transitions.count, "seed \(seed)")
    }

    @Test(
        "What changes of all machines comes to them piece by piece: the same rows, alerts, ids and times",
        arguments: 0..<12 as Range<UInt64>)
    func spread(group: UInt64) {
        for seed in group * 20..<(group + 1) * 20 {
            guard let fault = MachineTrial.fault(seed: seed) else { continue }
            Issue.record("\(fault)")
            return
        }
    }

    @Test("More machines than are kept", arguments: 0..<30 as Range<UInt64>) func crowded(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let all = (0..<6).flatMap {
            SeededMachine.readings(seed: seed * 6 + $0, count: 40, vehicle: VehicleID("m-\($0)")!)
        }
        var log = SeededMachine.log(all.sorted { $0.ts < $1.ts }, &chance)
        log += SeededMachine.closing(log)
        let tables = run(log, &chance, machinesMax: Int(chance.below(5)))
        expectSame(tables, log, seed: seed)
        #expect(tables == run(log, &chance), "seed \(seed)")
    }

    @Test("Beyond the limit only those stay in memory that the clock will pass") func bounded() {
        var tables = MachineTables()
        var machines = tables.partition(machinesMax: 10)
        var log = [MachineEvent(rules(0), offset: 0, pushedMs: Self.startMs)]
        for number in 0..<200 {
            let machine = VehicleID("m-\(number)")!
            let reading = MachineReading(
                vehicle: machine, ts: Self.startMs + Int64(number), id: "r", [.lastCellCallIn: Self.startMs])
            log.append(MachineEvent(.reading(reading), offset: Int64(1 + number), pushedMs: Self.startMs))
        }
        _ = tables.take(log, into: &machines)
        #expect(machines.count == 200)
        let tick = MachineEvent(.tick(Self.startMs + 400 * UTC.msPerDay), offset: 201, pushedMs: Self.startMs)
        _ = tables.take([tick], into: &machines)
        #expect(machines.count == 10)
    }

    @Test("Seeds test what they are for") func coverage() {
        var kinds: [AlertTransition.Kind: Int] = [:]
        var (kept, absent, served) = (0, 0, 0)
        for seed in 0..<40 as Range<UInt64> {
            var chance = SeededChance(seed: seed &* 7919 + 1)
            let all = SeededMachine.readings(seed: seed, count: 100, vehicle: vehicles[0])
            var log = SeededMachine.log(SeededMachine.arrivals(all, seed: seed, &chance), &chance)
            log += SeededMachine.closing(log)
            let tables = run(log, &chance)
            for transition in tables.transitions { kinds[transition.kind, default: 0] += 1 }
            kept += tables.alerts.values.count { $0.id != $0.episode.id && !$0.isWithdrawn }
            served += tables.episodes.values.count {
                let resolvedMs = $0.resolvedMs
                return $0.parameter == .engineHours && all.allSatisfy { $0.ts != resolvedMs } && resolvedMs != nil
            }
            absent += tables.episodes.values.count { $0.test == .absent }
        }
        for kind in [AlertTransition.Kind.opened, .worse, .resolved, .revised, .withdrawn] {
            #expect(kinds[kind, default: 0] > 20, "\(kind)")
        }
        #expect(kept > 20 && absent > 20 && served > 5, "\(kept), \(absent), \(served)")
    }

    // MARK: Single scenes

    /// A partition and who works on it; offsets are pushing times, too.
    private struct Partition {
        var tables = MachineTables()
        var machines: MachinePartition
        init(_ pace: MachinePartition.Pace = .product) { machines = tables.partition(pace: pace) }

        @discardableResult mutating func accept(_ facts: [MachineEvent.Fact]) -> [MachineChanges] {
            tables.take(facts.logged(from: tables.nextOffset) { $0 }, into: &machines)
        }
    }

    static let startMs: Int64 = 1_789_344_000_000

    private func reading(
        _ seconds: Int64, _ values: [MachineParameter: Int64], id: String? = nil, isReporting: Bool = false
    ) -> MachineEvent.Fact {
        var reading = MachineReading(
            vehicle: vehicles[0], ts: Self.startMs + seconds * 1_000, id: id ?? "r-\(seconds)", values)
        reading.isReporting = isReporting
        return .reading(reading)
    }

    private func tick(_ seconds: Int64) -> MachineEvent.Fact { .tick(Self.startMs + seconds * 1_000) }
    private func rules(_ seconds: Int64, _ set: RuleSet = SeededMachine.rules) -> MachineEvent.Fact {
        .rules(RuleTimeline.Entry(inForceMs: Self.startMs + seconds * 1_000, rules: set))
    }

    /// A tick at which what is late is judged, and no deadline passes.
    private func turn(_ number: Int64) -> MachineEvent.Fact { tick(number - 1_000) }

    /// One batch after the other; memory may be lost before each. Offsets are pushing times, too.
    private func tables(
        _ batches: [[MachineEvent.Fact]], forgetting: Bool = false, pace: MachinePartition.Pace = .product
    ) -> MachineTables {
        var partition = Partition(pace)
        for batch in batches {
            if forgetting { partition.machines = partition.tables.partition(pace: pace) }
            partition.accept(batch)
        }
        return partition.tables
    }

    /// `opened 300 r0`: what was told, opening in seconds.
    private func story(_ tables: MachineTables) -> [String] {
        tables.transitions.map {
            "\($0.kind) \(($0.alert.episode.openedMs - Self.startMs) / 1_000) r\($0.alert.revision)"
        }
    }

    @Test("A late good reading takes an alert back, and the next late one brings it to life", arguments: [false, true])
    func comesBack(forgetting: Bool) {
        // Pressure is low at 0 and 700: held for more than 600 s. A good one at 300 undoes it; a bad one of a larger
        // id at the same time brings the same alert back.
        let bad = [
            rules(0), reading(0, [.gpsAvailable: 1, .tirePressure: 60_000]),
            reading(700, [.gpsAvailable: 1, .tirePressure: 60_000]),
        ]
        let good = reading(300, [.gpsAvailable: 1, .tirePressure: 80_000], id: "a")
        let worse = reading(300, [.gpsAvailable: 1, .tirePressure: 50_000], id: "b")
        let found = tables([bad, [good, turn(1)], [worse, turn(2)]], forgetting: forgetting)
        #expect(story(found) == ["opened 700 r0", "withdrawn 700 r1", "revised 700 r2"])
        #expect(found.alerts.count == 1 && found.episodes.count == 1)
        #expect(found.alerts.values.first?.revisedMs == 6)
    }

    @Test("An absence whose deadline is a reading's own time is taken back, too", arguments: [false, true])
    func deadline(forgetting: Bool) {
        let batches = [
            [rules(0), reading(0, [.gpsAvailable: 1]), reading(300, [:]), reading(600, [:])],
            [reading(400, [.gpsAvailable: 1]), turn(1)],
        ]
        let found = tables(batches, forgetting: forgetting)
        #expect(story(found) == ["opened 300 r0", "withdrawn 300 r1"])
        #expect(found.episodes.isEmpty && found.alerts.count == 1)
    }

    @Test("An absence does not open before the reading since which its model is known", arguments: [false, true])
    func deadlineOfAnotherModel(forgetting: Bool) {
        // 60 s without GPS are too much for the sprayer only, and the machine was a tractor until 200.
        guard case .reading(var last) = reading(250, [:]) else { return }
        last.model = "R4038 Sprayer"
        let found = tables(
            [
                [rules(0), reading(0, [.gpsAvailable: 1]), reading(200, [:]), .reading(last)],
                [reading(220, [.gpsAvailable: 1])], [turn(1)],
            ], forgetting: forgetting)
        #expect(story(found) == ["opened 200 r0", "withdrawn 200 r1"])
    }

    @Test(
        "What only a wrong clock has opened is withdrawn when it is set back, and opens again in its time",
        arguments: [false, true])
    func aClockThatIsSetBack(forgetting: Bool) {
        let batches: [[MachineEvent.Fact]] = [
            [rules(0), reading(0, [.gpsAvailable: 1], isReporting: true)], [tick(100_000)],
            [.setBack(Self.startMs + 200_000)], [tick(299)], [tick(301)],
        ]
        let (opened, gone) = (tables(Array(batches[..<2])), tables(Array(batches[..<4]), forgetting: forgetting))
        #expect(story(opened).contains("opened 300 r0") && !gone.alerts.isEmpty)
        #expect(gone.episodes.isEmpty)
        let again = tables(batches, forgetting: forgetting)
        #expect(again.episodes.count == 1 && story(again).last?.hasSuffix(" 300 r2") ?? false)
    }

    @Test("Silence opens at its deadline by the clock", arguments: [false, true]) func silence(forgetting: Bool) {
        let quiet: [[MachineEvent.Fact]] = [
            [rules(0), reading(0, [.gpsAvailable: 1], isReporting: true)], [tick(299)], [tick(300)],
        ]
        #expect(story(tables(quiet, forgetting: forgetting)).isEmpty)
        let told = quiet + [[tick(301)], [tick(305), tick(310)]]
        #expect(story(tables(told, forgetting: forgetting)) == ["opened 300 r0"])
        // A reading after the deadline ends it; one from before it, however late it comes, explains it.
        let ended = tables(told + [[reading(400, [.gpsAvailable: 1])]], forgetting: forgetting)
        #expect(story(ended) == ["opened 300 r0", "resolved 300 r0"])
        let explained = tables(
            told + [[reading(250, [.gpsAvailable: 1], isReporting: true)], [tick(311)]], forgetting: forgetting)
        #expect(story(explained) == ["opened 300 r0", "withdrawn 300 r1"])
        #expect(explained.deadlines == [vehicles[0]: Self.startMs + 550_000])
    }

    @Test("The silence of a machine that is not expected to report says nothing, its old call-in does")
    func uploadOnly() {
        let callIn = Self.startMs - 100_000
        let found = tables([
            [rules(0), reading(0, [.gpsAvailable: 1, .lastCellCallIn: callIn])], [tick(764)], [tick(765)],
            [tick(90_000)],
        ])
        #expect(story(found) == ["opened 764 r0"])
        #expect(found.episodes.values.map(\.parameter) == [.lastCellCallIn])
        #expect(found.episodes.values.map(\.openingValue) == [10])
    }

    @Test("A deadline that new rules set into the past opens at the reading that they judge") func stricterRules() {
        let found = tables([
            [rules(0), rules(400, SeededMachine.others[0])],
            [reading(0, [.gpsAvailable: 1, .lastCellCallIn: Self.startMs])],
            [reading(500, [.gpsAvailable: 1])], [tick(501)],
        ])
        #expect(story(found) == ["opened 500 r0"])
    }

    @Test("A call-in that was in time and is told later takes the alert back") func callInToldLater() {
        func at(_ seconds: Int64) -> Int64 { Self.startMs + seconds * 1_000 }
        let batches: [[MachineEvent.Fact]] = [
            [rules(0), reading(0, [.gpsAvailable: 1, .lastCellCallIn: at(0)])], [tick(1_000)],
        ]
        let inTime = tables(batches + [[reading(1_100, [.gpsAvailable: 1, .lastCellCallIn: at(800)])]])
        #expect(story(inTime) == ["opened 864 r0", "withdrawn 864 r1"])
        let after = tables(batches + [[reading(1_100, [.gpsAvailable: 1, .lastCellCallIn: at(900)])]])
        #expect(story(after) == ["opened 864 r0", "resolved 864 r0"])
    }

    @Test("A backlog that comes late raises no alert with <for>, and hides none", arguments: [false, true])
    func backlog(forgetting: Bool) {
        // Two hours late by the clock: 600 s of low pressure are counted between readings only.
        let single = tables([[rules(0), tick(9_000)], [reading(0, [.tirePressure: 60_000])], [tick(20_000)]])
        #expect(story(single).isEmpty)
        let held = tables(
            [
                [rules(0), tick(9_000)], [reading(700, [.gpsAvailable: 1, .tirePressure: 60_000])],
                [reading(0, [.gpsAvailable: 1, .tirePressure: 60_000])], [tick(9_001)],
            ], forgetting: forgetting)
        #expect(story(held) == ["opened 700 r0"])
    }

    @Test("An alert that late readings move keeps its id") func moved() {
        let found = tables([
            [rules(0), reading(100, [.coolantTemperature: 90_000])], [reading(50, [.coolantTemperature: 91_000])],
            [turn(1), reading(200, [.coolantTemperature: 70_000])],
        ])
        #expect(story(found) == ["opened 100 r0", "revised 50 r1", "resolved 50 r1"])
        #expect(found.alerts.values.map(\.firstOpenedMs) == [Self.startMs + 100_000])
        #expect(Set(found.transitions.map(\.alert.id)).count == 1)
    }

    @Test("Two alerts never share an id, though one moved to where the other's opening had been") func taken() {
        func coolant(_ seconds: Int64, _ c: Int64, _ id: String) -> MachineEvent.Fact {
            reading(seconds, [.coolantTemperature: c * 1_000], id: id)
        }
        let found = tables([
            [rules(0), coolant(100, 90, "a"), coolant(120, 70, "a")], [coolant(50, 90, "a"), turn(1)],
            [coolant(110, 90, "a"), turn(2)],
            // Cool at 100: the alert ends there. Then hot again at 100 by a third reading of that time, cool at 80.
            [coolant(100, 70, "b"), turn(3)], [coolant(80, 70, "a"), turn(4)], [coolant(100, 90, "c"), turn(5)],
        ])
        #expect(Set(found.alerts.values.filter { !$0.isWithdrawn }.map(\.episode.id)).count == found.episodes.count)
        #expect(found.episodes.count == 2 && found.alerts.count >= 2)
    }

    @Test("Nothing is judged until rules are known; the first set judges what was read before") func firstRules() {
        let hot = [reading(0, [.coolantTemperature: 90_000]), tick(10)]
        #expect(story(tables([hot])).isEmpty)
        #expect(story(tables([hot, [rules(5_000)], [tick(11)]])) == ["opened 0 r0"])
    }

    @Test("Late rules correct what was told from their time on only", arguments: [false, true])
    func lateRules(forgetting: Bool) {
        let warm = RuleSet.empty
        let batches: [[MachineEvent.Fact]] = [
            [
                rules(0), reading(100, [.gpsAvailable: 1, .coolantTemperature: 90_000]),
                reading(110, [.gpsAvailable: 1, .coolantTemperature: 70_000]),
            ],
            [
                reading(500, [.gpsAvailable: 1, .coolantTemperature: 90_000]),
                reading(600, [.gpsAvailable: 1, .coolantTemperature: 91_000]),
            ],
        ]
        let found = tables(batches + [[rules(400, warm)], [rules(400, warm), turn(1)]], forgetting: forgetting)
        #expect(story(found) == ["opened 100 r0", "resolved 100 r0", "opened 500 r0", "withdrawn 500 r1"])
        let ahead = tables(batches + [[rules(700, warm)], [reading(800, [.gpsAvailable: 1])]], forgetting: forgetting)
        #expect(story(ahead).last == "resolved 500 r0")
    }

    @Test("The same records again write nothing", arguments: [0, 1, 2, 3]) func again(from: Int) {
        let all = [
            rules(0), reading(0, [.coolantTemperature: 96_000]), reading(60, [:]),
            reading(120, [.coolantTemperature: 70_000]),
        ]
        let once = tables([all])
        for forgetting in [false, true] {
            var twice = tables([all, Array(all[from...])], forgetting: forgetting)
            twice.nextOffset = once.nextOffset
            #expect(twice == once)
        }
    }

    @Test("A late reading reads back and writes no more than up to where nothing changes") func shortLate() {
        var partition = Partition()
        partition.accept([rules(0)] + (0..<2_000).map { reading($0 * 60, [.coolantTemperature: 70_000]) })
        let found = partition.accept([reading(90, [.coolantTemperature: 90_000]), turn(1)])
        #expect(found.count == 2 && found.allSatisfy { $0.machines.flatMap(\.readings).count == 1 })
        #expect(found.flatMap(\.transitions).map(\.kind) == [.opened, .resolved])
        #expect(partition.tables.rejudging.isEmpty)
    }

    private func coolant(_ seconds: Int64, _ celsius: Int64, id: String = "a") -> MachineEvent.Fact {
        reading(seconds, [.gpsAvailable: 1, .coolantTemperature: celsius * 1_000], id: id)
    }

    @Test("An alert that a piece has ended goes on where a later piece says so", arguments: [false, true])
    func endedByAPiece(forgetting: Bool) {
        let batches =
            [[rules(0)], (0...10).map { coolant($0 * 100, 90) }, [coolant(50, 70)], [turn(1)]]
            + [[coolant(50, 90, id: "b")]] + (2...9).map { [turn($0)] } + [[coolant(1_100, 90)]]
        let found = tables(
            batches, forgetting: forgetting, pace: MachinePartition.Pace(pages: [2, 4], rows: 8))
        #expect(found.alerts.values.filter { !$0.isWithdrawn }.map(\.episode.resolvedMs) == [nil])
        #expect(found.episodes.values.map(\.openedMs) == [Self.startMs])
    }

    @Test("An alert that a piece has told is known to what comes in order", arguments: [false, true])
    func toldByAPiece(forgetting: Bool) {
        var batches = [
            [rules(0), coolant(0, 70), coolant(30, 90), coolant(50, 90)], (2...20).map { coolant($0 * 50, 84) },
            [coolant(30, 70, id: "s")],
        ]
        batches += (1...8).map { [turn($0)] } + [[coolant(45, 90), coolant(52, 70)], [turn(11)]]
        batches += [[coolant(40, 90), coolant(46, 70)], [turn(12)], [coolant(1_050, 84)]]
        batches += (13...22).map { [turn($0)] }
        let found = tables(batches, forgetting: forgetting, pace: MachinePartition.Pace(pages: [2, 6], rows: 12))
        let spans = found.episodes.values.map { episode in
            [episode.openedMs, episode.resolvedMs ?? 0].map { ($0 - Self.startMs) / 1_000 }
        }
        #expect(spans.sorted { $0[0] < $1[0] } == [[40, 46], [50, 52]])
        #expect(Set(found.transitions.map(\.id)).count == found.transitions.count)
    }

    @Test("What the clock has opened stands while something late waits", arguments: [false, true])
    func openedByTheClock(forgetting: Bool) {
        let first = reading(0, [.gpsAvailable: 1, .lastCellCallIn: Self.startMs])
        let found = tables(
            [
                [rules(0), first], [tick(1_000)], [reading(-10, [.gpsAvailable: 1]), reading(100, [.gpsAvailable: 1])],
                [tick(1_005)], [reading(-5, [.gpsAvailable: 1]), reading(110, [.gpsAvailable: 1])], [tick(1_010)],
            ], forgetting: forgetting)
        #expect(story(found) == ["opened 864 r0"])
    }

    @Test("Something late at each tick keeps no pass from its end") func lateAtEachTick() {
        let pace = MachinePartition.Pace(pages: [2, 8], rows: 32)
        var batches = [[rules(0)], (1...200).map { coolant($0 * 100, 90) }, [coolant(0, 90)]]
        for number in 1...40 as ClosedRange<Int64> { batches.append([coolant(number, 90), turn(number)]) }
        batches += (41...80).map { [turn($0)] }
        let found = tables(batches, pace: pace)
        #expect(found.rejudging.isEmpty)
        #expect(found.episodes.values.map(\.openedMs) == [Self.startMs])
        let middle = tables(Array(batches[..<20]), pace: pace)
        #expect((middle.rejudging.values.first?.span.fromMs ?? 0) > Self.startMs + 10_000_000)
    }

    @Test("An alert from before the readings that are kept is taken over by what goes on") func keptAlert() {
        var partition = Partition()
        partition.accept([rules(0)] + (0..<10).map { coolant($0 * 100, 90) })
        for ts in partition.tables.readings[vehicles[0]]!.keys.sorted().prefix(5) {
            partition.tables.readings[vehicles[0]]![ts] = nil
        }
        partition.accept([
            rules(-1_000, SeededMachine.rules), rules(-500, SeededMachine.others[1]), rules(-400), turn(1),
        ])
        partition.accept([coolant(1_000, 90)])
        #expect(partition.tables.alerts.values.filter { !$0.isWithdrawn }.count == 1)
    }

    /// What the worker stood still at: each of them moved the alert's opening, and with it the state of all that follow.
    @Test("Newest first, an alert open all along: no tick costs more than its pace, and one pass does it")
    func newestFirst() {
        let count: Int64 = 12_000
        var tables = MachineTables()
        var machines = tables.partition()
        let hot = (0..<count).reversed().map { reading($0 * 60, [.gpsAvailable: 1, .coolantTemperature: 90_000]) }
        let log = ([rules(0)] + hot + (1...10).map { turn($0) }).logged()
        var judged: [Int] = []
        for event in log {
            let found = tables.take([event], into: &machines)
            if case .tick = event.fact { judged += found.map { $0.machines.flatMap(\.readings).count } }
            #expect(found.flatMap(\.machines).flatMap(\.readings).count <= MachinePartition.Pace.product.rows)
        }
        #expect(judged.reduce(0, +) == Int(count) && judged.filter { $0 > 0 }.count == 2, "\(judged)")
        #expect(tables.episodes == MachineTables.whole(log).episodes && tables.episodes.count == 1)
        #expect(story(tables) == ["opened \((count - 1) * 60) r0", "revised 0 r1"])
    }

    @Test("Who waits longest is judged first, and one long history keeps nobody else") func fair() {
        let others = (0..<300).map { VehicleID("n-\($0)")! }
        var partition = Partition(MachinePartition.Pace(pages: [4, 64], rows: 256))
        var facts = [rules(0)] + (1..<2_000).map { reading($0 * 60, [.coolantTemperature: 90_000]) }
        facts += others.map { hot($0, 120) }
        facts.append(reading(0, [.coolantTemperature: 90_000]))
        facts += others.map { hot($0, 60) } + (1...8).map { turn($0) }
        partition.accept(facts)
        #expect(Array(partition.tables.rejudging.keys) == [vehicles[0]])
        let told = partition.tables.transitions.filter { $0.kind == .revised }
        #expect(Set(told.map(\.alert.episode.vehicle)) == Set(others))
    }

    private func hot(_ vehicle: VehicleID, _ second: Int64) -> MachineEvent.Fact {
        .reading(
            MachineReading(
                vehicle: vehicle, ts: Self.startMs + second * 1_000, id: "r-\(second)", [.coolantTemperature: 90_000]))
    }

    @Test(
        "Rules for an old time, and a clock that is set back, write a bounded number of rows a record, however many machines",
        arguments: [false, true])
    func boundedRows(isSetBack: Bool) {
        let machines = (0..<5_000).map { VehicleID("m-\($0)")! }
        var partition = Partition()
        partition.accept([rules(-100, .empty), tick(100)] + machines.map { hot($0, 0) })
        let change: MachineEvent.Fact = isSetBack ? .setBack(Self.startMs + 50_000) : rules(-10)
        var counts = partition.accept([change]).map(\.rejudging.count)
        for number in 0..<200 where !partition.tables.rejudging.isEmpty || number < 5 {
            // Ahead of all that wait, a machine that had not its turn yet says more.
            if number == 1 { partition.accept([hot(machines[4_999], 200)]) }
            counts += partition.accept([tick(200 + Int64(number))]).map(\.rejudging.count)
        }
        let tables = partition.tables
        #expect(counts.allSatisfy { $0 <= 4_096 + 512 } && counts.max()! >= 4_096, "\(counts.max()!)")
        #expect(tables.rejudging.isEmpty && tables.episodes.count == (isSetBack ? 0 : 5_000))
    }

    @Test("Sets that come all the time while machines are noted keep none from it, and are two rows at most")
    func spreadsOfSpreads() {
        let machines = (0..<12).map { VehicleID("m-\(10 + $0)")! }
        var partition = Partition(MachinePartition.Pace(pages: [4, 64], rows: 256, notedMax: 1))
        var facts = [rules(0, .empty)] + machines.map { hot($0, 0) }
        for number in 1...40 as ClosedRange<Int64> {
            facts += [rules(-number, number % 2 == 0 ? SeededMachine.rules : SeededMachine.others[0]), turn(number)]
        }
        var most = 0
        for fact in facts {
            partition.accept([fact])
            most = max(most, partition.tables.spreads.all.count)
        }
        #expect(most == 2)
        // The first ones came to all meanwhile.
        #expect((partition.tables.spreads.all.first?.askedOffset ?? 0) > 20)
    }

    @Test("A stored state that cannot be decoded is made again") func undecodable() {
        var rebuilt = 0
        for seed in 0..<20 as Range<UInt64> {
            var chance = SeededChance(seed: seed)
            let all = SeededMachine.readings(seed: seed, count: 60, vehicle: vehicles[0])
            var log = SeededMachine.log(SeededMachine.arrivals(all, seed: seed, &chance), &chance)
            log += SeededMachine.closing(log, count: 60)
            var tables = MachineTables()
            var machines = tables.partition()
            while tables.nextOffset < log.count {
                let batch = Array(log[Int(tables.nextOffset)...].prefix(10))
                let isClosing = tables.nextOffset > log.count - 50
                rebuilt += tables.take(batch, into: &machines).reduce(0) { $0 + $1.rebuilt }
                for ts in tables.readings[vehicles[0]]?.keys.sorted() ?? [] where !isClosing && chance.once(in: 4) {
                    tables.readings[vehicles[0]]![ts]!.state = [9]
                }
                machines = tables.partition()
                rebuilt += machines.queue.unreadable
            }
            #expect(tables.episodes == MachineTables.whole(log).episodes, "seed \(seed)")
        }
        #expect(rebuilt > 30)
    }

    @Test(
        "Of two readings of one time the larger id counts, of one id the one that sorts last",
        arguments: [("a", "b", 2), ("b", "a", 1), ("9", "10", 1), ("a", "a", 2)] as [(String, String, Int64)])
    func sameTime(first: String, second: String, value: Int64) {
        guard case .reading(let a) = reading(0, [.fuelLevel: 1], id: first),
            case .reading(let b) = reading(0, [.fuelLevel: 2], id: second)
        else { return }
        for order in [[a, b], [b, a], [a, b, a], [b, a, b, b]] {
            #expect(order.unioned().map(\.values) == [[.fuelLevel: value]])
        }
    }
}
