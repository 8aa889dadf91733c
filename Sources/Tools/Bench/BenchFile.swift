internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Foundation
internal import Telemetry

/// Figures of a run and the machine that they were taken on, for Deploy/generate/performance.
package enum BenchFile {
    /// Load averages over 1, 5 and 15 minutes, by proc(5): what else ran.
    package static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return text.split(separator: " ").prefix(3).joined(separator: " ")
    }

    package static func write(_ parts: [(name: String, figures: [Figure])], loadBefore: String, to path: String) throws
    {
        let file = JSONValue.object([
            ("at", .text(UTC.text(Clock.nowMs()))),
            ("cpu", .text(line("/proc/cpuinfo", "model name"))),
            ("cores", .number("\(ProcessInfo.processInfo.activeProcessorCount)")),
            ("memory", .text(line("/proc/meminfo", "MemTotal"))),
            ("load_before", .text(loadBefore)), ("load_after", .text(load)),
            (
                "benches",
                .list(parts.map { .object([("name", .text($0.name)), ("figures", .list($0.figures.map(\.json)))]) })
            ),
        ])
        do {
            try Data((file.rendered(indent: true) + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw BenchFailure("the figures could not be written to \(path): \(error.localizedDescription)")
        }
    }

    private static func line(_ file: String, _ name: String) -> String {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let found = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return found?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }
}
