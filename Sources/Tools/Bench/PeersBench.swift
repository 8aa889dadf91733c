internal import Foundation

/// The job of `Deploy/bench/peers` on other engines and on ours, on one broker and one database, each answer checked row
/// by row; ours once more, killed when half is done.
package struct PeersBench {
    private let stand: BenchEnvironment
    package init(on stand: BenchEnvironment) { self.stand = stand }

    /// Why it cannot run here; nil: it can.
    package var lacks: String? {
        guard let home = try? stand.home() else { return "the project's folder is not found" }
        guard FileManager.default.fileExists(atPath: home + "/../shared/peers") else {
            return "../shared/peers, which holds the other engines' jobs, is not here"
        }
        guard FileManager.default.isExecutableFile(atPath: home + "/.build/release/peer-job") else {
            return "ours is not built: swift build -c release --product peer-job"
        }
        return nil
    }

    private struct Run: Decodable {
        let engine: String
        let done: Bool
        let rec_per_s: Double?
        let rec_per_cpu_s: Double?
        let peak_rss_MB: Double
        let rows: Double
        let lost_rows: Double
        let wrong_rows: Double
        let lost_alerts: Double
        let extra_alerts: Double
        let tuples_written: Double?
        let killed_at_rows: Double?
        let back_s: Double?

        var faults: Double { lost_rows + wrong_rows + lost_alerts + extra_alerts }
    }

    private struct Bare: Decodable {
        let msg_per_s: Double
    }

    package func run() throws -> [Figure] {
        if let lacks = lacks { throw BenchFailure("bench peers: \(lacks)") }
        let lines = try output(["bare", "plain", "bytewax", "flink", "ours", "--kill", "ours"])
        let decoder = JSONDecoder()
        let bare = lines.compactMap { try? decoder.decode(Bare.self, from: $0) }.last
        let runs = lines.compactMap { try? decoder.decode(Run.self, from: $0) }
        guard let ours = runs.first(where: { $0.engine == "ours" && $0.killed_at_rows == nil }), ours.done else {
            throw BenchFailure("bench peers: ours did not end; its logs are in /tmp/drover-peers/log")
        }
        let others = runs.filter { $0.engine != "ours" && $0.done }
        var figures = others.flatMap { run in
            [
                Figure(
                    name: "\(run.engine)_of_processor", value: run.rec_per_cpu_s ?? 0, unit: "records/CPU s",
                    baseline: nil),
                Figure(name: "\(run.engine)_faults", value: run.faults, unit: "rows", baseline: nil),
            ]
        }
        figures += [
            Figure(
                name: "ours_of_processor", value: ours.rec_per_cpu_s ?? 0, unit: "records/CPU s",
                baseline: others.compactMap(\.rec_per_cpu_s).max()),
            Figure(name: "ours", value: ours.rec_per_s ?? 0, unit: "records/s", baseline: bare?.msg_per_s),
            Figure(name: "ours_faults", value: ours.faults, unit: "rows", baseline: nil),
            Figure(name: "ours_memory", value: ours.peak_rss_MB, unit: "MB", baseline: nil),
        ]
        if let killed = runs.first(where: { $0.engine == "ours" && $0.killed_at_rows != nil }) {
            figures += [
                Figure(name: "ours_killed_faults", value: killed.faults, unit: "rows", baseline: nil),
                Figure(
                    name: "ours_killed_written", value: killed.tuples_written ?? 0, unit: "rows", baseline: killed.rows),
                Figure(name: "ours_killed_all_done_after", value: killed.back_s ?? 0, unit: "s", baseline: nil),
            ]
        }
        return figures
    }

    private func output(_ words: [String]) throws -> [Data] {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: try stand.home() + "/Deploy/bench/peers")
        process.arguments = words
        process.standardOutput = pipe
        try process.run()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchFailure("Deploy/bench/peers ended with \(process.terminationStatus); what it wrote stands above")
        }
        return text.split(separator: 0x0A).map { Data($0) }
    }
}
