internal import Basics
package import Crypto
internal import Formats
internal import Notifications
internal import Postgres
internal import Presentation
internal import Storage
package import Telemetry
internal import Threads

package struct NoticeSettings: Sendable {
    package var conninfo: String
    /// There is a mail server.
    package var hasMail: Bool
    /// Seals waiting messages and makes links; nil: no links, and only mail.
    package var codeKey: CodeKey?
    /// The public address of the pages, without a slash at the end; empty: not known, so no links.
    package var site: String
    /// Alerts within this time go into one message.
    package var groupWaitMs: Int64

    package init(conninfo: String, hasMail: Bool, codeKey: CodeKey?, site: String, groupWaitMs: Int64) {
        self.conninfo = conninfo
        self.hasMail = hasMail
        self.codeKey = codeKey
        self.site = site
        self.groupWaitMs = groupWaitMs
    }
}

/// Reads what there is to tell, asks `NoticeRules`, and writes what they say and the messages. Each step is a transaction that removes its input, so a
/// crash loses and doubles nothing. Any number of relays may run; one at a time decides.
package final class NoticeRelay {
    private static let backOffMs: ClosedRange<Int64> = 1_000...60_000
    private static let pollMs: Int64 = 1_000
    private static let eventsMax: Int64 = 500
    private static let linesMax: Int64 = 2_000
    private static let linkMs: Int64 = 3 * UTC.msPerDay
    /// The message is useless after this.
    private static let expiresMs: Int64 = 7 * UTC.msPerDay

    private let settings: NoticeSettings
    private let rules: NoticeRules
    private let log: Log
    private let metrics: NoticeMetrics
    private let retry: RetryLoop

    package init(_ settings: NoticeSettings, metrics: Metrics, log: Log) {
        self.settings = settings
        self.log = log
        rules = NoticeRules(
            groupWaitMs: settings.groupWaitMs, hasKey: settings.codeKey != nil, hasMail: settings.hasMail)
        self.metrics = NoticeMetrics(metrics)
        retry = RetryLoop(
            NoticeRelay.backOffMs, cannot: "nobody is told of alerts now; all of it is kept",
            again: "people are told of alerts again", log: log)
    }

    /// Returns when `shouldStop` says so.
    package func run(shouldStop: () -> Bool) {
        // Nothing but the database is asked.
        retry.run(shouldStop: shouldStop, kind: { _ in "database" }) { try serve(shouldStop) }
    }

    private func serve(_ shouldStop: () -> Bool) throws {
        let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-notices")
        try connection.listen(to: NoticeStore.channel)
        while !shouldStop() {
            var isBusy = try turn(connection) { try decide(on: connection) } ?? false
            for account in try NoticeStore.due(on: connection) where !shouldStop() {
                isBusy = try turn(connection) { try tell(account, on: connection) } ?? false || isBusy
            }
            isBusy = try turn(connection) { try mailRefused(on: connection) } ?? false || isBusy
            retry.isWell()
            if !isBusy { try connection.waitToBeTold(atMostMs: NoticeRelay.pollMs, shouldStop) }
        }
    }

    /// Nil: it is another relay's turn.
    private func turn<R>(_ connection: Connection, _ body: () throws -> R) throws -> R? {
        try connection.transaction { try NoticeStore.acquireTurn(on: connection) ? body() : nil }
    }

    // MARK: From events to notices

    /// False: there were no events.
    private func decide(on connection: Connection) throws -> Bool {
        let events = try NoticeStore.dequeueEvents(rowsMax: NoticeRelay.eventsMax, on: connection)
        guard !events.isEmpty else { return false }
        let ids = Array(Set(events.map(\.alert)))
        let people = try NoticeStore.people(near: ids, on: connection)
        let facts = NoticeFacts(
            alerts: try NoticeStore.alerts(ids, on: connection),
            accounts: try NoticeStore.accounts(Array(Set(people.map(\.account))), on: connection), people: people,
            past: try NoticeStore.notices(of: ids, on: connection))
        let (new, changed) = rules.decide(events, facts, nowMs: Clock.nowMs())
        try NoticeStore.add(new, on: connection)
        try NoticeStore.change(changed, on: connection)
        metrics.decided.add(new.count)
        return true
    }

    // MARK: From notices to messages

    /// False: nothing was due any more.
    private func tell(_ id: String, on connection: Connection) throws -> Bool {
        let due = try NoticeStore.due(for: id, rowsMax: NoticeRelay.linesMax, on: connection)
        guard !due.isEmpty else { return false }
        let alerts = try NoticeStore.alerts(Array(Set(due.map(\.alert))), on: connection)
        let account = try NoticeStore.accounts([id], on: connection)[id]
        let people = try NoticeStore.people(near: Array(alerts.keys), on: connection)
        let nowMs = Clock.nowMs()
        let delivery = rules.deliver(
            due, to: account, alerts: alerts, seen: Set(people.filter { $0.account == id }.map(\.alert)),
            lastMessages: try NoticeStore.lastMessages(of: id, sinceMs: nowMs - NoticeRules.burstMs, on: connection),
            nowMs: nowMs)
        if let account {
            for bundle in delivery.bundles { try send(bundle, to: account, nowMs: nowMs, on: connection) }
        }
        try NoticeStore.change(delivery.changed, on: connection)
        try NoticeStore.add(delivery.follows, on: connection)
        metrics.told.add(delivery.lines.count)
        return true
    }

    private func send(
        _ bundle: NoticeBundle, to account: NoticeAccount, nowMs: Int64, on connection: Connection
    ) throws {
        let notices = bundle.lines.map(\.notice.id).sorted()
        let of = ([account.id, bundle.channel.rawValue] + notices).joined(separator: "\u{0}")
        let id = "notice-" + Hex.text(Secrets.digest(Array(of.utf8)).prefix(16))
        let isAsking = bundle.lines.contains(where: \.isAcknowledgeable)
        let token = settings.site.isEmpty || !isAsking ? nil : settings.codeKey?.link("acknowledge", id)
        let text = NoticeText(
            bundle.lines, account, isDaily: bundle.isDaily, site: settings.site,
            link: token.map { "\(settings.site)/notices/acknowledge?link=\($0.text)" }, nowMs: nowMs)
        var payload: [UInt8]?
        switch bundle.channel {
        case .mail: try mail(id, text, bundle.lines, account, nowMs: nowMs, on: connection)
        // Without a key they are no channels.
        case .push: payload = settings.codeKey?.seal(Array(text.pushJSON(id: id).rendered().utf8))
        case .webhook: payload = settings.codeKey?.seal(Array(text.json(id: id).rendered().utf8))
        }
        try NoticeStore.add(
            NewNoticeMessage(
                id: id, account: account.id, channel: bundle.channel, manner: bundle.isDaily ? .daily : .atOnce,
                payload: payload, link: token?.digest, linkExpiresMs: nowMs + NoticeRelay.linkMs, notices: notices),
            on: connection)
        metrics.messages.add()
    }

    /// Sends by mail what a webhook or all browsers refused, unless it was mailed anyway. False: there was none.
    private func mailRefused(on connection: Connection) throws -> Bool {
        guard let refused = try NoticeStore.nextRefused(on: connection) else { return false }
        let account = try NoticeStore.accounts([refused.account], on: connection)[refused.account]
        guard let account, account.isEnabled, rules.mayMail(account), !refused.notices.isEmpty else { return true }
        let alerts = try NoticeStore.alerts(Array(Set(refused.notices.map(\.alert))), on: connection)
        let lines = refused.notices.compactMap { notice in
            alerts[notice.alert].map { NoticeLine(notice: notice, alert: $0) }
        }
        guard !lines.isEmpty else { return true }
        log.warning("a message that was refused is told by mail", ["message_id": "\(refused.message)"])
        try send(
            NoticeBundle(isDaily: refused.manner == .daily, channel: .mail, lines: lines), to: account,
            nowMs: Clock.nowMs(), on: connection)
        return true
    }

    private func mail(
        _ id: String, _ text: NoticeText, _ lines: [NoticeLine], _ account: NoticeAccount, nowMs: Int64,
        on connection: Connection
    ) throws {
        func kept(_ text: String) -> [UInt8] { settings.codeKey?.seal(Array(text.utf8)) ?? Array(text.utf8) }
        var mail = NewMail(
            id: id, recipient: account.mail!, subject: text.subject, body: kept(text.text),
            expiresMs: nowMs + NoticeRelay.expiresMs)
        mail.html = kept(text.html.markup)
        mail.isSealed = settings.codeKey != nil
        mail.refersTo = try NoticeStore.mails(about: lines.map(\.alert.id), to: account.id, on: connection)
        if !settings.site.isEmpty, let token = settings.codeKey?.link("end mail", account.id) {
            mail.leaveURL = kept("\(settings.site)/notices/end-mail?account=\(account.id)&link=\(token.text)")
        }
        try MailStore.add(mail, on: connection)
    }
}

/// The relay's figures, by the names that Prometheus reads.
private struct NoticeMetrics {
    let decided, told, messages: Counter

    init(_ metrics: Metrics) {
        decided = metrics.counter("drover_notices_decided_total", "Notices decided: who is told of an alert, or not.")
        told = metrics.counter("drover_notices_told_total", "Notices put into messages.")
        messages = metrics.counter("drover_notice_messages_total", "Messages made of notices, one a channel.")
    }
}
