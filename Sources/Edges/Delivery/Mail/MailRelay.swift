package import Clients
package import Crypto
internal import Fleet
internal import Notifications
internal import Postgres
internal import Storage
package import Telemetry
internal import Threads

/// The settings of a mail relay.
package struct MailSettings: Sendable {
    package var server: MailServer
    package var login: (user: String, password: String)?
    /// PEM file with the roots that are believed; nil: the system's.
    package var caFile: String?
    /// A plain address.
    package var from: String
    /// Opens the mails that bring codes; nil: they wait.
    package var codeKey: CodeKey?
    package var conninfo: String

    package init(
        server: MailServer, login: (user: String, password: String)?, caFile: String?, from: String, codeKey: CodeKey?,
        conninfo: String
    ) {
        self.server = server
        self.login = login
        self.caFile = caFile
        self.from = from
        self.codeKey = codeKey
        self.conninfo = conninfo
    }
}

/// Sends waiting mail to the mail server: at least once, with the same Message-ID at each attempt. Any number of relays may run; each mail
/// is locked by one of them meanwhile. A mail is deleted when the server has accepted it, postponed when it does not yet, and given up
/// when it never will or the mail has expired.
package final class MailRelay {
    private static let backOffMs: ClosedRange<Int64> = 1_000...60_000
    /// A mail that was put off: greylisting lets nobody in before a minute or some.
    private static let putOffMs: ClosedRange<Int64> = 2_000...300_000
    private static let pollMs: Int64 = 1_000
    private static let pruneMs: Int64 = 60_000

    private let settings: MailSettings
    private let log: Log
    private let metrics: MailMetrics
    private let retry: RetryLoop
    private var nextPruneMs: Int64 = 0

    package init(_ settings: MailSettings, metrics: Metrics, log: Log) {
        self.settings = settings
        self.log = log
        self.metrics = MailMetrics(metrics)
        retry = RetryLoop(
            MailRelay.backOffMs, cannot: "mail cannot go out; what waits is kept and tried again",
            again: "mail goes out again", log: log)
    }

    /// Returns when `shouldStop` says so; a mail that is under way then is finished first.
    package func run(shouldStop: () -> Bool) {
        retry.run(shouldStop: shouldStop, kind: kind) { try serve(shouldStop) }
    }

    /// The server takes no mail now.
    private struct Unavailable: Error, CustomStringConvertible { let description: String }

    /// One session with the database and one with the server, until either fails.
    private func serve(_ shouldStop: () -> Bool) throws {
        let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-mail")
        let client = try MailClient(settings.server, login: settings.login, caFile: settings.caFile)
        try connection.listen(to: MailStore.channel)
        while !shouldStop() {
            let isEmpty = try connection.transaction { try one(client, connection) }
            if Clock.steadyMs() >= nextPruneMs {
                metrics.pruned.add(try MailStore.prune(on: connection))
                nextPruneMs = Clock.steadyMs() + MailRelay.pruneMs
            }
            if isEmpty { try connection.waitToBeTold(atMostMs: MailRelay.pollMs, shouldStop) }
        }
    }

    /// The next mail, within the transaction that holds it. True: there was none.
    private func one(_ client: MailClient, _ connection: Connection) throws -> Bool {
        guard let mail = try MailStore.next(on: connection) else { return true }
        if mail.isExpired {
            try giveUp(mail, "nobody needs it any more", connection)
            return false
        }
        guard let body = text(mail, mail.body) else {
            try putOff(mail, "people.code_key_file is not the key that the page has", connection)
            return false
        }
        var message = MailMessage(
            id: mail.id, from: settings.from, to: mail.recipient, subject: mail.subject, text: body, madeMs: mail.madeMs
        )
        message.html = text(mail, mail.html)
        message.leaveURL = text(mail, mail.leaveURL)
        message.refersTo = mail.refersTo
        message.files = mail.files.map { .init(name: $0.name, mediaType: $0.mediaType, content: $0.content) }
        guard let bytes = message.bytes() else {
            try giveUp(mail, "its address or subject would end a header", connection)
            return false
        }
        switch client.send(from: settings.from, to: mail.recipient, message: bytes) {
        case .taken:
            try MailStore.delete(mail.id, on: connection)
            try NoticeStore.settle(mail.id, as: .sent, answer: "taken by the mail server", on: connection)
            metrics.sent.add()
        case .refused(let reason): try giveUp(mail, reason, connection)
        case .later(let reason): try putOff(mail, reason, connection)
        case .unavailable(let reason): throw Unavailable(description: reason)
        }
        retry.isWell()
        return false
    }

    /// Nil: there is none, or it is sealed with another key.
    private func text(_ mail: WaitingMail, _ bytes: [UInt8]?) -> String? {
        let open = mail.isSealed ? bytes.flatMap { settings.codeKey?.open($0) } : bytes
        return open.map { String(decoding: $0, as: UTF8.self) }
    }

    private func giveUp(_ mail: WaitingMail, _ reason: String, _ connection: Connection) throws {
        try MailStore.giveUp(mail.id, reason: reason, on: connection)
        try NoticeStore.settle(mail.id, as: .refused, answer: reason, on: connection)
        metrics.refused.add()
        log.error(
            "a mail was given up; it stays in drover.mail for a week", ["mail_id": "\(mail.id)", "reason": "\(reason)"])
    }

    private func putOff(_ mail: WaitingMail, _ reason: String, _ connection: Connection) throws {
        let ms = BackOff.ms(afterTries: mail.tries, within: MailRelay.putOffMs)
        try MailStore.putOff(mail.id, byMs: ms, on: connection)
        try NoticeStore.settle(mail.id, as: .waiting, answer: reason, waitMs: ms, on: connection)
        metrics.putOff.add()
        log.warning(
            "a mail was put off",
            ["mail_id": "\(mail.id)", "reason": "\(reason)", "tries": "\(mail.tries + 1)", "retry_in_ms": "\(ms)"])
    }

    private func kind(_ error: any Error) -> String {
        metrics.failures.add()
        return error is PostgresError ? "database" : "mail server"
    }
}

/// The mail relay's figures, by the names that Prometheus reads.
private struct MailMetrics {
    let sent, refused, putOff, pruned, failures: Counter

    init(_ metrics: Metrics) {
        sent = metrics.counter("drover_mail_sent_total", "Mails that the mail server has taken.")
        refused = metrics.counter("drover_mail_refused_total", "Mails given up: refused for good, or too late.")
        putOff = metrics.counter("drover_mail_put_off_total", "Times a mail was put off.")
        pruned = metrics.counter("drover_mail_pruned_total", "Mails deleted a week after they were given up.")
        failures = metrics.counter("drover_mail_failures_total", "Times the mail relay started again.")
    }
}
