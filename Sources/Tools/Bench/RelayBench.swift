internal import Codecs
internal import Delivery
internal import Fleet
internal import Formats
internal import Foundation
internal import Gateways
internal import Ingest
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Telemetry

/// Commits one by one, each timed from the commit until its record is read back from the topic; and a large backlog.
/// The baseline is the same way without database and relay: produced and read back.
package struct RelayBench {
    private static let backlogRows = 50_000
    private static let topic = Publication.alerts.topic
    private let commits: Int
    private let stand: BenchEnvironment

    package init(commits: Int, on stand: BenchEnvironment) {
        self.commits = commits
        self.stand = stand
    }

    package func run() throws -> [Figure] { try stand.servers(nil) { try measure($0) } }

    private func measure(_ servers: BenchServers) throws -> [Figure] {
        _ = try Topics.ensure(servers.kafka, TopicShape(partitions: 1, replication: 1))

        let readBack = try ReadBack(servers, topic: RelayBench.topic)
        let bare = try timeBare(servers, readBack)
        let relay = try servers.relay()
        let stop = stand.beside("relay") { shouldStop in relay.run(shouldStop: shouldStop) }
        defer { stop() }
        let writer = try Connection(conninfo: servers.conninfo("drover_worker"))
        let commits = try timeCommits(writer, readBack)
        let perSecond = try timeBacklog(writer, readBack)
        return [
            Figure(name: "relay_latency_p50", value: commits.quantile(50), unit: "ms", baseline: bare.quantile(50)),
            Figure(name: "relay_latency_p99", value: commits.quantile(99), unit: "ms", baseline: bare.quantile(99)),
            Figure(name: "relay_latency_max", value: commits.last!, unit: "ms", baseline: bare.last!),
            Figure(name: "relay_backlog", value: perSecond, unit: "records/s", baseline: nil),
        ]
    }

    private func record(_ number: Int) -> OutboxRecord {
        OutboxRecord(
            .alerts, key: "machine-\(number % 100)", recordID: "bench-\(number)", kind: "alert",
            fields: [
                ("machine", .text("machine-\(number % 100)")), ("parameter", .text("engine_coolant_temp")),
                ("state", .text("opened")), ("opened_ts", .integer(1_790_000_000_000)), ("value", .number("104.5")),
            ])
    }

    private func timeCommits(_ writer: Connection, _ readBack: ReadBack) throws -> [Double] {
        // The first ones find cold caches and a relay that is still connecting.
        try (0..<commits + 20).map { number in
            try writer.transaction { try OutboxStore.write([record(number)], on: writer) }
            let committed = ContinuousClock.now
            try readBack.one()
            return RelayBench.ms(ContinuousClock.now - committed)
        }.dropFirst(20).sorted()
    }

    private func timeBare(_ servers: BenchServers, _ readBack: ReadBack) throws -> [Double] {
        let producer = try Producer(servers.kafka, Producer.Tuning(lingerMs: 0))
        let value = [UInt8](repeating: 0x61, count: 200)
        return try (0..<commits + 20).map { _ in
            let began = ContinuousClock.now
            try producer.produce(topic: RelayBench.topic, partition: 0, key: [1], value: value, timestampMs: nil)
            try readBack.one()
            return RelayBench.ms(ContinuousClock.now - began)
        }.dropFirst(20).sorted()
    }

    private func timeBacklog(_ writer: Connection, _ readBack: ReadBack) throws -> Double {
        try writer.transaction {
            for start in stride(from: 0, to: RelayBench.backlogRows, by: 5_000) {
                try OutboxStore.write((start..<start + 5_000).map(record), on: writer)
            }
        }
        let watch = Stopwatch()
        try readBack.records(RelayBench.backlogRows)
        return Double(RelayBench.backlogRows) / watch.seconds
    }

    private static func ms(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}

extension [Double] {
    /// Precondition: sorted, not empty.
    fileprivate func quantile(_ percent: Int) -> Double { self[Swift.min(count - 1, count * percent / 100)] }
}

/// Reads a topic's only partition from its end on.
private struct ReadBack {
    private let consumer: Consumer

    init(_ servers: BenchServers, topic: String) throws {
        consumer = try Consumer(
            servers.kafka, group: "readback", instanceID: nil, batchMax: 1_000)
        let partition = TopicPartition(topic: topic, partition: 0)
        try consumer.add([partition: consumer.watermarks(of: partition, timeoutMs: 10_000).high])
    }

    func one() throws { try records(1) }

    func records(_ wanted: Int) throws {
        let watch = Stopwatch()
        var seen = 0
        while seen < wanted {
            guard watch.seconds < 60 else { throw BenchFailure("\(seen) of \(wanted) records came back in a minute") }
            seen += try consumer.poll(timeoutMs: 100).count
        }
    }
}
