import Alerts
import Embedded
import Fleet
import Foundation
import Gateways
import Kafka
import Observe
import Postgres
import Settings
import Storage
import Wire
import Worker

/// A steady load for a while: cars at 1 Hz, one record in a hundred rubbish, and machines whose coolant is too hot. How
/// long from the push of a hot reading until its alert can be read, and what memory does.
struct LoadBench {
    let rate: Int
    let seconds: Int
    /// Nil: the embedded broker.
    let brokers: String?

    /// A machine reports this often.
    private static let machineMs: Int64 = 50
    /// In turn hot and cool: each reading opens or ends an alert.
    private static let machines = 400

    func run(_ arguments: Arguments) throws -> [Figure] {
        try BenchServers.with(arguments, brokers: brokers) { try measure($0) }
    }

    private func measure(_ servers: BenchServers) throws -> [Figure] {
        let settings = servers.settings
        let connection = try Connection(conninfo: settings.text("postgres.url"))
        let worker = try Roles.worker(settings, instanceID: "bench", log: Log(level: .warning))
        let running = RunningRole("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { running.stop() }
        try LoadBench.waitForRules(connection)
        // Alerts are read where the relay reads them, with its rights.
        let listener = try Connection(conninfo: servers.embedded.conninfo(user: "drover_notify"))
        return try load(settings, connection, listener)
    }

    /// Machines are judged once every partition has its rules. How many there are is the broker's to say.
    static func waitForRules(_ connection: Connection) throws {
        let lacking = """
            SELECT NOT bool_and(EXISTS (SELECT FROM drover.rule_set r WHERE r.topic_partition = p.partition)) AS lacks
            FROM drover.partition_progress p WHERE p.topic = $1
            """
        let patience = Stopwatch()
        while try connection.query(lacking, [.text(Topic.machines)])[0].bool("lacks") ?? true {
            guard patience.seconds < 60 else { throw Failure("the worker did not begin in a minute") }
            _ = StopFlag.wait(timeoutMs: 100)
        }
    }

    private func load(
        _ settings: Settings, _ connection: Connection, _ listener: Connection
    ) throws -> [Figure] {
        let kafka = try settings.kafka(clientID: "drover-bench")
        let (cars, machines) = (try Importer(kafka, topic: Topic.cars), try Importer(kafka, topic: Topic.machines))
        let ids = (0..<rate).map { VehicleID("car-\($0)")! }
        try listener.execute("LISTEN drover_outbox")
        // A producer's first record waits a second for its id at the broker.
        for importer in [cars, machines] { try importer.finish(tickMs: Clock.nowMs()) }
        var watch = AlertWatch(listener)
        let startMs = Clock.steadyMs()
        var (pushed, rubbish, machine, quarterBytes) = (0, 0, 0, 0)
        var (lastMachineMs, lastNoteMs, worstLagMs): (Int64, Int64, Int64) = (0, startMs, 0)
        while !StopFlag.isSet {
            let elapsedMs = Clock.steadyMs() - startMs
            guard elapsedMs < Int64(seconds) * 1_000 else { break }
            let due = Int(elapsedMs) * rate / 1_000
            worstLagMs = max(worstLagMs, Int64(due - pushed) * 1_000 / Int64(rate))
            for index in pushed..<min(due, pushed + rate / 20) {
                let id = ids[index % rate]
                if index % 100 == 0 {
                    try cars.push(garbled: id)
                    rubbish += 1
                } else {
                    try cars.push(car: id, reading(index), id: "l-\(index)")
                }
                pushed += 1
            }
            if elapsedMs - lastMachineMs >= LoadBench.machineMs {
                lastMachineMs = elapsedMs
                let id = VehicleID("hot-\(machine % LoadBench.machines)")!
                let isHot = machine / LoadBench.machines % 2 == 0
                machine += 1
                watch.pushed(id.text)
                try machines.push(machine: id, json: json(id, coolant: isHot ? 99 : 70))
            }
            try watch.look()
            if quarterBytes == 0, elapsedMs > Int64(seconds) * 250 { quarterBytes = OwnMemory.bytes }
            if Clock.steadyMs() - lastNoteMs > 60_000 {
                lastNoteMs = Clock.steadyMs()
                Out.note(
                    "\(elapsedMs / 1_000) s, \(pushed) records, \(OwnMemory.bytes / 1_048_576) MiB, "
                        + watch.lastMinute())
            }
        }
        let elapsed = Double(Clock.steadyMs() - startMs) / 1_000
        let endBytes = OwnMemory.bytes
        try cars.finish(tickMs: Clock.nowMs())
        try machines.finish(tickMs: Clock.nowMs())
        try waitForAll(connection, machines: machine, rubbish: rubbish, &watch)
        let sorted = watch.latenciesMs.sorted()
        return [
            Figure(name: "load", value: Double(pushed) / elapsed, unit: "records/s", baseline: nil),
            Figure(name: "alert_p50", value: sorted[sorted.count / 2], unit: "ms", baseline: nil),
            Figure(name: "alert_p99", value: sorted[sorted.count * 99 / 100], unit: "ms", baseline: nil),
            Figure(name: "alert_max", value: sorted[sorted.count - 1], unit: "ms", baseline: nil),
            Figure(name: "alerts", value: Double(sorted.count), unit: "alerts", baseline: nil),
            Figure(name: "producer_behind_max", value: Double(worstLagMs), unit: "ms", baseline: nil),
            Figure(
                name: "memory", value: Double(endBytes) / 1_048_576, unit: "MiB",
                baseline: Double(max(1, quarterBytes)) / 1_048_576),
        ]
    }

    private func reading(_ index: Int) -> CarReading {
        var reading = CarReading(ts: Clock.nowMs())
        reading[.speed] = Int32(index * 7_919 % 130_000)
        reading[.rpm] = 2_100_000
        reading[.maf] = 12_340
        reading[.coolant] = 88_000
        reading[.voltage] = 13_900
        return reading
    }

    private func json(_ id: VehicleID, coolant: Int) -> [UInt8] {
        let ts = Clock.nowMs()
        return Array(
            """
            {"schema":1,"kind":"reading","id":"\(id)-\(ts)","vehicle":"\(id)","model":"8R Tractor","ts":\(ts),\
            "coolant_c":\(coolant),"gps_available":true,"last_cell_call_in_ts":\(ts)}
            """.utf8)
    }

    /// Ticks and rules are on the topics, too, so the offsets say too much: what is waited for is every record's trace.
    private func waitForAll(
        _ connection: Connection, machines: Int, rubbish: Int, _ watch: inout AlertWatch
    ) throws {
        let patience = Stopwatch()
        while patience.seconds < 120 {
            try watch.look(always: true)
            let told = try connection.query(
                "SELECT coalesce(sum(records), 0)::bigint AS n FROM drover.rejected")[0].int("n")!
            if watch.latenciesMs.count == machines, told == rubbish { return }
            _ = StopFlag.wait(timeoutMs: 50)
        }
        throw Failure(
            "after 2 minutes \(watch.latenciesMs.count) of \(machines) alerts were raised, or rubbish is missing")
    }
}

/// When alerts become readable, as a reader sees it that is told of commits.
struct AlertWatch {
    /// Ids become visible in another order than they are given: what is so little older is looked at again.
    private static let overlap: Int64 = 1_000

