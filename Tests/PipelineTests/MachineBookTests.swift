import Alerts
import Fleet
import Pipeline
import SimKit
import Testing
import Trips

/// As for cars: any order, any split, any repetition, any loss of memory gives what the readings in order give.
struct MachineBookTests {
    let vehicles = [VehicleID("m-1")!, VehicleID("m-2")!]
    let rules = SeededMachine.rules

    private func run(_ arrivals: [MachineReading], _ chance: inout SeededChance, machinesMax: Int = 200_000)
        -> MachineTables
    {
        var (book, tables) = (MachineBook(rules: rules, machinesMax: machinesMax), MachineTables())
        var rest = arrivals[...]
        while !rest.isEmpty {
            let taken = rest.prefix(Int(1 + chance.below(40)))
            rest = rest.dropFirst(taken.count)
            let batch = Dictionary(grouping: taken, by: \.vehicle).mapValues { $0.unioned() }
            // Once in a while the commit fails: nothing was written, memory is gone, the batch comes again.
            if chance.once(in: 15) {
                _ = changes(batch, &book, tables)
                book.forgetAll()
            }
            for change in changes(batch, &book, tables) { tables.write(change) }
            if chance.once(in: 10) { book.forgetAll() }
        }
        return tables
    }

    /// As a lane does it: asks for all, reads back for all, then applies all.
    private func changes(_ batch: [VehicleID: [MachineReading]], _ book: inout MachineBook, _ tables: MachineTables)
        -> [MachineChange]
    {
        let histories = batch.compactMapValues { readings in
            book.query(readings[0].vehicle, readings).map(tables.history)
        }
        return batch.compactMap { vehicle, readings in book.apply(readings, of: vehicle, history: histories[vehicle]) }
    }

