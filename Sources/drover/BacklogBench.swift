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

/// One machine's backlog, hot all along, in three orders, beside others that report as ever: how long until all of it is
/// written and judged, and how soon the others' alerts can be read meanwhile.
struct BacklogBench {
    /// Readings a minute apart.
    let count: Int
    /// Readings of the backlog a second.
    let rate: Int
    let orders: [Order]

    enum Order: String, CaseIterable {
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

    static func orders(_ arguments: Arguments) throws -> [Order] {
        guard let text = arguments.text("--order") else { return Order.allCases }
        guard let order = Order(rawValue: text) else {
            let known = Order.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--order \(text): unknown. It is one of \(known)")
        }
        return [order]
    }

    /// Each at 1 Hz, hot and cool in turn for ten seconds.
    private static let others = 500
    private static let turnMs: Int64 = 10_000
    private static let tickMs: Int64 = 5_000

    func run(_ arguments: Arguments) throws -> [Figure] {
        var figures: [Figure] = []
        var inOrderSeconds: Double?
        for order in orders {
            let (seconds, watch) = try BenchServers.with(arguments) { try measure(order, $0) }
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
            ]
            // An order may take many minutes: what it took is said when it is over.
            for figure in found { Out.note(figure.line) }
            figures += found
            inOrderSeconds = inOrderSeconds ?? seconds
        }
        return figures
    }

    private func measure(_ order: Order, _ servers: BenchServers) throws -> (Double, [Double]) {
        let settings = servers.settings
        let connection = try Connection(conninfo: settings.text("postgres.url"))
        let worker = try Roles.worker(settings, instanceID: "bench", log: Log(level: .warning))
        let running = RunningRole("worker") { shouldStop in worker.run(shouldStop: shouldStop) }
        defer { running.stop() }
        try LoadBench.waitForRules(connection)
        let listener = try Connection(conninfo: servers.embedded.conninfo(user: "drover_notify"))
        try listener.execute("LISTEN drover_outbox")
        let machines = try Importer(try settings.kafka(clientID: "drover-bench"), topic: Topic.machines)
        try machines.finish(tickMs: Clock.nowMs())
        return try push(order, machines, connection, listener)
    }

    private func push(
        _ order: Order, _ machines: Importer, _ connection: Connection, _ listener: Connection
    ) throws -> (Double, [Double]) {
        var watch = AlertWatch(listener)
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
            let row = try connection.query(
                """
                SELECT (SELECT count(*) FROM drover.machine_reading WHERE vehicle = $1) AS written,
                    EXISTS (SELECT FROM drover.machine_rejudging WHERE vehicle = $1) AS is_waiting
                """, [.text(backlog.text)])[0]
            if try row.int("written")! == count, try !row.bool("is_waiting")! {
                return (watchStopwatch.seconds, watch.latenciesMs)
            }
            guard watchStopwatch.seconds < 7_200, !StopFlag.isSet else {
                throw Failure("\(order.rawValue): after \(Int(watchStopwatch.seconds)) s it is not judged")
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
