internal import Observe
internal import Postgres

extension Connection {
    /// How soon a loop notices that it is to stop.
    private static let sliceMs: Int32 = 200

    /// Waits for a notification that this session listens for; one may get lost with a session, the tables do not.
    func waitToBeTold(atMostMs ms: Int64, _ shouldStop: () -> Bool) throws {
        let deadline = Clock.steadyMs() + ms
        while !shouldStop(), Clock.steadyMs() < deadline {
            if try !notifications(timeoutMs: Connection.sliceMs).isEmpty { return }
        }
    }
}
