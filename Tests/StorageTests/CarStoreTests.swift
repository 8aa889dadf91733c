import Basics
import Codecs
import Fleet
import Kafka
import Pipeline
import Postgres
import SimKit
import Storage
import Testing
import Trips
import Worker

/// Cars in the real PostgreSQL: the same seeded logs as in memory, with crashes, lost answers, commits that do not happen
/// and workers that go on after their partition was given to another.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct CarStoreTests {
    static let database = Result { try TestDatabase.migrated("cars") }

    /// The simulation's log with vehicles of its own, so that all seeds live in the same tables. Nobody says anything but marks.
    static func log(seed: UInt64, rules: TripRules = TripRules(), with parts: CarLog.Parts = []) -> [LoggedRecord] {
        CarLog(seed: seed, readings: 60, rules: rules, with: parts).records.map { record in
            if let cut = record.cut { return .cut(VehicleID("s\(seed)-\(cut.vehicle.text)")!, cut.ms) }
            guard case .reading(let vehicle, let reading) = record else { return record }
            return .reading(VehicleID("s\(seed)-\(vehicle.text)")!, reading)
        }
    }

    @Test(
        "The real tables hold what the set of readings gives, and answer like the model in memory",
        arguments: 0..<16 as Range<UInt64>)
    func model(seed: UInt64) throws {
        let log = CarStoreTests.log(seed: seed)
        let run = try CarRun(log, partition: Int32(seed), seed: seed, CarStoreTests.database.get())
        try run.work(hasFaults: seed % 4 != 0)
        try run.compare(with: CarWhole(log, rules: run.rules).rows)
    }

    @Test("The same with sets of trip rules on the log", arguments: 400..<432 as Range<UInt64>)
    func sets(seed: UInt64) throws {
        let rules = seed % 3 == 0 ? SeededDrive.longRules : TripRules()
        let log = CarStoreTests.log(seed: seed, rules: rules, with: .rules)
        let run = try CarRun(log, partition: Int32(seed), seed: seed, CarStoreTests.database.get(), rules: rules)
        try run.work(hasFaults: seed % 4 != 0)
        try run.compare(with: CarWhole(log, rules: rules).rows)
    }

    @Test("The same of drives that last for days", arguments: 200..<216 as Range<UInt64>)
    func longDrives(seed: UInt64) throws {
        let log = CarStoreTests.log(seed: seed, rules: SeededDrive.longRules)
        let run = try CarRun(
            log, partition: Int32(seed), seed: seed, CarStoreTests.database.get(), rules: SeededDrive.longRules)
        try run.work(hasFaults: seed % 4 != 0)
        try run.compare(with: CarWhole(log, rules: run.rules).rows)
    }

    @Test("Trips that an upgrade cut are carried on", arguments: 300..<308 as Range<UInt64>)
    func cutTrips(seed: UInt64) throws {
        let rules = SeededDrive.longRules
        let all = CarStoreTests.log(seed: seed, rules: rules).filter { $0.cut == nil }
        let end = all.count * 2 / 3
        let conninfo = try TestDatabase.migrated("cut_\(seed)")
        let parts = CarWhole(Array(all[..<end]), rules: rules).rows
        let before = FirstVersion.results(parts)
        try FirstVersion.write(before, log: all, end: end, partition: Int32(seed), Connection(conninfo: conninfo))
        let run = try CarRun(all, partition: Int32(seed), seed: seed, conninfo, tables: before, rules: rules)
        try run.compare(with: parts, isUpgrade: true)
        try run.work(hasFaults: seed % 2 == 0)
        try run.compare(with: CarWhole(all, rules: rules).rows, isUpgrade: true)
    }

    @Test("A trip that the first version left open is ended by the clock alone") func openTrip() throws {
        let log = CarStoreTests.log(seed: 90).filter(\.isReading)
        let conninfo = try TestDatabase.migrated("upgrade_open")
        let before = FirstVersion.results(CarWhole(log, rules: TripRules()).rows)
        try FirstVersion.write(before, log: log, end: log.count, partition: 90, Connection(conninfo: conninfo))
        let whole = log + [.tick(2_000_000_000_000)]
        let run = try CarRun(whole, partition: 90, seed: 90, conninfo, tables: before)
        try run.work(hasFaults: false)
        try run.compare(with: CarWhole(whole, rules: run.rules).rows, isUpgrade: true)
    }

    @Test(
        "Rows of the first version, without states, are carried on",
        arguments: 100..<104 as Range<UInt64>)
    func upgrade(seed: UInt64) throws {
        let all = CarStoreTests.log(seed: seed)
        let conninfo = try TestDatabase.migrated("upgrade_\(seed)")
        // The first version wrote every reading at once, and knew no marks.
        let old = all[..<(all.count / 2)].filter { $0.cut == nil }
        let (log, end) = (old + all[(all.count / 2)...], old.count)
        let before = FirstVersion.results(CarWhole(Array(log[..<end]), rules: TripRules()).rows)
        try FirstVersion.write(before, log: log, end: end, partition: Int32(seed), Connection(conninfo: conninfo))
        let run = try CarRun(log, partition: Int32(seed), seed: seed, conninfo, tables: before)
        try run.work(hasFaults: seed % 2 == 0)
        try run.compare(with: CarWhole(log, rules: run.rules).rows, isUpgrade: true)
    }
}

