public import HTTP
public import Observe
internal import Postgres
public import Reports
internal import Synchronization
public import Trips

/// The pages and what they are read from: PostgreSQL through a role that may only read.
public final class Site: Sendable {
    /// Connections that wait for the next request; more requests at a time open more and close them again.
    private static let idleMax = 4

    private let conninfo: String
    private let rules: TripRules
    private let price: FuelPrice?
    private let queries: ReportQueries
    private let log: Log
    private let idle = Mutex<[Idle]>([])

    /// A connection that no thread uses. It moves from one thread to the next through the mutex, one at a time.
    private struct Idle: @unchecked Sendable { let connection: Connection }

    public init(conninfo: String, rules: TripRules, price: FuelPrice?, queries: ReportQueries, log: Log) {
        (self.conninfo, self.rules, self.price) = (conninfo, rules, price)
        (self.queries, self.log) = (queries, log)
    }

    public func answer(_ request: Request) -> Response {
        do {
            switch request.path {
            case "/":
                return .html(
                    try withConnection { try FirstPage(queries: queries, price: price).html($0, nowMs: Clock.nowMs()) })
            case "/reports/fleet-day": return try fleetDay(request)
            case "/healthz":
                return Response(contentType: "text/plain; charset=utf-8", body: try withConnection { _ in "ok\n" })
            default:
                return .problem(
                    404, type: "not-found", title: "Not found",
                    detail: "there is no page at this address; / is the first page")
            }
        } catch {
            log.error("a page could not be made", ["path": "\(request.path)", "error": "\(error)"])
            var response = Response.problem(
                503, type: "database", title: "The database does not answer",
                detail:
                    "this page is read from PostgreSQL, which cannot be reached or refused. The log says why; try again shortly"
            )
            response.headers.append(("Retry-After", "5"))
            return response
        }
    }

    private func fleetDay(_ request: Request) throws -> Response {
        guard let day = ZonedDay(date: request.query["date"] ?? "", zone: request.query["zone"] ?? "UTC") else {
            return .problem(
                400, type: "day", title: "Which day?",
                detail: "date must be like 2026-11-21, and zone a name such as Europe/Berlin")
        }
        let report = try withConnection { try FleetDay.read(day, rules: rules, price: price, queries: queries, on: $0) }
        switch request.query["format"] ?? "html" {
        case "html": return .html(report.html())
        case "json": return Response(contentType: "application/json", body: report.json())
        case "csv": return Response(contentType: "text/csv; charset=utf-8", body: report.csv())
        default:
            return .problem(400, type: "format", title: "Which format?", detail: "format must be html, json or csv")
        }
    }

    /// Lends a connection. One that failed is not kept: the next request opens a new one.
    private func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        var kept = idle.withLock { $0.popLast() }
        // One that died while it waited is replaced; a request must not pay for a restart of the server.
        if let waiting = kept, !waiting.connection.isAlive { kept = nil }
        let connection = try kept?.connection ?? Connection(conninfo: conninfo)
        let result = try body(connection)
        let back = Idle(connection: connection)
        idle.withLock { if $0.count < Site.idleMax { $0.append(back) } }
        return result
    }
}
