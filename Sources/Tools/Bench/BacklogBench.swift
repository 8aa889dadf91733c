internal import Codecs
internal import Fleet
internal import Foundation
internal import Ingest
internal import Kafka
internal import Postgres
internal import Storage
internal import Telemetry
internal import Worker

/// One machine's backlog, hot all along, in three orders, beside others that report as ever: how long until all of it is
/// written and judged, and how soon the others' alerts can be read meanwhile.
package struct BacklogBench {
    /// Readings a minute apart.
    private let count: Int
    /// Readings of the backlog a second.
    private let rate: Int
    private let orders: [Order]
    private let stand: BenchEnvironment

    package init(count: Int, rate: Int, orders: [Order], on stand: BenchEnvironment) {
        self.count = count
        self.rate = rate
        self.orders = orders
        self.stand = stand
    }

    package enum Order: String, CaseIterable {
        case inOrder = "in_order"
        case newestFirst = "newest_first"
        case scattered

        func indices(_ count: Int) -> [Int] {
            switch self {
            case .inOrder: return Array((0..<count).reversed())
            case .newestFirst: return Array(0..<count)
            // A prime step, larger than any backlog, comes by each place once.
            case .scattered: return (0..<count).map { $0 * 982_451_653 % count }
            }
        }
    }

    /// Each at 1 Hz, hot and cool in turn for ten seconds.
    private static let others = 500
    private static let turnMs: Int64 = 10_000
    private static let tickMs: Int64 = 5_000

    package func run() throws -> [Figure] {
        var figures: [Figure] = []
        var inOrderSeconds: Double?
        for order in orders {
            let metrics = Metrics()
            let (seconds, watch) = try timed(order, metrics)
            let sorted = watch.sorted()
            let found = [
                Figure(name: "\(order.rawValue)_until_judged", value: seconds, unit: "s", baseline: inOrderSeconds),
                Figure(
                    name: "\(order.rawValue)_others_alert_p50", value: sorted[sorted.count / 2], unit: "ms",
                    baseline: nil),
                Figure(
                    name: "\(order.rawValue)_others_alert_p99", value: sorted[sorted.count * 99 / 100], unit: "ms",
                    baseline: nil),
                Figure(
                    name: "\(order.rawValue)_others_alert_max", value: sorted[sorted.count - 1], unit: "ms",
                    baseline: nil),
                Figure(
                    name: "\(order.rawValue)_commits_within_1s", value: BacklogBench.percentWithinSecond(metrics),
                    unit: "%", baseline: nil),
            ]
            // An order may take many minutes: what it took is said when it is over.
            for figure in found { stand.note(figure.line) }
            figures += found
            inOrderSeconds = inOrderSeconds ?? seconds
        }
        return figures
    }

    private func timed(_ order: Order, _ metrics: Metrics) throws -> (seconds: Double, latenciesMs: [Double]) {
        var found: (Double, [Double]) = (0, [])
        _ = try stand.servers(nil) { servers in
            found = try measure(order, servers, metrics)
            return []
        }
        return found
    }

    /// The percentage of commits that took less than a second, by the worker's own figures: 99 or more is a p99 under a second.
    private static func percentWithinSecond(_ metrics: Metrics) -> Double {
        let lines = metrics.text().split(separator: "\n")
        func count(_ label: String) -> Double {
            let line = lines.first { $0.hasPrefix("drover_commit_seconds_bucket") && $0.contains("le=\"\(label)\"") }
            return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        return count("1.0") / max(1, count("+Inf")) * 100
    }

    private func measure(_ order: Order, _ servers: BenchServers, _ metrics: Metrics) throws -> (Double, [Double]) {
        let connection = try Connection(conninfo: servers.conninfo("drover_worker"))
        let worker = try servers.worker(metrics)
        let stop = stand.beside("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { stop() }
        try LoadBench.waitForRules(connection, stand)
        let listener = try Connection(conninfo: servers.conninfo("drover_notify"))
        try listener.listen(to: "drover_outbox")
        let machines = try Importer(servers.kafka, topic: Topic.machines)
        try machines.finish(tickMs: Clock.nowMs())
        return try push(order, machines, connection, listener)
    }

    private func push(
        _ order: Order, _ machines: Importer, _ connection: Connection, _ listener: Connection
    ) throws -> (Double, [Double]) {
        var watch = try AlertLatency(listener, stand)
        let (backlog, ids) = (
            VehicleID("backlog")!, (0..<BacklogBench.others).map { VehicleID("other-\($0)")! }
        )
        let indices = order.indices(count)
        // The newest one comes first: with the backlog it is never in order.
        let baseMs = Clock.nowMs() / 60_000 * 60_000 - 3_600_000
        let (startMs, watchStopwatch) = (Clock.steadyMs(), Stopwatch())
        var (pushed, others, ticks, looks): (Int, Int, Int64, Int64) = (0, 0, 0, 0)
        while true {
            let elapsedMs = Clock.steadyMs() - startMs
            let due = min(count, Int(elapsedMs) * rate / 1_000)
            for index in pushed..<min(due, pushed + rate / 20) {
                let ts = baseMs - Int64(indices[index]) * 60_000
                try machines.push(machine: backlog, json: BacklogBench.json(backlog, ts, coolant: 99))
                pushed += 1
            }
            let othersDue = Int(elapsedMs) * BacklogBench.others / 1_000
            for number in others..<min(othersDue, others + BacklogBench.others) {
                let (turn, id) = (number / BacklogBench.others, ids[number % BacklogBench.others])
                let isHot = (turn + number % 10) / 10 % 2 == 0
                let wasHot = turn > 0 && (turn - 1 + number % 10) / 10 % 2 == 0
                if isHot != wasHot { watch.pushed(id.text) }
                try machines.push(
                    machine: id, json: BacklogBench.json(id, Clock.nowMs(), coolant: isHot ? 99 : 70))
                others += 1
            }
            if elapsedMs / BacklogBench.tickMs > ticks {
                ticks = elapsedMs / BacklogBench.tickMs
                try machines.finish(tickMs: Clock.nowMs())
            }
            try watch.look()
            guard pushed == count, elapsedMs / 1_000 > looks else { continue }
            looks = elapsedMs / 1_000
            let row = try connection.query(stand.query("backlog"), [.text(backlog.text)])[0]
            if try row.int("written")! == count, try !row.bool("is_waiting")! {
                return (watchStopwatch.seconds, watch.latenciesMs)
            }
            guard watchStopwatch.seconds < 7_200, !StopFlag.isSet else {
                throw BenchFailure("\(order.rawValue): after \(Int(watchStopwatch.seconds)) s it is not judged")
            }
        }
    }

    private static func json(_ id: VehicleID, _ ts: Int64, coolant: Int) -> [UInt8] {
        Array(
            """
            {"schema":1,"kind":"reading","id":"\(id)-\(ts)","vehicle":"\(id)","model":"8R Tractor","ts":\(ts),\
            "coolant_c":\(coolant),"gps_available":true,"last_cell_call_in_ts":\(ts)}
            """.utf8)
    }
}