/// Workers of one partition on the real tables; the model in memory goes along.
private final class CarRun {
    private struct Refused: Error {}
    private typealias Rows = [(vehicle: String, startMs: Int64)]
    private typealias Dropped = (trips: Rows, minutes: Rows)

    /// What was handed over and is not written yet.
    private struct Commit {
        let step: ProgressStep
        let tables: [TableRows]
        let vehicles: [VehicleStore.Row]
        let dropped: Dropped
        let marks: [Action]
        let rules: [(entry: TripRuleTimeline.Entry, offset: Int64)]
        let rows: CarRows
        let cars: CarPartition
    }

    private struct Worker {
        var cars: CarPartition
        var at: Int64
        var handedOver: PartitionProgress
        var inFlight: Commit?
        var marks: [Action] = []
        var rules: [(entry: TripRuleTimeline.Entry, offset: Int64)] = []
    }

    let rules: TripRules
    private let log: [LoggedRecord]
    private let partition: TopicPartition
    private let conninfo: String
    private var db: Connection
    private var chance: SeededChance
    private var model = CarTables()
    private var workers: [Worker] = []

    init(
        _ log: [LoggedRecord], partition: Int32, seed: UInt64, _ conninfo: String,
        tables: CarTables.Results = .init(), rules: TripRules = TripRules()
    ) throws {
        self.rules = rules
        (self.log, self.partition) = (log, TopicPartition(topic: "drover.cars", partition: partition))
        chance = SeededChance(seed: seed)
        self.conninfo = conninfo
        db = try SchemaConnection.connectForWriting(conninfo)
        model.minutes = tables.minutes.mapValues { $0.mapValues { .init(row: $0) } }
        model.trips = tables.trips.mapValues { $0.mapValues { .init(row: $0) } }
        model.days = tables.days.mapValues { $0.mapValues { .init(row: $0) } }
    }

    func work(hasFaults: Bool) throws {
        workers = [try takeOver()]
        let batchMax = [1, 7, 60, 10_000][Int(chance.below(4))] as Int64
        var steps = 0
        while hasFaults, steps < 10 * log.count, workers.contains(where: { $0.at < log.count }) {
            steps += 1
            let number = Int(chance.below(Int64(workers.count)))
            if chance.once(in: 12) {
                workers[number] = try takeOver()
                continue
            }
            if workers.count < 3, chance.once(in: 15) { workers.append(try takeOver()) }
            take(number, count: 1 + chance.below(batchMax))
            if !chance.once(in: 3) { try cycle(number, hasFaults: true) }
        }
        workers = [try takeOver()]
        while workers[0].at < log.count || workers[0].inFlight != nil || workers[0].handedOver.nextOffset < log.count {
            take(0, count: 1 + chance.below(batchMax))
            try cycle(0, hasFaults: false)
        }
    }

    private func takeOver() throws -> Worker {
        let progress = try ProgressStore.load([partition: 0], on: db)[partition]!
        try TripRuleStore.begin(partition.partition, with: rules, on: db)
        var cars = CarPartition(
            rules: try TripRuleStore.load(partition.partition, on: db).timeline!,
            progress: CarProgress(
                nextOffset: progress.nextOffset, replayFrom: progress.replayFrom,
                replayClockMs: progress.replayClockMs))
        var drivers = DriverPartition(storedOffset: progress.nextOffset)
        try CarLoader(partition.partition, on: db).load(since: .min, into: &cars, &drivers)
        return Worker(cars: cars, at: progress.replayFrom, handedOver: progress, inFlight: nil)
    }

