internal import HTTP
internal import Postgres
internal import Reports
internal import Storage
internal import Synchronization

/// Statements of people's own, a few at a time: each has a connection of the login that may do nothing but ask.
public final class QuestionDesk: Sendable {
    /// At once: of one account, and of all.
    static let ofAccountMax = 1
    static let ofAllMax = 4

    /// Why there is no answer. Each says what to do.
    enum Refusal: Error {
        /// The statement's fault.
        case statement(String)
        /// One of theirs is under way, or as many as there may be.
        case busy(isOwn: Bool)
        /// `postgres.query_url` is not set.
        case off
    }

    private let lender: ConnectionLender?
    private let patienceS: Int
    private let underWay = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - conninfo: of a login that is in `drover_query` and in nothing else; empty: nobody may ask.
    ///   - patienceS: what a statement may take in the database.
    public init(conninfo: String, patienceS: Int) {
        // None is kept: what a question took of memory goes back with its connection.
        lender = conninfo.isEmpty ? nil : ConnectionLender(conninfo: conninfo, idleMax: 0)
        self.patienceS = patienceS
    }

    /// Of more than so many rows the first ones and one more.
    /// - Throws: `Refusal`, or what is wrong with the database.
    func ask(_ statement: String, as account: String, rowsMax: Int = Question.answerRowsMax) throws -> QueryOutput {
        guard let lender else { throw Refusal.off }
        try begin(account)
        defer { end(account) }
        let limits = Question.Limits(rows: rowsMax, bytes: Question.answerBytesMax, seconds: patienceS)
        let answer = try lender.withConnection { connection -> Result<QueryOutput, Question.Refusal> in
            // A refused statement leaves the connection as it was.
            do {
                return .success(try QueryOutput(Question(statement).ask(as: account, limits, on: connection)))
            } catch let refusal as Question.Refusal {
                return .failure(refusal)
            }
        }
        switch answer {
        case .success(let output): return output
        case .failure(let refusal): throw Refusal.statement(refusal.text)
        }
    }

    private func begin(_ account: String) throws {
        try underWay.withLock { counts in
            if counts[account, default: 0] >= QuestionDesk.ofAccountMax { throw Refusal.busy(isOwn: true) }
            if counts.values.reduce(0, +) >= QuestionDesk.ofAllMax { throw Refusal.busy(isOwn: false) }
            counts[account, default: 0] += 1
        }
    }

    private func end(_ account: String) {
        underWay.withLock { counts in
            counts[account, default: 1] -= 1
            if counts[account] == 0 { counts[account] = nil }
        }
    }
}

extension QuestionDesk.Refusal {
    var text: String {
        switch self {
        case .statement(let text): text
        case .busy(true): "A question of this account is under way. Wait for its answer."
        case .busy(false): "As many questions as there may be are under way. Try again shortly."
        case .off: "Questions need a database login of their own. Ask whoever runs Drover to set postgres.query_url."
        }
    }

    var response: Response {
        switch self {
        case .statement: .problem(422, type: "statement", detail: text)
        case .busy(let isOwn): .problem(isOwn ? 429 : 503, type: "busy", detail: text).with("Retry-After", "5")
        case .off: .problem(404, type: "questions-off", detail: text)
        }
    }
}
