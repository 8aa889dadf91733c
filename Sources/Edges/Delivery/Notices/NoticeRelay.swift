internal import Basics
internal import Codecs
package import Crypto
internal import Formats
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
        (self.conninfo, self.hasMail, self.codeKey) = (conninfo, hasMail, codeKey)
        (self.site, self.groupWaitMs) = (site, groupWaitMs)
    }
}

/// Decides who is told of which alert, and makes the messages. Each step is a transaction that removes its input, so a crash loses and
/// doubles nothing. Any number of relays may run; one at a time decides.
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
        (self.settings, self.log) = (settings, log)
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
        try connection.transaction { try NoticeStore.takeTurn(on: connection) ? body() : nil }
    }

    // MARK: From events to notices

    /// False: there were no events.
    private func decide(on connection: Connection) throws -> Bool {
        let events = try NoticeStore.takeEvents(rowsMax: NoticeRelay.eventsMax, on: connection)
        guard !events.isEmpty else { return false }
        let ids = Array(Set(events.map(\.alert)))
        let alerts = try NoticeStore.alerts(ids, on: connection)
        let people = Dictionary(grouping: try NoticeStore.people(near: ids, on: connection), by: \.alert)
        let accounts = try NoticeStore.accounts(
            Array(Set(people.values.joined().map(\.account))), on: connection)
        var past = Dictionary(grouping: try NoticeStore.notices(of: ids, on: connection)) {
            "\($0.alert)\n\($0.account)"
        }
        var (new, changed): ([NoticeRow], [String: NoticeRow]) = ([], [:])
        let nowMs = Clock.nowMs()
        for event in events {
            guard let alert = alerts[event.alert] else { continue }
            for person in people[event.alert] ?? [] {
                guard let account = accounts[person.account] else { continue }
                let key = "\(alert.id)\n\(account.id)"
                let decided = rules.decide(
                    event, alert, account, relation: person.relation, past: past[key] ?? [], nowMs: nowMs)
                let ended = Dictionary(uniqueKeysWithValues: decided.changed.map { ($0.id, $0) })
                past[key] = (past[key] ?? []).map { ended[$0.id] ?? $0 } + decided.new
                new += decided.new
                changed.merge(ended) { $1 }
            }
        }
        // One that is new and changed at once is written as it ended.
        try NoticeStore.add(new.map { changed.removeValue(forKey: $0.id) ?? $0 }, on: connection)
        try NoticeStore.change(Array(changed.values), on: connection)
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
        let sees = Set(people.filter { $0.account == id }.map(\.alert))
        let nowMs = Clock.nowMs()
        let from = NoticeRules.allowedFrom(
            try NoticeStore.lastMessages(of: id, sinceMs: nowMs - NoticeRules.burstMs, on: connection))
        var (lines, changed, follows): ([NoticeLine], [NoticeRow], [NoticeRow]) = ([], [], [])
        for notice in due {
            guard sees.contains(notice.alert) || alerts[notice.alert] == nil else {
                changed.append(notice.settled("not_told", "this account does not see the vehicle or such alerts"))
                continue
            }
            switch rules.fate(notice, alerts[notice.alert], account, nowMs: nowMs) {
            case .not(let reason): changed.append(notice.settled("not_told", reason))
            case .wait(let untilMs, let reason): changed.append(notice.waiting(until: untilMs, reason))
            case .tell where notice.manner == "at_once" && from > nowMs:
                changed.append(notice.waiting(until: from, "many messages in five minutes: together with what follows"))
            case .tell:
                changed.append(notice.settled("told", notice.reason))
                lines.append(NoticeLine(notice: notice, alert: alerts[notice.alert]!))
                follows += rules.follows(notice, alerts[notice.alert]!, account!, nowMs: nowMs)
            }
        }
        for isDaily in [false, true] {
            let ours = lines.filter { ($0.notice.manner == "daily") == isDaily }
            for channel in ["mail", "push", "webhook"] {
                let theirs = ours.filter { rules.channels($0.alert, account!).contains(channel) }
                guard !theirs.isEmpty else { continue }
                try send(theirs, to: account!, isDaily: isDaily, channel, nowMs: nowMs, on: connection)
            }
        }
        try NoticeStore.change(changed, on: connection)
        try NoticeStore.add(follows, on: connection)
        metrics.told.add(lines.count)
        return true
    }

    private func send(
        _ lines: [NoticeLine], to account: NoticeAccount, isDaily: Bool, _ channel: String, nowMs: Int64,
        on connection: Connection
    ) throws {
        let notices = lines.map(\.notice.id).sorted()
        let of = ([account.id, channel] + notices).joined(separator: "\u{0}")
        let id = "notice-" + Hex.text(Secrets.digest(Array(of.utf8)).prefix(16))
        let isAsking = lines.contains {
            $0.alert.isOpen && $0.alert.kind == "machine" && $0.alert.acknowledgedBy == nil
        }
        let token = settings.site.isEmpty || !isAsking ? nil : settings.codeKey?.link("acknowledge", id)
        let text = NoticeText(
            lines, account, isDaily: isDaily, site: settings.site,
            link: token.map { "\(settings.site)/notices/acknowledge?link=\($0.text)" }, nowMs: nowMs)
        var payload: [UInt8]?
        switch channel {
        case "mail": try mail(id, text, lines, account, nowMs: nowMs, on: connection)
        // Without a key they are no channels.
        case "push": payload = settings.codeKey?.seal(Array(PushText.json(id, text, site: settings.site).utf8))
        default: payload = settings.codeKey?.seal(Array(text.json(id: id).rendered().utf8))
        }
        try NoticeStore.add(
            NewNoticeMessage(
                id: id, account: account.id, channel: channel, manner: isDaily ? "daily" : "at_once", payload: payload,
                link: token?.digest, linkExpiresMs: nowMs + NoticeRelay.linkMs, notices: notices), on: connection)
        metrics.messages.add()
    }

    /// Sends by mail what a webhook or all browsers refused, unless it was mailed anyway. False: there was none.
    private func mailRefused(on connection: Connection) throws -> Bool {
        guard let refused = try NoticeStore.nextRefused(on: connection) else { return false }
        let account = try NoticeStore.accounts([refused.account], on: connection)[refused.account]
        guard settings.hasMail, let account, account.isEnabled, account.mail != nil, !account.setting.isMailEnded,
            !refused.notices.isEmpty
        else { return true }
        let alerts = try NoticeStore.alerts(Array(Set(refused.notices.map(\.alert))), on: connection)
        let lines = refused.notices.compactMap { notice in
            alerts[notice.alert].map { NoticeLine(notice: notice, alert: $0) }
        }
        guard !lines.isEmpty else { return true }
        log.warning("a message that was refused is told by mail", ["message_id": "\(refused.message)"])
        try send(
            lines, to: account, isDaily: refused.manner == "daily", "mail", nowMs: Clock.nowMs(), on: connection)
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

/// The content of a push (Sources/People/Web/Assets/push.js). At most 3 KB: an encrypted push has at most 4 (RFC 8030, 7.2).
enum PushText {
    static func json(_ id: String, _ text: NoticeText, site: String) -> String {
        JSONValue.object([
            ("id", .text(id)), ("title", .text(String(text.subject.prefix(200)))),
            ("body", .text(String(text.short.prefix(500)))), ("open", .text("/alerts")),
        ]).rendered()
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
