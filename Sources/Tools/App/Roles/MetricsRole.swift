package import ExternalServices
internal import Foundation
internal import HTTPServer
package import Settings
internal import Synchronization
package import Telemetry

/// The figures of a process's roles, for Prometheus, and how it is, for who starts and stops it: `GET /metrics`, `/livez` and
/// `/readyz` on a port of its own, which is not for people.
package enum MetricsRole {
    /// A prober may have to wait a moment for a server of others; the next is answered meanwhile.
    private static let threads = 3
    private static let roles = Mutex<[String: Metrics]>([:])
    private static let isServing = Mutex(false)

    /// New figures of a role. One that starts again begins from zero, as counters of a process do.
    package static func of(_ role: String) -> Metrics {
        let made = Metrics()
        roles.withLock { $0[role] = made }
        return made
    }

    /// Metrics of all services of others that this process asks; there from the first one that is set.
    package static let outside = ExternalServiceMetrics(of("outside"))

    /// Serves them while `body` runs; `metrics.port` 0: nobody asks. Within another's body they are served already.
    package static func serving<R>(_ settings: Settings, log: Log, _ body: () throws -> R) throws -> R {
        let port = settings.integer("metrics.port")
        guard port > 0, isServing.withLock({ isServing in !isServing }) else { return try body() }
        let (release, migration) = (Home.release ?? "none", String(try Home.migration()))
        of("build").gauges(
            "drover_build_info", "Which program this is: its release, and the migration that it needs. Always 1.",
            ["release": [release], "migration": [migration]])[release, migration].set(1)
        let server: Server
        do {
            server = try Server(host: settings.text("metrics.host"), port: UInt16(port), threads: threads) {
                answer($0)
            }
        } catch {
            throw Failure("metrics.port: \(port) at \(settings.text("metrics.host")) cannot be listened on: \(error)")
        }
        isServing.withLock { $0 = true }
        defer {
            isServing.withLock { $0 = false }
            server.stop()
        }
        log.info("figures are served", ["port": "\(port)"])
        return try body()
    }

    private static func answer(_ request: Request) -> Response {
        guard request.method == "GET" || request.method == "HEAD" else { return unknown }
        switch request.path {
        case "/metrics":
            let known = roles.withLock { $0 }
            let text = known.keys.sorted().map { known[$0]!.text() }.joined()
            return Response(200, headers: [("Content-Type", Metrics.contentType)], body: Array(text.utf8))
        case "/livez": return response(HealthRole.shared.live())
        case "/readyz": return response(HealthRole.shared.ready())
        default: return unknown
        }
    }

    private static func response(_ answer: Health.Answer) -> Response {
        Response.json(answer.json, status: answer.isWell ? 200 : 503).with("Cache-Control", "no-store")
    }

    private static let unknown = Response.problem(
        404, type: "not-found", detail: "Only GET /metrics, /livez and /readyz are here.")
}
