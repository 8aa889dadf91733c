internal import Postgres
internal import Telemetry
internal import Threads

extension Connection {
    /// The time until a loop notices that it is to stop.
    private static let sliceMs: Int32 = 200
    /// Between two turns that were told for, however many tell: every login of the database may `NOTIFY`.
    private static let restMs: Int64 = 5

    /// Waits for a notification that this session listens for; one may get lost with a session, the tables do not.
    func waitToBeTold(atMostMs ms: Int64, _ shouldStop: () -> Bool) throws {
        let deadline = Clock.steadyMs() + ms
        while !shouldStop(), Clock.steadyMs() < deadline {
            guard try !notifications(timeoutMs: Connection.sliceMs).isEmpty else { continue }
            return BackOff.pause(Connection.restMs, shouldStop)
        }
    }
}
