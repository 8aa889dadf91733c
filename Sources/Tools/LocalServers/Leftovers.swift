package import Foundation

/// A process that an earlier start wrote down. The start time and the boot tell it from a stranger that got its number.
package struct RecordedChild: Equatable, Sendable {
    package let name: String
    package let pid: pid_t
    let startTicks: UInt64
    let stopSignal: Int32
    let boot: String

    package init?(_ child: Child) {
        guard let now = ProcessTable.entry(child.pid) else { return nil }
        name = child.name
        pid = child.pid
        startTicks = now.startTicks
        stopSignal = child.stopSignal
        boot = ProcessTable.bootID
    }

    package init?(line: Substring) {
        let parts = line.split(separator: " ")
        guard parts.count == 5, let pid = pid_t(parts[1]), pid > 1, let ticks = UInt64(parts[2]),
            let signal = Int32(parts[3])
        else { return nil }
        name = String(parts[0])
        self.pid = pid
        startTicks = ticks
        stopSignal = signal
        boot = String(parts[4])
    }

    package var line: String { "\(name) \(pid) \(startTicks) \(stopSignal) \(boot)" }

    package var isRunning: Bool {
        guard boot == ProcessTable.bootID, let now = ProcessTable.entry(pid) else { return false }
        return now.startTicks == startTicks && !now.isDead
    }
}

package enum ProcessTable {
    package struct Entry {
        package let startTicks: UInt64
        let isDead: Bool
    }

    static let bootID =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"

    /// proc(5): the fields after the name, which is in brackets and may hold anything, are state (3rd) to start time
    /// (22nd). A dead process whose parent never asks for its status stays in the table for good (Z).
    package static func entry(_ pid: pid_t) -> Entry? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let bracket = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: bracket)...].split(separator: " ")
        guard fields.count > 19, let ticks = UInt64(fields[19]) else { return nil }
        return Entry(startTicks: ticks, isDead: fields[0] == "Z" || fields[0] == "X")
    }
}

extension DataFolder {
    /// Writes down who runs, so that a start after our sudden death finds them.
    func record(_ children: [Child]) throws {
        try write("children", children.compactMap { RecordedChild($0)?.line }.joined(separator: "\n"))
    }

    /// Ends what an earlier run left behind. Normally its children died with it; the broker may still be saving.
    package func endLeftovers(log: (String) -> Void) throws {
        let recorded = (read("children") ?? "").split(separator: "\n").compactMap { RecordedChild(line: $0) }
        let leftovers = recorded.filter(\.isRunning)
        for child in leftovers {
            log("ending \(child.name), process \(child.pid), left by an earlier run")
            guard kill(child.pid, child.stopSignal) == 0 || errno == ESRCH else {
                throw LocalServerError(
                    "\(path): \(child.name), process \(child.pid), is left from an earlier run and cannot be ended: "
                        + "\(errorText(errno)). End it as the user who started it: kill \(child.pid)")
            }
        }
        let deadline = Monotonic.now + 20
        for child in leftovers {
            while child.isRunning, Monotonic.now < deadline { usleep(20_000) }
            guard child.isRunning else { continue }
            log("\(child.name), process \(child.pid), did not end in 20 s: killing it")
            kill(child.pid, SIGKILL)
            while child.isRunning, Monotonic.now < deadline + 5 { usleep(20_000) }
        }
        remove("children")
    }
}
