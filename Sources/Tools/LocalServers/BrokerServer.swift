internal import Foundation

/// The small broker of one data folder: noida-db, which speaks Kafka's protocol on the loopback. It keeps what it
/// acknowledged only when it is stopped by SIGTERM: it saves late, up to a second after, longer with much data.
final class BrokerServer: LocalBroker {
    let child: Child
    let port: UInt16
    let stopSeconds = 20.0

    var children: [Child] { [child] }
    var address: String { "127.0.0.1:\(port)" }

    private init(child: Child, port: UInt16) { (self.child, self.port) = (child, port) }

    /// Serves on the port of the last time when it is free, else on any. Between choosing and binding somebody else may
    /// take the port; the broker then ends at once, and another port is tried.
    static func start(folder: DataFolder, binary: String, log: (String) -> Void) throws -> BrokerServer {
        let data = folder.file("broker")
        if unsafe mkdir(data, 0o700) != 0, errno != EEXIST { throw LocalServerError.failed("make", data, errno: errno) }
        var wanted = folder.read("broker.port").flatMap { UInt16($0) } ?? 0
        for _ in 1...8 {
            let port = try Loopback.freePort(preferring: wanted)
            wanted = 0
            let output = folder.startLog("broker")
            let command = [binary, "start", "--only", "kafka", "--kafka-port", "\(port)", "--data-dir", data]
            let child = try Child("broker", command, user: nil, directory: folder.path, output: output)
            let broker = BrokerServer(child: child, port: port)
            switch broker.settle(seconds: 60) {
            case .ready:
                try folder.write("broker.port", "\(port)")
                return broker
            case .ended where tail(of: output, lines: 5).contains("already in use"):
                log("port \(port) was taken while the broker started, trying another")
            case .ended:
                throw LocalServerError(
                    "the broker \(binary) ended while starting. The end of \(output):\n\(tail(of: output, lines: 12))")
            case .silent:
                child.signal(SIGKILL)
                _ = child.waitForExit(seconds: 5)
                throw LocalServerError(
                    "the broker \(binary) does not answer on 127.0.0.1:\(port) after 60 s. The end of \(output):\n"
                        + tail(of: output, lines: 12))
            }
        }
        throw LocalServerError(
            "the broker found its port taken eight times in a row on 127.0.0.1. Is something scanning ports?")
    }

    private enum Settled { case ready, ended, silent }

    /// A large saved log takes seconds to load; the port opens afterwards.
    private func settle(seconds: Double) -> Settled {
        let deadline = Monotonic.now + seconds
        while Monotonic.now < deadline {
            if child.exitStatus() != nil { return .ended }
            // Asked after the answer, too: a stranger may hold the port and answer.
            if Loopback.speaksKafka(port), child.waitForExit(seconds: 0.05) == nil { return .ready }
            usleep(10_000)
        }
        return .silent
    }
}

/// Finds the broker's program, and refuses with what to do when there is none.
package func findBroker(_ requested: String?) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    if let named = requested ?? environment["DROVER_BROKER"], !named.isEmpty {
        guard let program = brokerProgram(named) else {
            throw LocalServerError(
                "\(named): is not a program that can be run. Name the broker's noida-db, or leave it out.")
        }
        return program
    }
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
    var above: [String] = []
    var folder = URL(fileURLWithPath: program).deletingLastPathComponent()
    while folder.path != "/", above.count < 16 {
        above.append(folder.path + "/.drover/venv/bin/noida-db")
        folder.deleteLastPathComponent()
    }
    let candidates = above + searchPath().map { $0 + "/noida-db" }
    if let found = candidates.lazy.compactMap({ brokerProgram($0) }).first { return found }
    throw LocalServerError(
        "noida-db, the embedded broker: not found in .drover/venv above \(program) nor on PATH. "
            + "Install it with Deploy/install in the checkout, or name it in DROVER_BROKER.")
}

/// The Python package's command is a script that starts the true program as a child and does not hand on signals, so
/// that SIGTERM would leave it running: the true program is started in its place.
private func brokerProgram(_ path: String) -> String? {
    guard unsafe access(path, R_OK) == 0, let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }  // Ignored: it was only read.
    let start = (try? handle.read(upToCount: 2)) ?? Data()
    guard start == Data("#!".utf8) else { return unsafe access(path, X_OK) == 0 ? path : nil }
    let root = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent().path + "/lib"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).filter {
        $0.hasPrefix("python3")
    }
    return versions.map { "\(root)/\($0)/site-packages/noida_db/noida-db" }.first { unsafe access($0, X_OK) == 0 }
}
