internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Synchronization

/// Statements of people's own, a few at a time: each has a connection of the login that may do nothing but ask.
package final class QuestionService: Sendable {
    /// Why there is no answer. Each says what to do.
    enum Refusal: Error {
        /// The statement's fault.
        case statement(String)
        /// The limit of running questions is reached: the asker's, or everybody's.
        case busy(QuestionQuota.Full)
        /// The account ended, perhaps while its question was under way.
        case account(String)
        /// `postgres.query_url` is not set.
        case off
    }

    private let pool: ConnectionPool?
    /// With the same login, for checks of the asker: one at a time, so that a crowd cannot use up its connections.
    private let looks: Mutex<ConnectionPool>
    private let patienceS: Int
    private let places = Mutex(QuestionQuota())

    /// - Parameters:
    ///   - conninfo: of a login that is in `drover_query` and in nothing else; empty: nobody may ask.
    ///   - patienceS: what a statement may take in the database.
    package init(conninfo: String, patienceS: Int) {
        // No connection is kept: a question's memory goes back with its connection.
        pool = conninfo.isEmpty ? nil : ConnectionPool(conninfo: conninfo, idleMax: 0)
        looks = Mutex(ConnectionPool(conninfo: conninfo, idleMax: 1))
        self.patienceS = patienceS
    }

    /// Reads at most this many rows, and one more.
    /// - Throws: `Refusal`, or what is wrong with the database.
    func ask(
        _ statement: String, as account: String, by access: StreamAccess, rowsMax: Int = Question.answerRowsMax
    ) throws -> QueryOutput {
        guard let pool else { throw Refusal.off }
        // A refusal here costs the database nothing.
        try hold { (held) throws(QuestionQuota.Full) in try held.begin(account) }
        defer { places.withLock { $0.end(account) } }
        let customers = try look(account, access).customers
        try hold { (held) throws(QuestionQuota.Full) in try held.reserve(customers) }
        defer { places.withLock { $0.release(customers) } }
        let limits = Question.Limits(rows: rowsMax, bytes: Question.answerBytesMax, seconds: patienceS)
        do {
            return try asked(by: pool) {
                try QueryOutput(Question(statement).ask(as: account, by: access, limits, on: $0))
            }
        } catch let error as PostgresError where error.isConnectionLost {
            // Ended with the account, perhaps: then that is said.
            _ = try look(account, access)
            throw error
        }
    }

    private func look(_ account: String, _ access: StreamAccess) throws -> QuestionAsker {
        try looks.withLock { pool in try asked(by: pool) { try QuestionAsker.read(account, by: access, on: $0) } }
    }

    /// A statement that is refused leaves its connection as it was.
    private func asked<R>(by pool: ConnectionPool, _ body: (Connection) throws -> R) throws -> R {
        let answer = try pool.withConnection { connection -> Result<R, Refusal> in
            do {
                return .success(try body(connection))
            } catch let refusal as Question.Refusal {
                return .failure(.statement(refusal.text))
            } catch let gone as QuestionAsker.Gone {
                return .failure(.account(gone.text))
            }
        }
        return try answer.get()
    }

    private func hold(_ body: (inout QuestionQuota) throws(QuestionQuota.Full) -> Void) throws {
        let full = places.withLock { held -> QuestionQuota.Full? in
            do throws(QuestionQuota.Full) {
                try body(&held)
                return nil
            } catch {
                return error
            }
        }
        if let full { throw Refusal.busy(full) }
    }
}

extension QuestionService.Refusal {
    /// For programs, in English.
    var text: String { phrase?.inEnglish ?? reason }
    /// For the page, in the reader's language where the text is ours.
    var said: String { phrase.map { t($0) } ?? reason }

    /// What the database says.
    private var reason: String {
        switch self {
        case .statement(let text), .account(let text): text
        case .busy, .off: ""
        }
    }

    private var phrase: Phrase? {
        switch self {
        case .statement, .account: nil
        case .busy(.account): "A question of this account is under way. Wait for its answer."
        case .busy(.customer):
            "As many questions of your fleet or campus are under way as there may be. Wait for one of their answers."
        case .busy(.all): "As many questions as there may be are under way. Try again shortly."
        case .off: "Questions need a database login of their own. Ask whoever runs Drover to set postgres.query_url."
        }
    }

    var response: Response {
        switch self {
        case .statement: .problem(422, type: "statement", detail: text)
        case .busy(let full): .problem(full == .all ? 503 : 429, type: "busy", detail: text).with("Retry-After", "5")
        case .account: .problem(403, type: "account", detail: text)
        case .off: .problem(404, type: "questions-off", detail: text)
        }
    }
}
