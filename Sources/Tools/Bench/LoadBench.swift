internal import Alerts
internal import Codecs
internal import Fleet
internal import Foundation
internal import Ingest
internal import Kafka
internal import Postgres
internal import Storage
internal import Telemetry
internal import Worker

/// A steady load for a while: cars at 1 Hz, one record in a hundred rubbish, and machines whose coolant is too hot. How
/// long from the push of a hot reading until its alert can be read, and what memory does.
package struct LoadBench {
    private let rate: Int
    private let seconds: Int
    private let stand: BenchEnvironment

    package init(rate: Int, seconds: Int, on stand: BenchEnvironment) {
        self.rate = rate
        self.seconds = seconds
        self.stand = stand
    }

    /// A machine reports this often.
    private static let machineMs: Int64 = 50
    /// In turn hot and cool: each reading opens or ends an alert.
    private static let machines = 400

    /// - Parameter brokers: nil: the embedded broker.
    package func run(brokers: String?) throws -> [Figure] { try stand.servers(brokers) { try measure($0) } }

    private func measure(_ servers: BenchServers) throws -> [Figure] {
        let connection = try Connection(conninfo: servers.conninfo("drover_worker"))
        let worker = try servers.worker(Metrics())
        let stop = stand.beside("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { stop() }
        try LoadBench.waitForRules(connection, stand)
        // Alerts are read where the relay reads them, with its rights.
        let listener = try Connection(conninfo: servers.conninfo("drover_notify"))
        return try load(servers, connection, listener)
    }

    /// Machines are judged once every partition has its rules. How many there are is the broker's to say.
    static func waitForRules(_ connection: Connection, _ stand: BenchEnvironment) throws {
        let lacking = try stand.query("rules_lacking")
        let patience = Stopwatch()
        while try connection.query(lacking, [.text(Topic.machines)])[0].bool("lacks") ?? true {
            guard patience.seconds < 60 else { throw BenchFailure("the worker did not begin in a minute") }
            _ = StopFlag.wait(timeoutMs: 100)
        }
    }

    private func load(
        _ servers: BenchServers, _ connection: Connection, _ listener: Connection
    ) throws -> [Figure] {
        let (cars, machines) = (
            try Importer(servers.kafka, topic: Topic.cars), try Importer(servers.kafka, topic: Topic.machines)
        )
        let ids = (0..<rate).map { VehicleID("car-\($0)")! }
        try listener.listen(to: "drover_outbox")
        // A producer's first record waits a second for its id at the broker.
        for importer in [cars, machines] { try importer.finish(tickMs: Clock.nowMs()) }
        var watch = try AlertLatency(listener, stand)
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
                stand.note(
                    "\(elapsedMs / 1_000) s, \(pushed) records, \(OwnMemory.bytes / 1_048_576) MiB, "
                        + watch.lastMinute())
            }
        }
        let elapsed = Double(Clock.steadyMs() - startMs) / 1_000
        let endBytes = OwnMemory.bytes
        try cars.finish(tickMs: Clock.nowMs())
        try machines.finish(tickMs: Clock.nowMs())
        try waitForAll(connection, machines: machine, rubbish: rubbish, &watch)
        return LoadBench.figures(
            perSecond: Double(pushed) / elapsed, watch.latenciesMs.sorted(), behindMs: worstLagMs,
            bytes: endBytes, quarterBytes: quarterBytes)
    }

    /// - Parameter sorted: how long alerts took, ms.
    private static func figures(
        perSecond: Double, _ sorted: [Double], behindMs: Int64, bytes: Int, quarterBytes: Int
    ) -> [Figure] {
        [
            Figure(name: "load", value: perSecond, unit: "records/s", baseline: nil),
            Figure(name: "alert_p50", value: sorted[sorted.count / 2], unit: "ms", baseline: nil),
            Figure(name: "alert_p99", value: sorted[sorted.count * 99 / 100], unit: "ms", baseline: nil),
            Figure(name: "alert_max", value: sorted[sorted.count - 1], unit: "ms", baseline: nil),
            Figure(name: "alerts", value: Double(sorted.count), unit: "alerts", baseline: nil),
            Figure(name: "producer_behind_max", value: Double(behindMs), unit: "ms", baseline: nil),
            Figure(
                name: "memory", value: Double(bytes) / 1_048_576, unit: "MiB",
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
        _ connection: Connection, machines: Int, rubbish: Int, _ watch: inout AlertLatency
    ) throws {
        let (patience, rejected) = (Stopwatch(), try stand.query("rejected"))
        while patience.seconds < 120 {
            try watch.look(always: true)
            let told = try connection.query(rejected)[0].int("n")!
            if watch.latenciesMs.count == machines, told == rubbish { return }
            _ = StopFlag.wait(timeoutMs: 50)
        }
        throw BenchFailure(
            "after 2 minutes \(watch.latenciesMs.count) of \(machines) alerts were raised, or rubbish is missing")
    }
}

/// When alerts become readable, as a reader sees it that is told of commits.
struct AlertLatency {
    /// Ids become visible in another order than they are given: what is so little older is looked at again.
    private static let overlap: Int64 = 1_000

    private let connection: Connection
    private let outbox: String
    /// When each machine's readings were pushed whose alerts were not seen yet: a worker that is late may owe several.
    private var waiting: [String: [Int64]] = [:]
    private var lastID: Int64 = 0
    private var seen: Set<Int64> = []
    private(set) var latenciesMs: [Double] = []
    private var noted = 0

    init(_ connection: Connection, _ stand: BenchEnvironment) throws {
        self.connection = connection
        outbox = try stand.query("outbox")
    }

    mutating func pushed(_ vehicle: String) { waiting[vehicle, default: []].append(Clock.steadyMs()) }

    /// Figures of the last minute: changes with the length of a run show here.
    mutating func lastMinute() -> String {
        let sorted = latenciesMs[noted...].sorted()
        noted = latenciesMs.count
        guard !sorted.isEmpty else { return "no alert" }
        return "alerts p50 \(Int(sorted[sorted.count / 2])) p99 \(Int(sorted[sorted.count * 99 / 100])) ms"
    }

    mutating func look(always: Bool = false) throws {
        guard try !connection.notifications(timeoutMs: always ? 0 : 1).isEmpty || always else { return }
        for row in try connection.query(
            outbox, [.int8(max(0, lastID - AlertLatency.overlap)), .text(Topic.alerts)])
        {
            let id = Int64(try row.int("outbox_id")!)
            lastID = max(lastID, id)
            let vehicle = try row.text("key")!
            guard seen.insert(id).inserted, let startMs = waiting[vehicle]?.first else { continue }
            waiting[vehicle]!.removeFirst()
            latenciesMs.append(Double(Clock.steadyMs() - startMs))
        }
        if seen.count > 10 * Int(AlertLatency.overlap) { seen = seen.filter { $0 > lastID - AlertLatency.overlap } }
    }
}
