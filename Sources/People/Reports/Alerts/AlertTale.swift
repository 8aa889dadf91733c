package import Notifications
package import Postgres

/// What people said of an alert and who was told of it, as far as the reader may know.
package struct AlertTale: Sendable {
    private static let wordsMax: Int64 = 200

    /// A thing that somebody said.
    package struct Word: Sendable {
        package enum Kind: String, CaseIterable, Sendable { case acknowledged, assigned, comment, reopened, muted }

        package let ms: Int64
        package let by: String
        package let kind: Kind
        /// To whom it was given; nil: to nobody.
        package let account: String?
        /// Until when it is muted; nil: until it is over.
        package let untilMs: Int64?
        package let note: String?
    }

    /// A notice to somebody, and each way that it went.
    package struct Told: Sendable {
        package let account: String
        package let name: String
        package let occasion: NoticeOccasion
        package let state: NoticeState
        package let reason: String
        package let decidedMs, dueMs: Int64
        package var ways: [(channel: NoticeChannel, state: NoticeMessageState, ms: Int64)]
        /// When its link was used to acknowledge; nil: it was not.
        package let linkUsedMs: Int64?

        /// When the first of its ways took it; nil: none did.
        package var sentMs: Int64? { ways.filter { $0.state == .sent }.map(\.ms).min() }
    }

    /// The latest first.
    package let words: [Word]
    package let told: [Told]

    package init(of alert: String, _ queries: ReportQueries, on connection: Connection) throws {
        words = try connection.query(queries["alert_words"], [.text(alert), .int8(AlertTale.wordsMax)]).map { row in
            Word(
                ms: try row.timestampMs("said_at")!, by: try row.text("said_by")!, kind: try row.word("word")!,
                account: try row.text("account"), untilMs: try row.timestampMs("until_at"), note: try row.text("note"))
        }
        var told: [Told] = []
        for row in try connection.query(queries["alert_told"], [.text(alert)]) {
            let one = try Told(row)
            // The rows of one notice follow each other.
            if let last = told.last, last.isSame(as: one) {
                told[told.count - 1].ways += one.ways
            } else {
                told.append(one)
            }
        }
        self.told = told
    }

    /// Somebody to whom alerts can be given.
    package struct Person: Sendable {
        package let account, name: String
        /// The name where there is one.
        package var shown: String { name.isEmpty ? account : name }

        private init(_ row: Row) throws {
            account = try row.text("account")!
            name = try row.text("name") ?? ""
        }

        /// To whom the reader can give this alert: nobody where it is not theirs to give.
        package static func of(
            _ alert: String, _ queries: ReportQueries, on connection: Connection
        ) throws -> [Person] {
            try connection.query(queries["alert_people"], [.text(alert)]).map(Person.init)
        }

        package static func colleagues(_ queries: ReportQueries, on connection: Connection) throws -> [Person] {
            try connection.query(queries["alert_colleagues"], []).map(Person.init)
        }
    }
}

extension AlertTale.Told {
    fileprivate init(_ row: Row) throws {
        account = try row.text("account")!
        name = try row.text("name") ?? ""
        occasion = try row.word("occasion")!
        state = try row.word("state")!
        reason = try row.text("reason")!
        decidedMs = try row.timestampMs("decided_at")!
        dueMs = try row.timestampMs("due_at")!
        linkUsedMs = try row.timestampMs("link_used_at")
        ways = []
        if let channel: NoticeChannel = try row.word("channel"),
            let state: NoticeMessageState = try row.word("message_state"),
            let ms = try row.timestampMs("message_at")
        {
            ways = [(channel, state, ms)]
        }
    }

    fileprivate func isSame(as other: AlertTale.Told) -> Bool {
        (account, occasion, decidedMs, dueMs) == (other.account, other.occasion, other.decidedMs, other.dueMs)
    }
}
