internal import Basics
package import Clients
package import Crypto
internal import Fleet
internal import Foundation
internal import Postgres
package import Sockets
internal import Notifications
internal import Storage
internal import Synchronization
package import Telemetry
internal import Threads

/// The settings of a relay to webhooks and browsers.
package struct WebhookSettings: Sendable {
    package var conninfo: String
    /// The key that waiting messages and the keys of webhooks are sealed with.
    package var codeKey: CodeKey
    package var webhookHosts, pushHosts: AllowedHosts
    /// Our identity for push services; nil: no pushes.
    package var pushKey: PushKey?
    /// The networks where these hosts may be: people choose among them, and some lead where their owners like.
    package var reach: AddressPolicy
    /// PEM file with the roots that are believed; nil: the system's.
    package var caFile: String?

    package init(
        conninfo: String, codeKey: CodeKey, webhookHosts: AllowedHosts, pushHosts: AllowedHosts, pushKey: PushKey?,
        reach: AddressPolicy, caFile: String?
    ) {
        self.conninfo = conninfo
        self.codeKey = codeKey
        self.reach = reach
        self.caFile = caFile
        self.webhookHosts = webhookHosts
        self.pushHosts = pushHosts
        self.pushKey = pushKey
    }
}

/// Sends messages to people's webhooks and browsers: at least once, with the same id at each attempt. Any number of relays may run; each
/// message is locked by one of them meanwhile. A message not accepted within a day is sent by mail.
///
/// A process has two outgoing channels, so that a silent or slow server does not delay other people's messages: one of them is reserved
/// for servers that answered quickly the last time, and each account has only one message under way.
package final class WebhookRelay {
    private static let backOffMs: ClosedRange<Int64> = 1_000...60_000
    private static let putOffMs: ClosedRange<Int64> = 2_000...600_000
    private static let pollMs: Int64 = 1_000
    private static let totalMs = 15_000
    /// A slower server delays others like a silent one.
    private static let promptMs: Int64 = 3_000
    private static let keptMs: Int64 = UTC.msPerDay

    private let settings: WebhookSettings
    private let log: Log
    private let metrics: WebhookMetrics
    private let underWay: UnderWay
    private let isForAnswered: Bool
    private let retry: RetryLoop
    /// Whether whom the message at hand goes to has answered, and soon; nil: it was not asked.
    private var hasAnswered: Bool?

    /// The ways out of one process, each to run in a thread of its own.
    package static func ways(_ settings: WebhookSettings, metrics: Metrics, log: Log) -> (
        any: WebhookRelay, answered: WebhookRelay
    ) {
        let (metrics, underWay) = (WebhookMetrics(metrics), UnderWay())
        return (
            WebhookRelay(settings, metrics, underWay, isForAnswered: false, log),
            WebhookRelay(settings, metrics, underWay, isForAnswered: true, log)
        )
    }

    private init(
        _ settings: WebhookSettings, _ metrics: WebhookMetrics, _ underWay: UnderWay, isForAnswered: Bool, _ log: Log
    ) {
        self.settings = settings
        self.metrics = metrics
        self.underWay = underWay
        self.log = log
        self.isForAnswered = isForAnswered
        retry = RetryLoop(
            WebhookRelay.backOffMs, cannot: "nothing goes to webhooks and browsers now; all of it is kept",
            again: "webhooks and browsers get their messages again", log: log)
    }

    /// Returns when `shouldStop` says so; a message that is under way then is finished first.
    package func run(shouldStop: () -> Bool) {
        // A webhook that is not well is one message's trouble.
        retry.run(shouldStop: shouldStop, kind: { $0 is PostgresError ? "database" : "clients" }) {
            try serve(shouldStop)
        }
    }

    private struct Clients { let https, plain: HTTPSClient }

    private func serve(_ shouldStop: () -> Bool) throws {
        let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-post")
        var limits = HTTPSClient.Limits()
        limits.totalMs = WebhookRelay.totalMs
        limits.bodyBytesMax = 65_536
        let clients = Clients(
            https: try HTTPSClient(caFile: settings.caFile, limits: limits),
            plain: try HTTPSClient(limits: limits, isPlainAllowed: true))
        while !shouldStop() {
            let isEmpty = try connection.transaction { try one(clients, connection) }
            retry.isWell()
            if isEmpty { BackOff.pause(WebhookRelay.pollMs, shouldStop) }
        }
    }

    /// The next message, within the transaction that holds it. True: there was none.
    private func one(_ clients: Clients, _ connection: Connection) throws -> Bool {
        guard
            let message = try underWay.next({
                try NoticeStore.nextMessage(answered: isForAnswered, without: $0, on: connection)
            })
        else { return true }
        defer { underWay.end(message.account) }
        hasAnswered = nil
        var answer = WebhookAnswer.refused("it is sealed with another key than people.code_key_file")
        if try NoticeStore.accounts([message.account], on: connection)[message.account]?.isEnabled != true {
            answer = .refused("the account is disabled")
        } else if let payload = settings.codeKey.open(message.payload) {
            answer =
                switch message.channel {
                case .webhook: try webhook(message, payload, clients, connection)
                case .push: try push(message, payload, clients, connection)
                case .mail: .refused("mail goes out by the mail server")
                }
        }
        if case .later(let reason, _) = answer, Clock.nowMs() - message.madeMs > WebhookRelay.keptMs {
            answer = .refused("not taken for a day: \(reason)")
        }
        switch answer {
        case .taken(let words):
            try NoticeStore.settle(message.id, as: .sent, answer: words, on: connection)
            metrics.sent.add()
        case .refused(let reason):
            try NoticeStore.settle(message.id, as: .refused, answer: reason, on: connection)
            metrics.refused.add()
            log.warning(
                "a message was refused", ["message_id": "\(message.id)", "channel": "\(message.channel.rawValue)"])
        case .later(let reason, let askedMs):
            let ms = BackOff.ms(afterTries: message.tries, within: WebhookRelay.putOffMs)
            try NoticeStore.settle(
                message.id, as: .waiting, answer: reason, waitMs: max(ms, askedMs ?? 0), on: connection)
            metrics.putOff.add()
        }
        if let hasAnswered { try NoticeStore.note(message, hasAnswered: hasAnswered, on: connection) }
        return false
    }

    // MARK: Webhooks

    /// Signed as Standard Webhooks 1.0 says: HMAC-SHA-256 over id, time and body.
    private func webhook(
        _ message: WaitingNoticeMessage, _ payload: [UInt8], _ clients: Clients, _ connection: Connection
    ) throws -> WebhookAnswer {
        guard let setting = try NoticeStore.accounts([message.account], on: connection)[message.account]?.setting,
            let url = setting.webhookURL, let sealed = setting.webhookKey
        else { return .refused("the webhook was taken back") }
        guard settings.webhookHosts.allow(url) else { return .refused("its host is not in notices.webhook_hosts") }
        guard let key = settings.codeKey.open(sealed) else {
            return .refused("the webhook's key is sealed with another key than people.code_key_file")
        }
        let time = "\(Clock.nowMs() / 1_000)"
        let signature = Secrets.hmacSHA256(Array("\(message.id).\(time).".utf8) + payload, key: key)
        return post(
            url, payload,
            [
                ("Content-Type", "application/json"), ("webhook-id", message.id), ("webhook-timestamp", time),
                ("webhook-signature", "v1,\(Data(signature).base64EncodedString())"), ("User-Agent", "Drover"),
            ], clients)
    }

    private func post(
        _ url: String, _ body: [UInt8], _ headers: [(name: String, value: String)], _ clients: Clients
    ) -> WebhookAnswer {
        do throws(RequestError) {
            let client = AllowedHosts.isPlain(url) ? clients.plain : clients.https
            let reach = settings.reach.with(AllowedHosts.networks(of: url))
            let beganMs = Clock.steadyMs()
            let reply = try client.ask(url, headers: headers, body: body, reach: reach)
            hasAnswered = hasAnswered == true || Clock.steadyMs() - beganMs <= WebhookRelay.promptMs
            return WebhookAnswer(reply, nowMs: Clock.nowMs())
        } catch {
            // One answering service of several browsers is enough.
            hasAnswered = hasAnswered ?? false
            if let refusal = error.refusal {
                log.warning(
                    "a host leads where we do not connect to", ["url": "\(error.url)", "refusal": "\(refusal)"])
            }
            return .later(error.reason, nil)
        }
    }

    // MARK: Browsers

    /// To all browsers of the account; delivered when one accepted it. Those that are gone are forgotten.
    private func push(
        _ message: WaitingNoticeMessage, _ payload: [UInt8], _ clients: Clients, _ connection: Connection
    ) throws -> WebhookAnswer {
        guard let pushKey = settings.pushKey else { return .refused("notices.push_key_file is not set") }
        var last = WebhookAnswer.refused("no browser takes pushes any more")
        var taken = 0
        for subscription in try NoticeStore.subscriptions(of: message.account, on: connection) {
            guard settings.pushHosts.allow(subscription.endpoint),
                let sealed = PushCipher.seal(payload, for: subscription.key, auth: subscription.auth),
                let proof = pushKey.authorization(for: subscription.endpoint, nowMs: Clock.nowMs())
            else {
                try NoticeStore.drop(subscription: subscription.endpoint, on: connection)
                continue
            }
            let answer = post(
                subscription.endpoint, sealed,
                [
                    ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"), ("TTL", "86400"),
                    ("Urgency", "high"), ("Authorization", proof),
                    // One that waits at the service is replaced by its repeat (RFC 8030, 5.4).
                    ("Topic", String(message.id.suffix(32))),
                ], clients)
            switch answer {
            case .taken: taken += 1
            case .refused where answer.isGone:
                try NoticeStore.drop(subscription: subscription.endpoint, on: connection)
            case .refused, .later: last = answer
            }
        }
        return taken > 0 ? .taken("taken for \(NoticeText.many(taken, "browser"))") : last
    }
}