    private let connection: Connection
    /// When each machine's readings were pushed whose alerts were not seen yet: a worker that is late may owe several.
    private var waiting: [String: [Int64]] = [:]
    private var lastID: Int64 = 0
    private var seen: Set<Int64> = []
    private(set) var latenciesMs: [Double] = []
    private var noted = 0

    init(_ connection: Connection) { self.connection = connection }

    mutating func pushed(_ vehicle: String) { waiting[vehicle, default: []].append(Clock.steadyMs()) }

    /// What changes with the length of a run shows here.
    mutating func lastMinute() -> String {
        let sorted = latenciesMs[noted...].sorted()
        noted = latenciesMs.count
        guard !sorted.isEmpty else { return "no alert" }
        return "alerts p50 \(Int(sorted[sorted.count / 2])) p99 \(Int(sorted[sorted.count * 99 / 100])) ms"
    }

    mutating func look(always: Bool = false) throws {
        guard try !connection.notifications(timeoutMs: always ? 0 : 1).isEmpty || always else { return }
        for row in try connection.query(
            "SELECT outbox_id, key FROM drover.outbox WHERE outbox_id > $1 AND topic = $2",
            [.int8(max(0, lastID - AlertWatch.overlap)), .text(Topic.alerts)])
        {
            let id = Int64(try row.int("outbox_id")!)
            lastID = max(lastID, id)
            let vehicle = try row.text("key")!
            guard seen.insert(id).inserted, let startMs = waiting[vehicle]?.first else { continue }
            waiting[vehicle]!.removeFirst()
            latenciesMs.append(Double(Clock.steadyMs() - startMs))
        }
        if seen.count > 10 * Int(AlertWatch.overlap) { seen = seen.filter { $0 > lastID - AlertWatch.overlap } }
    }
}
