internal import Foundation
internal import Observe
internal import Postgres
internal import Storage
internal import Synchronization

/// Marks in PostgreSQL which surveys are on the log, on a thread of its own: all that came meanwhile at once. What is lost with
/// a crash of the database costs a repeat, so nobody waits for its disk.
final class ReceiptMarks: Sendable {
    private struct Mark {
        let place: SurveyReceipts.Place
        let then: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Mark] = []
        var isStopped = false
    }

    /// Beyond it a survey stays unmarked, and a repeat of it goes to the log once more.
    private static let waitingMax = 10_000
    private static let againMs: Int64 = 1_000

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(conninfo: String) {
        // The thread keeps this alive until it is stopped.
        Threads.start("survey-marks") { [self] in
            run(conninfo)
            ended.signal()
        }
    }

    /// What waits is marked; nothing is added any more. To be called once.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    /// `then` is called once, here or on the thread, whether it could be marked or not.
    func add(_ place: SurveyReceipts.Place, then: @escaping @Sendable () -> Void) {
        let isTaken = state.withLock { state in
            guard state.waiting.count < ReceiptMarks.waitingMax, !state.isStopped else { return false }
            state.waiting.append(Mark(place: place, then: then))
            return true
        }
        if isTaken { wake.signal() } else { then() }
    }

    private func run(_ conninfo: String) {
        var connection: Connection?
        var tryAgainMs: Int64 = 0
        while true {
            wake.wait()
            let (marks, isStopped) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isStopped)
            }
            if marks.isEmpty {
                if isStopped { return }
                continue
            }
            do {
                if connection == nil, Clock.steadyMs() >= tryAgainMs {
                    tryAgainMs = Clock.steadyMs() + ReceiptMarks.againMs
                    connection = try ReceiptMarks.connect(conninfo)
                }
                if let connection { try SurveyReceipts.logged(marks.map(\.place), on: connection) }
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