    private func expectSame(_ tables: MachineTables, _ all: [MachineReading], seed: UInt64) {
        let wanted = MachineTables.whole(all, rules: rules)
        #expect(tables.readings == wanted.readings, "seed \(seed)")
        #expect(Set(tables.alerts.keys).symmetricDifference(wanted.alerts.keys).isEmpty, "seed \(seed)")
        for (id, episode) in wanted.alerts { #expect(tables.alerts[id] == episode, "seed \(seed)") }
    }

    @Test("Any order and any split gives the same rows, states and alerts", arguments: 0..<160 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var chance = SeededChance(seed: seed &* 7919 + 1)
        let all = vehicles.enumerated().flatMap { index, vehicle in
            SeededMachine.readings(
                seed: seed &* 2 + UInt64(index), count: Int(20 + chance.below(120)), vehicle: vehicle)
        }
        var arrivals = all.sorted { $0.ts < $1.ts }
        switch seed % 4 {
        case 0: break
        case 1: arrivals.shuffle(using: &chance)
        case 2:  // A backlog in the middle comes last.
            let from = Int(chance.below(Int64(arrivals.count)))
            let late = arrivals[from...].prefix(arrivals.count / 3)
            arrivals.removeSubrange(from..<from + late.count)
            arrivals += late
        default: arrivals += all.filter { _ in chance.once(in: 2) }
        }
        expectSame(run(arrivals, &chance), all, seed: seed)
    }

    @Test("More machines than are kept", arguments: 0..<20 as Range<UInt64>) func crowded(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let all = (0..<6).flatMap {
            SeededMachine.readings(seed: seed * 6 + $0, count: 40, vehicle: VehicleID("m-\($0)")!)
        }
        expectSame(run(all.sorted { $0.ts < $1.ts }, &chance, machinesMax: Int(chance.below(5))), all, seed: seed)
    }

    @Test("More cars than are kept") func crowdedCars() {
        var book = CarBook(rules: TripRules(), carsMax: 2)
        let cars = (0..<5).map { VehicleID("c-\($0)")! }
        for round in 0..<4 as Range<Int64> {
            let readings = [CarReading(ts: 1_789_344_000_000 + round * 1_000)]
            let asked = cars.map { book.query($0, readings) }
            let changes = zip(cars, asked).map { car, query in
                book.apply(readings, of: car, history: query == nil ? nil : CarHistory.none, clockMs: nil)
            }
            #expect(changes.allSatisfy { $0?.minutes.count == 1 })
            #expect(asked.count { $0 == nil } == (round == 0 ? 0 : 2))
        }
        #expect(book.count == 2)
    }

    // MARK: Single scenes

    private func reading(_ seconds: Int64, _ values: [MachineParameter: Int64], id: String? = nil) -> MachineReading {
        var reading = MachineReading(
            vehicle: vehicles[0], ts: 1_789_344_000_000 + seconds * 1_000, id: id ?? "r-\(seconds)", model: "8R Tractor"
        )
        reading.values = values
        return reading
    }

    /// Batches one after the other; memory may be lost before each.
    private func tables(_ batches: [[MachineReading]], forgetting: Bool) -> MachineTables {
        var (book, tables) = (MachineBook(rules: rules), MachineTables())
        for batch in batches {
            if forgetting { book.forgetAll() }
            for change in changes([vehicles[0]: batch.unioned()], &book, tables) { tables.write(change) }
        }
        return tables
    }

    @Test("A late good reading takes an alert back, and the next late one brings it to life", arguments: [false, true])
    func comesBack(forgetting: Bool) {
        // Pressure is low at 0 and 700: held for more than 600 s. A good one at 300 undoes it; a bad one of a larger
        // id at the same time brings the same alert back.
        let bad = [
            reading(0, [.gpsAvailable: 1, .tirePressure: 60_000]),
            reading(700, [.gpsAvailable: 1, .tirePressure: 60_000]),
        ]
        let good = reading(300, [.gpsAvailable: 1, .tirePressure: 80_000], id: "a")
        let worse = reading(300, [.gpsAvailable: 1, .tirePressure: 50_000], id: "b")
        let first = tables([bad], forgetting: forgetting)
        #expect(first.alerts.count == 1 && first.withdrawn.isEmpty)
        let second = tables([bad, [good]], forgetting: forgetting)
        #expect(second.alerts.isEmpty && Array(second.withdrawn.keys) == Array(first.alerts.keys))
        let third = tables([bad, [good], [worse]], forgetting: forgetting)
        #expect(Array(third.alerts.keys) == Array(first.alerts.keys) && third.withdrawn.isEmpty)
        #expect(third.alerts == MachineTables.whole(bad + [good, worse], rules: rules).alerts)
    }

    @Test("An absence whose deadline is a reading's own time is taken back, too", arguments: [false, true])
    func deadline(forgetting: Bool) {
        let batches = [
            [reading(0, [.gpsAvailable: 1]), reading(300, [:]), reading(600, [:])], [reading(400, [.gpsAvailable: 1])],
        ]
        #expect(tables([batches[0]], forgetting: forgetting).alerts.count == 1)
        let found = tables(batches, forgetting: forgetting)
        #expect(found.alerts.isEmpty && found.withdrawn.count == 1)
    }

    @Test(
        "An absence whose deadline lies before a reading of another model is taken back, too", arguments: [false, true])
    func deadlineOfAnotherModel(forgetting: Bool) {
        // 60 s without GPS are too much for the sprayer only: it opens at 60, though the reading at 200 opened nothing.
        var last = reading(250, [:])
        last.model = "R4038 Sprayer"
        let batches = [[reading(0, [.gpsAvailable: 1]), reading(200, [:]), last], [reading(220, [.gpsAvailable: 1])]]
        #expect(tables([batches[0]], forgetting: forgetting).alerts.values.map(\.openedMs) == [1_789_344_060_000])
        #expect(tables(batches, forgetting: forgetting).alerts.isEmpty)
    }

    @Test("The same readings again write nothing", arguments: [0, 1, 2]) func again(from: Int) {
        let all = [
            reading(0, [.coolantTemperature: 96_000]), reading(60, [:]), reading(120, [.coolantTemperature: 70_000]),
        ]
        var (book, tables) = (MachineBook(rules: rules), MachineTables())
        tables.write(changes([vehicles[0]: all], &book, tables)[0])
        #expect(changes([vehicles[0]: Array(all[from...])], &book, tables).isEmpty)
        book.forgetAll()
        #expect(changes([vehicles[0]: Array(all[from...])], &book, tables).isEmpty)
    }

    @Test(
        "Of two readings of one time the larger id counts, of one id the one that sorts last",
        arguments: [
            ("a", "b", 2), ("b", "a", 1), ("9", "10", 1), ("a", "a", 2),
        ] as [(String, String, Int64)])
    func sameTime(first: String, second: String, value: Int64) {
        let (a, b) = (reading(0, [.fuelLevel: 1], id: first), reading(0, [.fuelLevel: 2], id: second))
        for order in [[a, b], [b, a], [a, b, a], [b, a, b, b]] {
            #expect(order.unioned().map(\.values) == [[.fuelLevel: value]])
        }
    }
}
