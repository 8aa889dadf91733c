internal import Codecs
internal import Fleet
internal import Foundation
internal import Ingest
internal import Kafka
internal import Postgres
internal import Telemetry
internal import Worker

/// The cost of a vehicle, for fleets of growing size: processor time of worker and database a record, memory a vehicle,
/// rows, disk and log of the database a minute. What a million vehicles at 1 Hz need follows from these (docs/scale.md).
///
/// Small fleets report once a second. Of large ones as many readings as two cores bear: they report more seldom, so that
/// each vehicle still fills a minute.
package struct ScaleBench {
    private let sizes: [Int]
    /// Shares of the records in thousandths: held back until all others are pushed; that nobody can decode.
    private let lateThousandths, badThousandths: Int
    private let stand: BenchEnvironment

    package init(sizes: [Int], lateThousandths: Int, badThousandths: Int, on stand: BenchEnvironment) {
        self.sizes = sizes
        self.lateThousandths = lateThousandths
        self.badThousandths = badThousandths
        self.stand = stand
    }

    package func run() throws -> [Figure] {
        try sizes.flatMap { size in
            stand.note("\(size) vehicles …")
            return try OneSize(vehicles: size, bench: self).run()
        }
    }

    private struct OneSize {
        let vehicles: Int
        let bench: ScaleBench
        var records: Int { max(1_000_000, vehicles * 3) }
        /// The interval of one vehicle's readings: they span a minute or more.
        var everyMs: Int64 { Int64(max(1, 60 * vehicles / records)) * 1_000 }

        func run() throws -> [Figure] { try bench.stand.servers(nil) { try measure($0) } }

        private func measure(_ servers: BenchServers) throws -> [Figure] {
            let pushed = try push(servers)
            let database = try Connection(conninfo: servers.conninfo("drover_owner"))
            let (logBefore, cpuBefore) = (try logBytes(database), Children.cpuSeconds(below: servers.folder))
            OwnMemory.forgetPeak()
            let before = OwnMemory.bytes
            let spent = try work(servers, database, until: pushed)
            let (logAfter, cpuAfter) = (try logBytes(database), Children.cpuSeconds(below: servers.folder))
            let row = try database.query(bench.stand.query("minutes"))[0]
            let minutes = Double(max(1, try row.int("minutes")!))
            let count = Double(records)
            func figure(_ name: String, _ value: Double, _ unit: String, _ baseline: Double? = nil) -> Figure {
                Figure(name: "scale_\(vehicles)_\(name)", value: value, unit: unit, baseline: baseline)
            }
            return [
                figure("records", count / spent.seconds, "records/s"),
                figure("every", Double(everyMs) / 1_000, "s"),
                figure("worker_cpu", spent.cpuSeconds * 1e6 / count, "us/record"),
                figure("database_cpu", (cpuAfter - cpuBefore) * 1e6 / count, "us/record"),
                figure("database_cpu_of_minute", (cpuAfter - cpuBefore) * 1e6 / minutes, "us/minute"),
                figure("memory", Double(max(0, OwnMemory.peakBytes - before)) / Double(vehicles), "B/vehicle"),
                figure("record", pushed.bytesOfRecord, "B"),
                figure("minute", Double(try row.int("bytes")!) / minutes, "B/minute"),
                figure("readings_of_minute", count * (1 - pushed.rejectedShare) / minutes, "readings/minute"),
                figure("log", Double(logAfter - logBefore) / minutes, "B/minute"),
                figure("rejected", Double(try row.int("rejected")!), "records", Double(pushed.rejected)),
            ]
        }

        private struct Pushed {
            let records, rejected: Int
            let bytesOfRecord: Double
            var rejectedShare: Double { Double(rejected) / Double(records) }
        }

        private func push(_ servers: BenchServers) throws -> Pushed {
            _ = try Topics.ensure(servers.kafka, servers.shape)
            let importer = try Importer(servers.kafka, topic: Topic.cars)
            var walk = CarWalk(vehicles: vehicles)
            var late: [(VehicleID, CarReading, Int)] = []
            var (rejected, bytes) = (0, 0)
            let progress = bench.stand.progress(records)
            for index in 0..<records {
                let (car, reading) = walk.next(everyMs: everyMs)
                // Spread over vehicles and time, the same in every run.
                let chance = Int(UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15 >> 40) % 1_000
                if chance < bench.badThousandths {
                    try importer.push(garbled: car)
                    rejected += 1
                } else if chance < bench.badThousandths + bench.lateThousandths {
                    late.append((car, reading, index))
                } else {
                    try importer.push(car: car, reading, id: "s-\(index)")
                }
                bytes += car.text.utf8.count + RecordWriter.car(car, reading, id: "s-\(index)").count
                progress(index)
            }
            for (car, reading, index) in late.reversed() { try importer.push(car: car, reading, id: "s-\(index)") }
            progress(nil)
            try importer.finish(tickMs: CarWalk.startMs)
            return Pushed(records: records, rejected: rejected, bytesOfRecord: Double(bytes) / Double(records))
        }

        /// Until each partition is done to its end, its tick with it.
        private func work(
            _ servers: BenchServers, _ database: Connection, until pushed: Pushed
        ) throws -> (seconds: Double, cpuSeconds: Double) {
            let worker = try servers.worker(Metrics())
            let (patience, recordsDone) = (Stopwatch(), try bench.stand.query("records_done"))
            var (watch, lookAt, isDone) = (Stopwatch?.none, 0.0, false)
            worker.run {
                if watch == nil, worker.isReading { watch = Stopwatch() }
                guard patience.seconds >= lookAt else { return isDone }
                lookAt = patience.seconds + 0.1
                let done = try? database.query(recordsDone, [.text(Topic.cars)])[0].int("done")
                isDone = (done ?? 0) >= pushed.records || patience.seconds > 900
                return isDone
            }
            guard patience.seconds <= 900, let watch else {
                throw BenchFailure("the worker did not finish in 15 minutes")
            }
            return (watch.seconds, watch.cpuSeconds)
        }

        private func logBytes(_ database: Connection) throws -> Int {
            try database.query(bench.stand.query("log_bytes"))[0].int("bytes")!
        }
    }
}

/// Processor time of the embedded PostgreSQL: its own, that of its sessions, and of those that have ended.
private enum Children {
    static func cpuSeconds(below folder: String) -> Double {
        guard let text = try? String(contentsOfFile: folder + "/postgres/postmaster.pid", encoding: .utf8),
            let main = text.split(separator: "\n").first.flatMap({ Int($0) })
        else { return 0 }
        var ticks = 0
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = Int(name),
                let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                let end = stat.lastIndex(of: ")")
            else { continue }
            // proc(5): what follows the name is state, parent, …, utime, stime, cutime, cstime as the 14th to 17th of all.
            let fields = stat[end...].dropFirst(2).split(separator: " ")
            guard fields.count > 14, process == main || Int(fields[1]) == main else { continue }
            let own = (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
            ticks += own + (process == main ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0)
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