    private func take(_ number: Int, count: Int64) {
        for _ in 0..<count where workers[number].at < log.count {
            let offset = workers[number].at
            workers[number].at += 1
            switch log[Int(offset)] {
            case .tick(let ts, _): workers[number].cars.tick(ts, offset: offset)
            case .setBack(let ts): workers[number].cars.setBack(ts, offset: offset)
            case .rules(let rules, let fromMs):
                workers[number].cars.apply(rules: rules, fromMs: fromMs, offset: offset, pushedMs: 1_000 + offset).map {
                    workers[number].rules.append(($0, offset))
                }
            case .action(let action):
                guard let cut = action.cut else { continue }
                workers[number].marks.append(action)
                unsafe Array(cut.vehicle.text.utf8).withUnsafeBytes { key in
                    _ = try! unsafe workers[number].cars.accept(
                        key: key, cut: cut.ms, offset: offset, pushedMs: 1_000 + offset)
                }
            case .reading(let vehicle, let reading):
                unsafe Array(vehicle.text.utf8).withUnsafeBytes { key in
                    _ = try! unsafe workers[number].cars.accept(
                        key: key, reading, offset: offset, pushedMs: 1_000 + offset)
                }
            }
        }
    }

    /// As a lane does it: the commit in flight is answered, the next is handed over; with late readings it waits.
    private func cycle(_ number: Int, hasFaults: Bool) throws {
        guard try settle(number, hasFaults) else { return }
        let worker = workers[number]
        guard worker.at > worker.handedOver.nextOffset else { return }
        var to = worker.handedOver
        to.nextOffset = worker.at
        (to.clockMs, to.lastRecordHash) = (worker.cars.clockMs, worker.at)
        (to.replayFrom, to.replayClockMs) = (
            min(worker.cars.replayFrom.offset, worker.at), worker.cars.replayFrom.clockMs
        )
        workers[number].inFlight = Commit(
            step: ProgressStep(partition: partition, from: worker.handedOver, to: to),
            tables: CarStore.encode(worker.cars), vehicles: vehicles(worker.cars), dropped: dropped(worker.cars),
            marks: worker.marks, rules: worker.rules, rows: worker.cars.rows, cars: worker.cars)
        workers[number].handedOver = to
        workers[number].cars.clearRows()
        (workers[number].marks, workers[number].rules) = ([], [])
        if worker.cars.hasLate { _ = try settle(number, hasFaults) }
    }

    private func vehicles(_ cars: borrowing CarPartition) -> [VehicleStore.Row] {
        cars.rows.vehicles.map {
            let text = String(decoding: cars.vehicle($0), as: UTF8.self)
            return VehicleStore.Row(
                vehicle: text, kind: .car, model: nil, partition: partition.partition, lastMs: nil)
        }
    }

    private func dropped(_ cars: borrowing CarPartition) -> Dropped {
        func text(_ car: Int32) -> String { String(decoding: cars.vehicle(car), as: UTF8.self) }
        return (
            cars.rows.droppedTrips.map { (text($0), $1) }, cars.rows.droppedMinutes.map { (text($0), $1) }
        )
    }

    /// The commit in flight happens, or not, and its answer arrives, or not. False: the worker starts anew.
    private func settle(_ number: Int, _ hasFaults: Bool) throws -> Bool {
        guard let commit = workers[number].inFlight else { return true }
        workers[number].inFlight = nil
        let before = model
        var isKept = false
        do {
            try db.transaction {
                isKept = try ProgressStore.advance([commit.step], on: db) == [partition]
                guard isKept else { return }
                try write(commit.vehicles, commit.dropped, commit.tables)
                try ActionStore.write(commit.marks.map { ($0, nil) }, partition: partition.partition, on: db)
                for (entry, offset) in commit.rules {
                    try TripRuleStore.write(entry, offset: offset, partition: partition.partition, on: db)
                }
                model.write(commit.rows, of: commit.cars)
                for cut in commit.marks.compactMap(\.cut) { model.cuts[cut.vehicle, default: []].insert(cut.ms) }
                if workers[number].cars.hasLate, workers[number].at == commit.step.to.nextOffset {
                    try resolve(number)
                }
                if hasFaults, chance.once(in: 10) { throw Refused() }
            }
        } catch is Refused {
            (model, isKept) = (before, false)
            // As a worker does: the session may believe in staging tables that were rolled back.
            db = try SchemaConnection.connectForWriting(conninfo)
        }
        if isKept, !hasFaults || !chance.once(in: 10) { return true }
        workers[number] = try takeOver()
        return false
    }

