internal import Postgres
internal import Storage
internal import Telemetry
internal import Threads

/// Marks in PostgreSQL which surveys are on the log, in batches, on a thread of its own. A mark lost in a crash of the database costs a
/// repeat, so nobody waits for its disk.
final class ReceiptMarker: Sendable {
    private struct Mark {
        let place: SurveyReceiptStore.Place
        let then: @Sendable () -> Void
    }

    /// Beyond it a survey stays unmarked, and a repeat of it goes to the log once more.
    private static let waitingMax = 10_000
    private static let againMs: Int64 = 1_000

    private let waiting = Mailbox<Mark>()
    private let thread = WorkerThread()

    init(conninfo: String) {
        // The thread keeps this alive until it is stopped.
        thread.start("survey-marks") { [self] _ in run(conninfo) }
    }

    /// Marks what is waiting and accepts no more. Call once.
    func stop() {
        waiting.close()
        thread.stop()
    }

    /// `then` is called once, here or on the thread, whether it could be marked or not.
    func add(_ place: SurveyReceiptStore.Place, then: @escaping @Sendable () -> Void) {
        if !waiting.offer(Mark(place: place, then: then), atMost: ReceiptMarker.waitingMax) { then() }
    }

    private func run(_ conninfo: String) {
        var connection: Connection?
        var tryAgainMs: Int64 = 0
        while let marks = waiting.dequeueAll() {
            do {
                if connection == nil, Clock.steadyMs() >= tryAgainMs {
                    tryAgainMs = Clock.steadyMs() + ReceiptMarker.againMs
                    connection = try ReceiptMarker.connect(conninfo)
                }
                if let connection { try SurveyReceiptStore.logged(marks.map(\.place), on: connection) }
            } catch {
                connection = nil
            }
            for mark in marks { mark.then() }
        }
    }

    private static func connect(_ conninfo: String) throws -> Connection {
        let made = try Connection(conninfo: conninfo, connectTimeoutS: 2, applicationName: "drover survey-marks")
        try made.execute("SET lock_timeout = '1s'; SET statement_timeout = '2s'; SET synchronous_commit = off")
        return made
    }
}