/// The meaning of an answer for a message. Pure.
enum WebhookAnswer: Equatable {
    case taken(String)
    /// For good.
    case refused(String)
    /// Later; with the delay that the service asked for, if any.
    case later(String, Int64?)

    init(_ reply: Reply, nowMs: Int64) {
        let said = RetryAfter.ms(reply.headers["retry-after"], nowMs: nowMs).map { min($0, UTC.msPerDay) }
        let text = "status \(reply.status)"
        self =
            switch reply.status {
            case 200..<300: .taken(text)
            // Later (RFC 9110, RFC 8470).
            case 408, 425, 429: .later(text, said)
            case 400..<500: .refused(text)
            // Redirects are not followed: they could lead anywhere.
            default: .later(text, said)
            }
    }

    /// The subscription no longer exists (RFC 8030, 7.3).
    var isGone: Bool { self == .refused("status 404") || self == .refused("status 410") }
}

/// The relay's figures, by the names that Prometheus reads.
private struct WebhookMetrics {
    let sent, refused, putOff: Counter

    init(_ metrics: Metrics) {
        sent = metrics.counter("drover_post_sent_total", "Messages that a webhook or browser has taken.")
        refused = metrics.counter("drover_post_refused_total", "Messages that a webhook or browser has refused.")
        putOff = metrics.counter("drover_post_put_off_total", "Times a message was put off.")
    }
}

/// Accounts whose messages are under way in this process.
private final class UnderWay: Sendable {
    private let accounts = Mutex<Set<String>>([])

    /// The next message of another account. One way out looks at a time, so that two never take one's.
    func next(_ find: ([String]) throws -> WaitingNoticeMessage?) throws -> WaitingNoticeMessage? {
        try accounts.withLock { accounts in
            let message = try find(accounts.sorted())
            if let message { accounts.insert(message.account) }
            return message
        }
    }

    func end(_ account: String) { _ = accounts.withLock { $0.remove(account) } }
}
