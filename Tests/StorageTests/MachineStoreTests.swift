import Alerts
import Fleet
import Pipeline
import Postgres
import SimKit
import Storage
import Testing
import Worker

@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct MachineStoreTests {
    static let database = Result { try TestDatabase.migrated("machines") }

    private(set) var db: Connection

    init() throws { db = try MachineStoreTests.connect() }

    private static func connect() throws -> Connection { try SchemaConnection.connectForWriting(database.get()) }

    /// A small pace: histories of a few readings are judged in pieces, too, and what changes of all machines is noted one by one.
    private let pace = MachinePartition.Pace(pages: [2, 8], rows: 20, notedMax: 1)

    private func machines(_ partition: Int32, clockMs: Int64?) throws -> MachinePartition {
        try MachineReadBack.load(partition: partition, clockMs: clockMs, pace: pace, on: db)
    }

    private func take(_ events: [MachineEvent], _ machines: inout MachinePartition, _ partition: Int32) throws -> Int {
        var (rest, rebuilt) = (events[...], 0)
        while !rest.isEmpty {
            let (changes, count) = try MachineReadBack.fold(rest, into: &machines, partition: partition, on: db)
            try write(changes, partition)
            rebuilt += changes.rebuilt
            rest = rest.dropFirst(count)
        }
        return rebuilt
    }

    private func write(_ changes: MachineChanges, _ partition: Int32) throws {
        try VehicleStore.write(
            changes.machines.filter { !$0.readings.isEmpty }.map {
                VehicleStore.Row(
                    vehicle: $0.vehicle.text, kind: .machine, model: $0.model, partition: partition,
                    lastMs: $0.lastMs, machineID: $0.machineID)
            }, on: db)
        try MachineStore.write(changes, partition: partition, on: db)
    }

    private func log(_ seed: UInt64, _ chance: inout SeededChance) -> (vehicles: [VehicleID], log: [MachineEvent]) {
        let vehicles = (0..<2).map { VehicleID("m-\(seed)-\($0)")! }
        var arrivals = vehicles.enumerated().flatMap {
            SeededMachine.readings(seed: seed * 2 + UInt64($0), count: 60, vehicle: $1).map(Self.named)
        }
        arrivals.sort { $0.ts < $1.ts }
        if seed % 2 == 1 { arrivals.shuffle(using: &chance) }
        let log = SeededMachine.log(arrivals, &chance)
        return (vehicles, log + SeededMachine.closing(log, count: 60))
    }

    /// Some readings say what the machine is called, also where another one of the same time does not.
    private static func named(_ reading: MachineReading) -> MachineReading {
        var (reading, sum) = (reading, reading.ts / 1_000)
        for byte in reading.id.utf8 { sum += Int64(byte) }
        reading.machineID = sum % 3 == 0 ? nil : "M\(sum % 7)"
        return reading
    }

    /// What the model in memory holds after the same log, record by record.
    private func wanted(_ log: [MachineEvent]) -> MachineTables {
        var (tables, machines) = (MachineTables(), MachinePartition(rules: RuleTimeline(), clockMs: nil, pace: pace))
        for event in log { _ = tables.take([event], into: &machines) }
        return tables
    }

    @Test(
        "The real tables hold what the model in memory does, whoever takes over when",
        arguments: 0..<16 as Range<UInt64>)
    mutating func model(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        let partition = Int32(seed)
        let (vehicles, log) = log(seed, &chance)
        var (next, clockMs): (Int, Int64?) = (0, nil)
        var machines = try machines(partition, clockMs: nil)
        struct Killed: Error {}
        while next < log.count {
            let batch = Array(log[next...].prefix(Int(1 + chance.below(20))))
            do {
                try db.transaction {
                    _ = try take(batch, &machines, partition)
                    if chance.once(in: 8) { throw Killed() }
                }
                next += batch.count
                for case .tick(let ts) in batch.map(\.fact) { clockMs = max(clockMs ?? ts, ts) }
            } catch is Killed {
                db = try MachineStoreTests.connect()
                machines = try self.machines(partition, clockMs: clockMs)
            }
        }
        let wanted = wanted(log)
        var histories = MachineHistories()
        var needs = MachineNeeds()
        needs.machines = vehicles.map { MachineQuery(vehicle: $0, fromMs: .min, rowsMax: 10_000) }
        needs.page = MachinePageQuery(after: nil, countMax: 10)
        try MachineStore.read(needs, partition: partition, into: &histories, on: db)
        #expect(histories.page?.machines.map(\.vehicle) == vehicles && histories.page?.last == nil)
        #expect(!machines.isRejudging)
        for vehicle in vehicles {
            let found = try #require(histories.machines[vehicle])
            let rows = wanted.readings[vehicle, default: [:]].sorted { $0.key < $1.key }.map(\.value)
            #expect(found.rows.map(\.reading) == rows.map(\.reading), "seed \(seed)")
            #expect(found.rows.map(\.state?.packed) == rows.map(\.state), "seed \(seed)")
            let alerts = wanted.alerts.values.filter { $0.episode.vehicle == vehicle }.sorted { $0.id < $1.id }
            #expect(found.told.all.sorted { $0.id < $1.id } == alerts, "seed \(seed)")
            let deadline = try db.query(
                "SELECT next_deadline_at FROM drover.vehicle WHERE vehicle = $1", [.text(vehicle.text)]
            )[0].timestampMs("next_deadline_at")
            #expect(deadline == wanted.deadlines[vehicle], "seed \(seed)")
            let said = rows.last { $0.reading.machineID != nil }?.reading
            let stored = try db.query(
                "SELECT machine_id, machine_id_at FROM drover.vehicle WHERE vehicle = $1", [.text(vehicle.text)])[0]
            #expect(try stored.text("machine_id") == said?.machineID, "seed \(seed)")
            #expect(try stored.timestampMs("machine_id_at") == said?.ts, "seed \(seed)")
        }
        #expect(try MachineStore.rules(partition: partition, on: db) == RuleTimeline(wanted.rules.values))
    }

    @Test("A service that is due soon comes back as it was told") func dueSoon() throws {
        var service = Threshold(
            field: .parameter(.engineHours), test: .above, unit: "hours", type: .int, audience: .farmer,
            threshold: 50_000)
        service.every = 50_000
        let vehicle = VehicleID("m-soon")!
        var reading = MachineReading(vehicle: vehicle, ts: 1_789_344_000_000, id: "r", model: "8R Tractor")
        reading.values = [.engineHours: 46_000]
        var fold = AlertFold()
        let found = fold.observe(
            reading, rules: RuleTimeline(always: RuleSet(["8R Tractor": [service]])),
            services: ServiceLog([ServiceLog.Entry(doneMs: reading.ts - 1, atHours: 0, id: "s")]))
        #expect(found.map(\.state) == [.dueSoon])
        var changes = MachineChanges()
        changes.machines = [
            MachineChange(
                vehicle: vehicle, model: reading.model, lastMs: reading.ts, readings: [],
                alerts: found.map { ToldAlert(id: $0.id, firstOpenedMs: $0.openedMs, episode: $0) }, isLatest: false,
                nextDeadlineMs: nil)
        ]
        try db.transaction { try write(changes, 2_000) }
        #expect(try MachineStore.alerts(of: vehicle, .engineHours, on: db) == found)
    }

    @Test("A state of another version is judged again from the first reading, and the lane goes on") func undecodable()
        throws
    {
        var chance = SeededChance(seed: 1_000)
        let (vehicles, log) = log(1_000, &chance)
        var machines = try machines(1_000, clockMs: nil)
        _ = try db.transaction { try take(log, &machines, 1_000) }
        try db.execute(
            "UPDATE drover.machine_reading SET alert_state = '\\x01' WHERE vehicle LIKE 'm-1000-%';"
                + "UPDATE drover.vehicle SET next_deadline_at = last_reading_at WHERE topic_partition = 1000")
        let clockMs = log.compactMap { if case .tick(let ts) = $0.fact { ts } else { nil } }.max()!
        machines = try self.machines(1_000, clockMs: clockMs)
        #expect(machines.queue.unreadable == vehicles.count)
        let told = try db.query("SELECT count(*) AS n FROM drover.alert WHERE vehicle LIKE 'm-1000-%'")[0].int("n")
        // The next ticks judge them.
        let ticks = (1...60).map {
            MachineEvent(.tick(clockMs + $0), offset: Int64(log.count) + $0, pushedMs: 0)
        }
        _ = try db.transaction { try take(ticks, &machines, 1_000) }
        #expect(!machines.isRejudging)
        #expect(
            try db.query("SELECT count(*) AS n FROM drover.alert WHERE vehicle LIKE 'm-1000-%'")[0].int("n") == told)
        var histories = MachineHistories()
        var needs = MachineNeeds()
        needs.machines = vehicles.map { MachineQuery(vehicle: $0, fromMs: .min, rowsMax: 10_000) }
        try MachineStore.read(needs, partition: 1_000, into: &histories, on: db)
        #expect(histories.machines.values.allSatisfy { $0.rows.allSatisfy { $0.state != nil } })
    }
}
