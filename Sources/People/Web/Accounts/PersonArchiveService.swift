internal import Basics
internal import Crypto
internal import HTTPServer
internal import Postgres
internal import Reports
internal import Storage
internal import Synchronization
internal import Telemetry
internal import Threads

/// Archives of people's own data under way: one of an account, a few in all, each on a thread and connection of its own, as fast as
/// its reader reads.
final class PersonArchiveService: Sendable {
    private static let archivesMax = 4
    private static let waitingBytesMax = 1 << 20
    /// A reader that takes nothing for so long is gone.
    private static let patienceMs = 60_000

    private struct Gone: Error {}

    private let conninfo: String
    private let log: Log
    /// The accounts of these.
    private let underWay = Mutex<Set<String>>([])

    init(conninfo: String, log: Log) { (self.conninfo, self.log) = (conninfo, log) }

    func answer(_ session: Token, account: String) -> Response {
        let isTaken = underWay.withLock { accounts in
            accounts.count < PersonArchiveService.archivesMax && accounts.insert(account).inserted
        }
        guard isTaken else {
            return Response.problem(
                503, type: "busy",
                detail: "Your data is being taken along already, or that of others is. Try again in a while."
            ).with("Retry-After", "30")
        }
        let (answer, digest) = (DeferredResponse(), session.digest)
        WorkerThread.start("own data") { [self] in
            run(answer, digest, account)
            _ = underWay.withLock { $0.remove(account) }
        }
        return .later(answer)
    }

    private func run(_ answer: DeferredResponse, _ session: [UInt8], _ account: String) {
        // One piece more than waits, at most.
        let stream = BodyStream(bytesMax: 4 * PersonArchiveService.waitingBytesMax)
        do {
            let connection = try Connection.ofService(
                conninfo: conninfo, applicationName: "drover own data", statementS: 1_800)
            let today = UTC.dateText(Clock.nowMs())
            answer.give(
                .streaming(stream, type: "application/zip").with("Cache-Control", "no-store")
                    .with("Content-Disposition", "attachment; filename=\"drover-\(account)-\(today).zip\""))
            _ = try PersonArchive(PersonDataQueries(.session(session)), account: account, today: today).run(
                on: connection
            ) {
                guard
                    stream.waitForRoom(
                        bytesMax: PersonArchiveService.waitingBytesMax, timeoutMs: PersonArchiveService.patienceMs),
                    stream.send($0)
                else { throw Gone() }
            }
            stream.end()
        } catch {
            if !(error is Gone) { log.error("a person's data ended early", ["error": "\(error)"]) }
            // The first answer counts: nothing is said twice.
            answer.give(
                Response.problem(503, type: "database", detail: "This cannot be read right now. Try again shortly.")
                    .with("Retry-After", "5"))
            stream.fail()
        }
    }
}

extension AccountRoutes {
    func downloadData(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        try AuditLog.record(
            .exportTaken, by: holder.account, about: holder.account, from: request.remote, [("export", "own data")],
            on: connection)
        return data.answer(session, account: holder.account)
    }
}
