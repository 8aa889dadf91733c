internal import Codecs
internal import Fleet
internal import Foundation
internal import Ingest
internal import Kafka
internal import Postgres
internal import Telemetry
internal import Worker

/// Cars at 1 Hz on one topic: once through a consumer that only counts, once through the worker into PostgreSQL, and then
/// another worker that takes over what the first one left.
package struct EngineBench {
    private let records: Int
    private let vehicles: Int
    private let stand: BenchEnvironment

    package init(records: Int, vehicles: Int, on stand: BenchEnvironment) {
        self.records = records
        self.vehicles = vehicles
        self.stand = stand
    }

    /// - Parameter brokers: nil: the embedded broker.
    package func run(brokers: String?) throws -> [Figure] { try stand.servers(brokers) { try measure($0) } }

    private func measure(_ servers: BenchServers) throws -> [Figure] {
        let produced = try produce(servers)
        let bare = try consumeBare(servers)
        OwnMemory.forgetPeak()
        let engine = try work(servers)
        let size = "\(vehicles)_vehicles"
        let taken = try takeoverTime(servers)
        let peak = Double(OwnMemory.peakBytes) / 1_048_576
        let floor = try EngineBaseline(
            records: records, kafka: servers.kafka,
            owner: servers.conninfo("drover_owner"),
            commits: max(1, Int(Double(records) / engine.perSecond / 0.2))
        ).measure()
        return [
            Figure(name: "produce", value: produced, unit: "records/s", baseline: nil),
            Figure(name: "bare_consumer", value: bare.perSecond, unit: "records/s", baseline: nil),
            Figure(name: "engine_\(size)", value: engine.perSecond, unit: "records/s", baseline: bare.perSecond),
            Figure(name: "floor_\(size)", value: floor, unit: "records/s", baseline: bare.perSecond),
            Figure(
                name: "engine_\(size)_of_floor", value: engine.perSecond, unit: "records/s", baseline: floor),
            Figure(
                name: "bare_again", value: try consumeBare(servers).perSecond, unit: "records/s",
                baseline: bare.perSecond),
            Figure(
                name: "engine_\(size)_cpu", value: engine.cpuMicroseconds, unit: "us/record",
                baseline: bare.cpuMicroseconds),
            Figure(name: "takeover_\(size)", value: taken, unit: "s", baseline: nil),
            Figure(name: "peak_memory_\(size)", value: peak, unit: "MiB", baseline: nil),
        ]
    }

    private func produce(_ servers: BenchServers) throws -> Double {
        _ = try Topics.ensure(
            servers.kafka, servers.shape)
        let importer = try Importer(servers.kafka, topic: Topic.cars)
        var walk = CarWalk(vehicles: vehicles)
        let watch = Stopwatch()
        let progress = stand.progress(records)
        for index in 0..<records {
            let (car, reading) = walk.next(everyMs: 1_000)
            try importer.push(car: car, reading, id: "b-\(index)")
            progress(index)
        }
        progress(nil)
        try importer.finish(tickMs: CarWalk.startMs)
        return Double(records) / watch.seconds
    }

    private struct Rate {
        let perSecond: Double
        let cpuMicroseconds: Double
    }

    private func rate(_ watch: Stopwatch) -> Rate {
        Rate(perSecond: Double(records) / watch.seconds, cpuMicroseconds: watch.cpuSeconds * 1e6 / Double(records))
    }

    private func consumeBare(_ servers: BenchServers) throws -> Rate {
        let consumer = try Consumer(
            servers.kafka, group: "bare", instanceID: nil, batchMax: 10_000)
        let count = try consumer.partitions(of: Topic.cars, timeoutMs: 10_000) ?? 0
        let watch = Stopwatch()
        try consumer.add(
            Dictionary(
                uniqueKeysWithValues: (0..<count).map { (TopicPartition(topic: Topic.cars, partition: $0), Int64(0)) }))
        var seen = 0
        while seen < records, watch.seconds < 120 { seen += try consumer.poll(timeoutMs: 100).count }
        guard seen >= records else {
            throw BenchFailure("the bare consumer saw \(seen) of \(records) records in 2 minutes")
        }
        return rate(watch)
    }

    /// From the first fetch on: joining the group is not part of it, as it is not for the bare consumer.
    private func work(_ servers: BenchServers) throws -> Rate {
        let worker = try servers.worker(Metrics())
        let watcher = try Connection(conninfo: servers.conninfo("drover_worker"))
        let (patience, recordsDone) = (Stopwatch(), try stand.query("records_done"))
        var (watch, lookAt, isDone) = (Stopwatch?.none, 0.0, false)
        worker.run {
            if watch == nil, worker.isReading { watch = Stopwatch() }
            guard patience.seconds >= lookAt else { return isDone }
            lookAt = patience.seconds + 0.05
            let sum = try? watcher.query(recordsDone, [.text(Topic.cars)])[0].int("done")
            isDone = (sum ?? 0) >= records || patience.seconds > 600
            return isDone
        }
        guard patience.seconds <= 600, let watch else { throw BenchFailure("the worker did not finish in 10 minutes") }
        return rate(watch)
    }

    /// How long a worker needs from its assignment until it has the state of all cars and reads on.
    private func takeoverTime(_ servers: BenchServers) throws -> Double {
        let worker = try servers.worker(Metrics())
        let patience = Stopwatch()
        worker.run { worker.isReading || patience.seconds > 120 }
        guard worker.isReading else { throw BenchFailure("nothing was taken over in 2 minutes") }
        return Double(worker.takeoverMs) / 1_000
    }
}
