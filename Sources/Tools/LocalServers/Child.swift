package import Foundation
internal import Synchronization

/// A process that we started and that dies with us.
///
/// Safe to use from any thread: waiting happens under the mutex, so a process id is never used after it was reaped.
package final class Child: Sendable {
    let name: String
    package let pid: pid_t
    /// The signal that ends it properly.
    let stopSignal: Int32
    private let exited = Mutex<Int32?>(nil)

    /// `user` nil: as we are. `input` nil: none. `stopSignal` is SIGTERM or SIGINT. `dataBytesMax`: of it and of each process
    /// that it starts.
    package init(
        _ name: String, _ command: [String], user: SystemUser?, directory: String, input: String? = nil,
        output: String, stopSignal: Int32 = SIGTERM, dataBytesMax: Int? = nil
    ) throws {
        self.name = name
        self.stopSignal = stopSignal
        let bound = dataBytesMax.map { ["prlimit", "--data=\($0)", "--"] } ?? []
        let wrapped = bound + Self.wrap(command, user: user, directory: directory, stopSignal: stopSignal)
        let result = SpawnThread.run { () -> Result<pid_t, LocalServerError> in
            Spawn(command: wrapped, input: input, output: output).run()
        }
        pid = try result.get()
    }

    /// The raw wait status once the process has ended, nil while it runs.
    package func exitStatus() -> Int32? {
        exited.withLock { known in
            if known != nil { return known }
            var status: Int32 = 0
            // An error means that somebody else reaped it: it is gone all the same.
            if unsafe waitpid(pid, &status, WNOHANG) != 0 { known = status }
            return known
        }
    }

    package func waitForExit(seconds: Double) -> Int32? {
        let deadline = Monotonic.now + seconds
        while true {
            if let status = exitStatus() { return status }
            if Monotonic.now >= deadline { return nil }
            usleep(10_000)
        }
    }

    package func signal(_ signal: Int32) {
        exited.withLock { known in
            if known == nil { kill(pid, signal) }
        }
    }

    /// setpriv asks the kernel to signal the process when the thread that started it ends, which is when we end,
    /// however we end. It, prlimit and env replace themselves by the command, so the process id stays.
    private static func wrap(
        _ command: [String], user: SystemUser?, directory: String, stopSignal: Int32
    ) -> [String] {
        let death = ["setpriv", "--pdeathsig", stopSignal == SIGINT ? "INT" : "TERM"]
        let identity = user.map { ["--reuid", $0.name, "--regid", "\($0.group)", "--init-groups"] } ?? []
        // env changes the folder, as the user who must be able to enter it.
        return death + identity + ["--", "env", "--chdir", directory] + command
    }
}

/// Runs a program to its end; returns its exit code and what it wrote. `log` keeps the output.
package func runTool(
    _ command: [String], user: SystemUser? = nil, directory: String, input: String? = nil, log: String, seconds: Double
) throws -> (code: Int32, output: String) {
    unsafe unlink(log)
    let name = URL(fileURLWithPath: command[0]).lastPathComponent
    let child = try Child(name, command, user: user, directory: directory, input: input, output: log)
    guard let status = child.waitForExit(seconds: seconds) else {
        child.signal(SIGKILL)
        _ = child.waitForExit(seconds: 5)
        throw LocalServerError(
            "\(command[0]) has not finished after \(Int(seconds)) s; its output is in \(log). "
                + "Is the disk very slow or stuck?")
    }
    // Wait status: a normal exit has its code in the second byte; a signal counts as failure.
    let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    return (code, tail(of: log, lines: 12))
}

/// The last lines of a log, for messages.
func tail(of path: String, lines: Int) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    let text = String(decoding: data.suffix(8_000), as: UTF8.self)
    return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
}

package enum Monotonic {
    /// Seconds of a clock that nobody sets.
    package static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
