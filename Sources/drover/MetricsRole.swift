import Foundation
import HTTP
import Observe
import Settings
import Synchronization

/// The figures of a process's roles, for Prometheus: `GET /metrics` on a port of its own, which is not for people.
enum MetricsRole {
    private static let roles = Mutex<[String: Metrics]>([:])

    /// New figures of a role. One that starts again begins from zero, as counters of a process do.
    static func of(_ role: String) -> Metrics {
        let made = Metrics()
        roles.withLock { $0[role] = made }
        return made
    }

    /// Serves them while `body` runs; `metrics.port` 0: nobody asks.
    static func serving<R>(_ settings: Settings, log: Log, _ body: () throws -> R) throws -> R {
        let port = settings.integer("metrics.port")
        guard port > 0 else { return try body() }
        let server: Server
        do {
            server = try Server(host: settings.text("metrics.host"), port: UInt16(port), threads: 1) { answer($0) }
        } catch {
            throw Failure("metrics.port: \(port) at \(settings.text("metrics.host")) cannot be listened on: \(error)")
        }
        defer { server.stop() }
        log.info("figures are served", ["port": "\(port)"])
        return try body()
    }

    private static func answer(_ request: Request) -> Response {
        guard request.path == "/metrics", request.method == "GET" || request.method == "HEAD" else {
            return .problem(404, type: "not-found", detail: "Only GET /metrics is here.")
        }
        let known = roles.withLock { $0 }
        let text = known.keys.sorted().map { known[$0]!.text() }.joined()
        return Response(200, headers: [("Content-Type", Metrics.contentType)], body: Array(text.utf8))
    }
}