    private func write(
        _ vehicles: [VehicleStore.Row], _ dropped: Dropped, _ tables: [TableRows]
    ) throws {
        try VehicleStore.write(vehicles, on: db)
        try CarStore.drop(trips: dropped.trips, minutes: dropped.minutes, on: db)
        for table in CarStore.tables {
            try table.write(tables.filter { $0.table.name == table.name }.map(\.bytes), on: db)
        }
    }

    private func resolve(_ number: Int) throws {
        while workers[number].cars.hasLate { try resolveOnce(number) }
    }

    private func resolveOnce(_ number: Int) throws {
        let queries = workers[number].cars.lateQueries
        let histories = try CarStore.history(queries, on: db)
        let wanted = model.histories(queries)
        for query in queries {
            let (found, wanted) = (try #require(histories[query.vehicle]), try #require(wanted[query.vehicle]))
            #expect(found.trips == wanted.trips)
            #expect(found.minutes == wanted.minutes)
            #expect(found.otherMinutesOfDay == wanted.otherMinutesOfDay)
            #expect(found.lastMinuteMs == wanted.lastMinuteMs)
            #expect(found.next?.startMs == wanted.next?.startMs && found.next?.carry == wanted.next?.carry)
            #expect(found.before == wanted.before)
            let asked = query.fromMs...query.toMs
            #expect(found.cuts.filter(asked.contains).sorted() == wanted.cuts.filter(asked.contains))
            // The model does not ask which days.
            #expect(found.days.allSatisfy { wanted.days[$0.key] == $0.value })
            let span = UTC.day(of: query.fromMs)...UTC.day(of: query.toMs)
            #expect(wanted.days.keys.allSatisfy { !span.contains($0) || found.days[$0] != nil })
        }
        workers[number].cars.resolve(histories, nextOffset: workers[number].at)
        let cars = workers[number].cars
        try write(vehicles(cars), dropped(cars), CarStore.encode(cars))
        model.write(cars.rows, of: cars)
        workers[number].cars.clearRows()
    }

    // MARK: What the tables hold

    /// `isUpgrade`: rows of the first version that nothing touched since know no newer figures.
    func compare(with expected: CarTables.Results, isUpgrade: Bool = false) throws {
        var results = CarTables.Results()
        let names = TotalsColumns.names.joined(separator: ", ")
        let ours = "vehicle IN (SELECT vehicle FROM vehicle WHERE topic_partition = \(partition.partition))"
        for row in try db.query(
            "SELECT vehicle, minute_at, trip_start_at, samples, revision, \(names) FROM vehicle_minute WHERE \(ours)")
        {
            let (vehicle, start) = (VehicleID(try row.text("vehicle")!)!, try row.timestampMs("minute_at")!)
            results.minutes[vehicle, default: [:]][start] = VehicleMinute(
                startMs: start, tripStartMs: try row.timestampMs("trip_start_at")!,
                totals: try TotalsColumns.totals(row),
                readings: try PackedSamples.decode(try row.bytes("samples")!, minuteMs: start))
            #expect(try row.int("revision")! == Int(model.minutes[vehicle]?[start]?.revision ?? -1))
        }
        for row in try db.query(
            """
            SELECT vehicle, start_at, end_at, is_open, revision, from_before, goes_on, carry, \(names)
            FROM trip WHERE \(ours)
            """)
        {
            let (vehicle, start) = (VehicleID(try row.text("vehicle")!)!, try row.timestampMs("start_at")!)
            var trip = Trip(
                startMs: start, endMs: try row.timestampMs("end_at")!, totals: try TotalsColumns.totals(row))
            (trip.isFromBefore, trip.goesOn) = (try row.bool("from_before")!, try row.bool("goes_on")!)
            trip.carry = try row.bytes("carry") ?? []
            results.trips[vehicle, default: [:]][start] = .init(trip, isOpen: try row.bool("is_open")!)
            #expect(try row.int("revision")! == Int(model.trips[vehicle]?[start]?.revision ?? -1))
        }
        for row in try db.query("SELECT vehicle, day_at, revision, \(names) FROM vehicle_day WHERE \(ours)") {
            let (vehicle, day) = (VehicleID(try row.text("vehicle")!)!, try row.timestampMs("day_at")!)
            results.days[vehicle, default: [:]][day] = try TotalsColumns.totals(row)
            #expect(try row.int("revision")! == Int(model.days[vehicle]?[day]?.revision ?? -1))
        }
        for row in try db.query("SELECT vehicle, start_at, latitude_deg, longitude_deg FROM trip_start WHERE \(ours)") {
            let (vehicle, start) = (VehicleID(try row.text("vehicle")!)!, try row.timestampMs("start_at")!)
            results.starts[vehicle, default: [:]][start] = CarTables.Start(
                Position(degrees: try row.double("latitude_deg"), try row.double("longitude_deg")))
        }
        #expect(model.results == results)
        #expect(isUpgrade ? FirstVersion.results(results) == FirstVersion.results(expected) : results == expected)
    }
}

/// Rows as databases still have them of the first version: without states, and with the sums of that time.
private enum FirstVersion {
    /// Columns of the sums, the first of those that there are now.
    private static let columns = 18

