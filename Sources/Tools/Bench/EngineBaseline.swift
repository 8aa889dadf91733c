internal import Codecs
internal import Dispatch
internal import Fleet
internal import Foundation
package import Kafka
internal import Postgres
internal import Telemetry

/// The least that anybody does who makes the engine's answer of the same topic into the same PostgreSQL: reads each record,
/// decodes it, and copies the minutes into a plain table with their key. Nothing is folded, no trip and no day is kept, no offset
/// moves, nothing may come late or twice. What a machine lets this reach, no engine on it can pass.
package struct EngineBaseline {
    private let records: Int
    private let kafka: KafkaSettings
    private let owner: String
    private let commits: Int

    /// - Parameters:
    ///   - owner: may make tables.
    ///   - commits: so many are made, as the engine has made.
    package init(records: Int, kafka: KafkaSettings, owner: String, commits: Int) {
        self.records = records
        self.kafka = kafka
        self.owner = owner
        self.commits = commits
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// Records a second.
    package func measure() throws -> Double {
        let connection = try Connection(conninfo: owner)
        let chunks = try minutes(connection)
        try connection.execute("CREATE TABLE drover.bench_floor (LIKE drover.vehicle_minute INCLUDING ALL)")
        defer { _ = try? connection.execute("DROP TABLE drover.bench_floor") }
        let consumer = try Consumer(kafka, group: "floor", instanceID: nil, batchMax: 10_000)
        let count = try consumer.partitions(of: Topic.cars, timeoutMs: 10_000) ?? 0

        let startMs = Clock.steadyMs()
        let storing = Storing(connection, chunks)
        let decoding = (0..<ProcessInfo.processInfo.activeProcessorCount).map { Decoding("floor-\($0)") }
        try consumer.add(
            Dictionary(
                uniqueKeysWithValues: (0..<count).map { (TopicPartition(topic: Topic.cars, partition: $0), Int64(0)) }))
        var seen = 0
        while seen < records, Clock.steadyMs() - startMs < 120_000 {
            let batches = try consumer.poll(timeoutMs: 100, into: decoding.count) { Int($0.partition) % decoding.count }
            for (batch, decoding) in zip(batches, decoding) where batch.count > 0 {
                seen += batch.count
                decoding.put(batch)
            }
        }
        let decoded = decoding.reduce(0) { $0 + $1.finish() }
        try storing.finish()
        guard decoded >= records else { throw Failure("\(decoded) of \(records) records were decoded in 2 minutes") }
        return Double(records) * 1_000 / Double(max(1, Clock.steadyMs() - startMs))
    }

    /// The engine's rows as they are sent to `COPY`, in as many parts as there are commits.
    private func minutes(_ connection: Connection) throws -> [[UInt8]] {
        var rows: [[UInt8]] = []
        try unsafe connection.copyOut(
            "COPY (SELECT * FROM drover.vehicle_minute ORDER BY minute_at, vehicle) TO STDOUT (FORMAT binary)"
        ) { row in unsafe rows.append(Array(row)) }
        // The header stands before the first row, and the trailer is a row without columns (manual, COPY).
        guard rows.count > 1 else { throw Failure("the engine has written no minute") }
        rows.removeLast()
        rows[0].removeFirst(19)
        let size = max(1, (rows.count + commits - 1) / commits)
        return stride(from: 0, to: rows.count, by: size).map { Array(rows[$0..<min($0 + size, rows.count)].joined()) }
    }

    /// Copies the parts, each in a transaction of its own, beside the decoding.
    private final class Storing: @unchecked Sendable {
        // Used by the thread, and after its end.
        private var failure: (any Error)?
        private let ended = DispatchSemaphore(value: 0)

        init(_ connection: Connection, _ chunks: [[UInt8]]) {
            nonisolated(unsafe) let connection = connection
            DispatchQueue(label: "floor-store").async {
                do {
                    for chunk in chunks {
                        try unsafe connection.copyIn(
                            "COPY drover.bench_floor FROM STDIN (FORMAT binary)", fragments: [chunk])
                    }
                } catch { self.failure = error }
                self.ended.signal()
            }
        }

        func finish() throws {
            ended.wait()
            if let failure { throw failure }
        }
    }

    /// Decodes what it is given in its order.
    private final class Decoding: @unchecked Sendable {
        // Used on the queue only.
        private let decoder = RecordDecoder()
        private var decoded = 0
        private let queue: DispatchQueue
        /// Batches that wait pin much memory.
        private let room = DispatchSemaphore(value: 16)

        init(_ name: String) { queue = DispatchQueue(label: name) }

        func put(_ batch: MessageBatch) {
            room.wait()
            queue.async {
                self.decode(batch)
                self.room.signal()
            }
        }

        private func decode(_ batch: MessageBatch) {
            var reading = CarReading(ts: 0)
            for index in 0..<batch.count {
                let isDecoded = unsafe batch.withBytes(index) { key, value in
                    unsafe value.map { (try? unsafe decoder.decodeCar($0, key: key, into: &reading)) != nil } ?? false
                }
                if isDecoded { decoded += 1 }
            }
        }

        func finish() -> Int { queue.sync { decoded } }
    }
}
