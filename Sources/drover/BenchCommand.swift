import Alerts
import Embedded
import Fleet
import Foundation
import Gateways
import Kafka
import Observe
import Postgres
import Reports
import Settings
import Storage
import Wire
import Worker

/// `drover bench worker`: how fast records go through the whole worker, beside a bare consumer in the same run.
extension Command {
    static let bench = Command(
        name: "bench", operands: "worker|all [options]",
        summary: "Measures on servers of its own in a temporary folder. Build in release first.",
        options: [
            .init("--records", "N", "how many records (default 400000)"),
            .init("--format", "F", "table or json (default table)"),
        ] + SettingsSource.options,
        example: "drover bench worker --format json",
        run: { arguments in
            guard arguments.operands == ["worker"] || arguments.operands == ["all"] else {
                throw UsageError("name one bench: worker")
            }
            let records = Int(try arguments.integer("--records", in: 1_000...5_000_000) ?? 400_000)
            let format = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            let figures = try WorkerBench(records: records).run(arguments)
            Out.result(
                format ? JSONValue.list(figures.map(\.json)).rendered(indent: true) : Figure.table(figures).text())
            return .done
        })
}

struct Figure {
    let name: String
    let value: Double
    let unit: String
    /// What the same run reached at the limit that `value` is held against.
    let baseline: Double?

    var json: JSONValue {
        .object([
            ("name", .text(name)), ("value", .number(text(value))), ("unit", .text(unit)),
            ("baseline", .number(baseline.map(text))),
            ("ratio", .number(baseline.map { text(value / $0) })),
        ])
    }

    private func text(_ value: Double) -> String { Decimal.text(Decimal.scaled(value, decimals: 3) ?? 0, decimals: 3) }

    static func table(_ figures: [Figure]) -> Table {
        var table = Table(["name", "value", "unit", "baseline", "ratio"])
        table.rows = figures.map {
            [
                $0.name, $0.text($0.value), $0.unit, $0.baseline.map($0.text),
                $0.baseline.map { [f = $0] in f.text(f.value / $0) },
            ]
        }
        return table
    }
}

/// 1,000 cars at 1 Hz on one topic: once through a consumer that only counts, once through the worker into PostgreSQL.
struct WorkerBench {
    private static let vehicles = 1_000
    let records: Int

    func run(_ arguments: Arguments) throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "drover-bench-\(getpid())").path
        // A leftover in the temporary folder hurts nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let embedded = try EmbeddedServers.start(EmbeddedSettings(dataDirectory: folder, log: { Out.note($0) }))
        defer { embedded.stop() }
        let settings = try SettingsSource.load(
            arguments,
            overrides: ["kafka.brokers": embedded.brokers, "postgres.url": embedded.conninfo(user: "drover_worker")])
        _ = try Command.migrate(embedded.conninfo(user: "drover_owner"))
        try embedded.grantRoles()

        let produced = try produce(settings)
        let bare = try consumeBare(settings)
        let worker = try work(settings)
        return [
            Figure(name: "produce", value: produced, unit: "records/s", baseline: nil),
            Figure(name: "bare_consumer", value: bare.perSecond, unit: "records/s", baseline: nil),
            Figure(name: "worker", value: worker.perSecond, unit: "records/s", baseline: bare.perSecond),
            Figure(
                name: "worker_cpu", value: worker.cpuMicroseconds, unit: "us/record", baseline: bare.cpuMicroseconds),
        ]
    }

    /// A walk of speeds, seeded by the vehicle's number: the same records in every run.
    private func produce(_ settings: Settings) throws -> Double {
        _ = try Topics.ensure(
            settings.kafka(clientID: "drover-bench"), partitions: Int32(settings.integer("kafka.partitions")))
        let importer = try Importer(settings.kafka(clientID: "drover-bench"), topic: Topic.cars)
        let cars = (0..<WorkerBench.vehicles).map { VehicleID("car-\($0)")! }
        var speeds = cars.indices.map { Int32($0 % 90) * 1_000 }
        var state: UInt64 = 42
        let watch = Stopwatch()
        for index in 0..<records {
            let (second, number) = (index / cars.count, index % cars.count)
            // Numerical Recipes' 64-bit linear congruential generator: repeatable is all that is asked.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            speeds[number] = min(130_000, max(0, speeds[number] + Int32(state >> 33 & 8_191) - 4_095))
            var reading = CarReading(ts: 1_767_225_600_000 + Int64(second) * 1_000)
            reading[.speed] = speeds[number]
            reading[.rpm] = 800_000 + speeds[number] * 25
            reading[.maf] = 2_000 + speeds[number] / 4
            reading[.coolant] = 88_000
            reading[.voltage] = 13_900
            try importer.push(car: cars[number], reading, id: "b-\(index)")
        }
        try importer.finish(tickMs: Clock.nowMs())
        return Double(records) / watch.seconds
    }

    private struct Rate {
        let perSecond: Double
        let cpuMicroseconds: Double
    }

    private func rate(_ watch: Stopwatch) -> Rate {
        Rate(perSecond: Double(records) / watch.seconds, cpuMicroseconds: watch.cpuSeconds * 1e6 / Double(records))
    }

    private func consumeBare(_ settings: Settings) throws -> Rate {
        let consumer = try Consumer(
            settings.kafka(clientID: "drover-bench"), group: "bare", instanceID: nil, batchMax: 20_000)
        let count = try consumer.partitions(of: Topic.cars, timeoutMs: 10_000) ?? 0
        let watch = Stopwatch()
        try consumer.start(
            Dictionary(
                uniqueKeysWithValues: (0..<count).map { (TopicPartition(topic: Topic.cars, partition: $0), Int64(0)) }))
        var seen = 0
        while seen < records, watch.seconds < 120 { seen += try consumer.poll(timeoutMs: 100).count }
        guard seen >= records else { throw Failure("the bare consumer saw \(seen) of \(records) records in 2 minutes") }
        return rate(watch)
    }

    private func work(_ settings: Settings) throws -> Rate {
        let worker = try Roles.worker(settings, instanceID: "bench", log: Log(level: .warning))
        let watcher = try Connection(conninfo: settings.text("postgres.url"))
        let watch = Stopwatch()
        var (lookAt, isDone) = (0.0, false)
        worker.run {
            guard watch.seconds >= lookAt else { return isDone }
            lookAt = watch.seconds + 0.05
            let sum = try? watcher.query(
                "SELECT coalesce(sum(next_offset), 0)::bigint AS done FROM drover.partition_progress WHERE topic = $1",
                [.text(Topic.cars)])[0].int("done")
            isDone = (sum ?? 0) >= records || watch.seconds > 300
            return isDone
        }
        guard watch.seconds <= 300 else { throw Failure("the worker did not finish in 5 minutes") }
        return rate(watch)
    }
}

/// Wall and CPU time of this process since it was made.
struct Stopwatch {
    private let startMs = Clock.steadyMs()
    private let startCPU = Stopwatch.cpu()

    var seconds: Double { Double(max(1, Clock.steadyMs() - startMs)) / 1_000 }
    var cpuSeconds: Double { Stopwatch.cpu() - startCPU }

    private static func cpu() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