    static func totals(_ totals: DriveTotals) -> DriveTotals {
        var values: [Int64?] = []
        totals.visit(narrow: { values.append($0) }, wide: { values.append($0) })
        var next = -1
        return DriveTotals {
            next += 1
            return next < columns ? values[next] : nil
        }
    }

    static func results(_ results: CarTables.Results) -> CarTables.Results {
        var old = results
        old.starts = [:]
        for (vehicle, minutes) in results.minutes {
            for start in minutes.keys { old.minutes[vehicle]![start]!.totals = totals(minutes[start]!.totals) }
        }
        for (vehicle, trips) in results.trips {
            for start in trips.keys {
                old.trips[vehicle]![start]!.trip.totals = totals(trips[start]!.trip.totals)
                old.trips[vehicle]![start]!.trip.carry = []
            }
        }
        old.days = results.days.mapValues { $0.mapValues(totals) }
        return old
    }

    static func write(
        _ results: CarTables.Results, log: [LoggedRecord], end: Int, partition: Int32, _ db: Connection
    ) throws {
        let clockMs = log[..<end].compactMap { if case .tick(let ts, _) = $0 { ts } else { nil } }.max()
        try db.query(
            """
            INSERT INTO drover.partition_progress (topic, partition, next_offset, clock_at, replay_offset, replay_clock_at)
            VALUES ('drover.cars', $1, $2, $3, $2, $3)
            """, [.int4(partition), .int8(Int64(end)), clockMs.map { .timestampMs($0) } ?? .null])
        for (vehicle, trips) in results.trips {
            try db.query(
                "INSERT INTO drover.vehicle (kind, vehicle, topic_partition) VALUES ('car', $1, $2)",
                [.text(vehicle.text), .int4(partition)])
            for row in trips.values {
                try insert(
                    "trip",
                    [
                        ("vehicle", .text(vehicle.text)), ("start_at", .timestampMs(row.trip.startMs)),
                        ("end_at", .timestampMs(row.trip.endMs)), ("is_open", .bool(row.isOpen)),
                        ("from_before", .bool(row.trip.isFromBefore)), ("goes_on", .bool(row.trip.goesOn)),
                    ], row.trip.totals, db)
            }
        }
        for day in Set(results.minutes.values.flatMap(\.values).map { $0.startMs / 86_400_000 }) {
            try db.query(
                "SELECT drover.make_period('drover.vehicle_minute', $1)", [.timestampMs(day * 86_400_000)])
        }
        for (vehicle, minutes) in results.minutes {
            for minute in minutes.values {
                var samples: [UInt8] = []
                PackedSamples.encode(minute.readings, minuteMs: minute.startMs, into: &samples)
                try insert(
                    "vehicle_minute",
                    [
                        ("vehicle", .text(vehicle.text)), ("minute_at", .timestampMs(minute.startMs)),
                        ("trip_start_at", .timestampMs(minute.tripStartMs)), ("samples", .bytes(samples)),
                    ], minute.totals, db)
            }
        }
        for (vehicle, days) in results.days {
            for (day, totals) in days {
                try insert(
                    "vehicle_day", [("vehicle", .text(vehicle.text)), ("day_at", .timestampMs(day))], totals, db)
            }
        }
    }

    private static func insert(
        _ table: String, _ columns: [(String, Parameter)], _ totals: DriveTotals, _ db: Connection
    ) throws {
        var values = columns.map(\.1)
        totals.visit(
            narrow: { values.append($0.map { .int4(Int32($0)) } ?? .null) },
            wide: { values.append($0.map { .int8($0) } ?? .null) })
        values.removeLast(TotalsColumns.names.count - FirstVersion.columns)
        let names = (columns.map(\.0) + TotalsColumns.names.prefix(FirstVersion.columns)).joined(separator: ", ")
        let places = values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        try db.query("INSERT INTO drover.\(table) (\(names)) VALUES (\(places))", values)
    }
}
