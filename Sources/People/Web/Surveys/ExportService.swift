internal import Basics
internal import HTTPServer
internal import Postgres
internal import Reports
internal import Storage
internal import Surveys
internal import Synchronization
package import Telemetry
internal import Threads

/// Exports under way: each has a thread and a session of its own, because it lasts, and writes as fast as its client reads.
package final class ExportService: Sendable {
    static let exportsMax = 2
    private static let waitingBytesMax = 1 << 20
    /// A client that takes nothing for so long is gone.
    private static let patienceMs = 60_000

    private struct Gone: Error {}

    private let conninfo, pageConninfo: String
    private let log: Log
    /// The accounts that they are of: one each.
    private let underWay = Mutex<Set<String>>([])

    private enum Full: Error { case account, all }

    /// - Parameters:
    ///   - conninfo: of programs with a token.
    ///   - pageConninfo: of people who are logged in.
    package init(conninfo: String, pageConninfo: String, log: Log) {
        self.conninfo = conninfo
        self.pageConninfo = pageConninfo
        self.log = log
    }

    /// - Parameter account: of somebody who is logged in, and sees what the database lets him; nil: a program asks.
    func answer(
        _ export: SightingExport, _ format: SightingExporter.Format, _ rows: SightingExport.Rows, by creator: String,
        as account: String? = nil
    ) -> Response {
        let today = UTC.dateText(Clock.nowMs())
        let dataset = DarwinCore.Dataset(
            title: "Sightings of butterflies", creator: creator, rights: "See who handed this out.")
        let exporter = SightingExporter(export, format, rows: rows, dataset: dataset, today: today)
        let suffix = format == .dwca ? "zip" : format.rawValue
        if let full = begin(creator) { return ExportService.busy(full).with("Retry-After", "30") }
        let answer = DeferredResponse()
        WorkerThread.start("export") { [self] in
            run(exporter, answer, format.mediaType, "\(rows)-\(today).\(suffix)", account)
            _ = underWay.withLock { $0.remove(creator) }
        }
        return .later(answer)
    }

    /// Nil: there was a place.
    private func begin(_ account: String) -> Full? {
        underWay.withLock { accounts in
            if accounts.contains(account) { return .account }
            guard accounts.count < ExportService.exportsMax else { return .all }
            accounts.insert(account)
            return nil
        }
    }

    private static func busy(_ full: Full) -> Response {
        switch full {
        case .account:
            .problem(429, type: "busy", detail: "An export of this account is under way. Wait until it is there.")
        case .all: .problem(503, type: "busy", detail: "\(exportsMax) exports are under way. Try again in a while.")
        }
    }

    private func run(
        _ exporter: SightingExporter, _ answer: DeferredResponse, _ type: String, _ file: String, _ account: String?
    ) {
        // One chunk more than waits at most.
        let stream = BodyStream(bytesMax: 4 * ExportService.waitingBytesMax)
        do {
            // Rows are sent as they are read, to clients of all speeds.
            let connection = try Connection.ofService(
                conninfo: account == nil ? conninfo : pageConninfo, applicationName: "drover export", statementS: 1_800)
            if let account { try RowSecurity.keep(account, on: connection) }
            // Nothing is sent before the first window is read, so that a missing right becomes an error response.
            var held: [UInt8]? = []
            func go(_ bytes: [UInt8]) throws {
                guard stream.waitForRoom(bytesMax: ExportService.waitingBytesMax, timeoutMs: ExportService.patienceMs),
                    stream.send(bytes)
                else { throw Gone() }
            }
            func begin() throws {
                guard let first = held else { return }
                held = nil
                answer.give(
                    .streaming(stream, type: type).with("Cache-Control", "no-store")
                        .with("Content-Disposition", "attachment; filename=\"\(file)\""))
                try go(first)
            }
            _ = try exporter.run(on: connection, progress: { _ in try begin() }) { bytes in
                if held == nil { return try go(bytes) }
                held! += bytes
                if held!.count > ExportService.waitingBytesMax { try begin() }
            }
            try begin()
            stream.end()
        } catch {
            if !(error is Gone) { log.error("an export ended early", ["error": "\(error)"]) }
            // The first answer counts: nothing is said twice.
            answer.give(ExportService.refusal(error))
            stream.fail()
        }
    }

    private static func refusal(_ error: any Error) -> Response {
        if let error = error as? PostgresError, error.sqlState == PostgresError.noRight {
            return .problem(
                403, type: "not-granted",
                detail: "This server may not read people or exact places. Ask its operator to put the login of "
                    + "postgres.reader_url into drover_researcher, or take a token without these scopes.")
        }
        return .problem(
            503, type: "database",
            detail: "The sightings cannot be read; the server's log says why. Try again shortly."
        ).with("Retry-After", "5")
    }
}
