internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
package import Storage

/// Decides who is told what and when, and why not. Pure: the same facts give the same notices, with the same ids.
///
/// - An opening, and an alert that became worse, follow the person's wish for its severity. What reached us long after it
///   was so, or is over already, follows the wish for backlogs.
/// - The end is told to everybody who was told of the beginning, and so are corrections by late data.
/// - Immediate notices are repeated at growing intervals until somebody acknowledges them, and colleagues step in.
package struct NoticeRules {
    /// Alerts within this time go into one message.
    var groupWaitMs: Int64
    /// There is a key under which messages wait; without, there is only mail.
    var hasKey: Bool
    /// There is a mail server.
    var hasMail: Bool
    /// Longer after it was so than this, an alert is of a backlog.
    var backlogMs: Int64 = 3_600_000

    package init(groupWaitMs: Int64 = 30_000, hasKey: Bool = true, hasMail: Bool = true) {
        (self.groupWaitMs, self.hasKey, self.hasMail) = (groupWaitMs, hasKey, hasMail)
    }

    // MARK: What an event means

    /// New notices, and changed ones of `past`, for one account.
    /// - Parameters:
    ///   - past: all notices of this alert and account.
    ///   - nowMs: when it is decided.
    package func decide(
        _ event: NoticeEvent, _ alert: NoticeAlert, _ account: NoticeAccount, relation: String, past: [NoticeRow],
        nowMs: Int64
    ) -> (new: [NoticeRow], changed: [NoticeRow]) {
        // Developers see all machines that they made: told of them only where they want it.
        guard relation != "developer" || account.setting.hasMadeMachines else { return ([], []) }
        let decision = Decision(alert, account, relation, nowMs: nowMs)
        let beginnings = past.filter { ["opened", "worse", "escalated"].contains($0.occasion) }
        let isTold = beginnings.contains { $0.state == "told" }
        let waiting = beginnings.filter { $0.state == "waiting" }
        switch event.transition {
        case "opened" where beginnings.isEmpty, "revised" where beginnings.isEmpty && alert.isOpen:
            return ([begin("opened", round: 0, event, decision)], [])
        case "worse":
            let new = begin("worse", round: alert.isCritical ? 2 : 1, event, decision)
            guard !past.contains(where: { $0.id == new.id }) else { return ([], []) }
            guard new.state == "waiting" else { return ([], []) }
            // Nobody is told twice of one alert: an opening that is not sent yet tells its present severity, and replaces what waits for
            // the day's message or the end of the night.
            let openings = waiting.filter { $0.occasion != "escalated" }
            guard !openings.contains(where: { $0.manner == new.manner && $0.dueMs <= new.dueMs }) else {
                return ([], [])
            }
            guard new.manner == "at_once" || waiting.isEmpty else { return ([], []) }
            return (
                [new],
                openings.map { $0.settled("not_told", "told earlier than that: it became \(alert.severity)") }
            )
        case "resolved" where isTold && decision.way.manner != "never":
            return (
                [
                    decision.notice(
                        "resolved", alert.revision, decision.way.manner, due(decision), "its opening was told")
                ], []
            )
        case "revised" where isTold && decision.way.manner != "never",
            "withdrawn" where isTold && decision.way.manner != "never":
            let occasion = event.transition == "revised" ? "corrected" : "withdrawn"
            // One that waits says how it is when it goes out.
            guard !past.contains(where: { ["corrected", "withdrawn"].contains($0.occasion) && $0.state == "waiting" })
            else { return ([], []) }
            let new = decision.notice(
                occasion, alert.revision, decision.way.manner, due(decision), "late readings changed what was told")
            return past.contains { $0.id == new.id } ? ([], []) : ([new], [])
        default: return ([], [])
        }
    }

    private func begin(_ occasion: String, round: Int, _ event: NoticeEvent, _ decision: Decision) -> NoticeRow {
        let (alert, setting) = (decision.alert, decision.account.setting)
        func not(_ reason: String) -> NoticeRow {
            decision.notice(occasion, round, "never", decision.nowMs, reason, state: "not_told")
        }
        guard decision.way.manner != "never" else { return not("\(alert.severity) alerts are switched off") }
        let isOld = event.toldMs - alert.openedMs > backlogMs || (!alert.isOpen && alert.resolvedToldMs == alert.toldMs)
        guard isOld, setting.backlog != "as_usual" else {
            let reason =
                decision.way.manner == "daily"
                ? "\(alert.severity): in the message of \(PersonClock.clock(setting.dailyMinute))"
                : "\(alert.severity): at once"
            return decision.notice(occasion, round, decision.way.manner, due(decision), reason)
        }
        guard setting.backlog == "daily" else {
            return not("it was over or hours old when it reached us, and such alerts are switched off")
        }
        return decision.notice(
            occasion, round, "daily", decision.nextDaily,
            "it was over or hours old when it reached us: in the message of \(PersonClock.clock(setting.dailyMinute))")
    }

    private func due(_ decision: Decision) -> Int64 {
        decision.way.manner == "daily" ? decision.nextDaily : decision.nowMs + groupWaitMs
    }

    // MARK: When it is due

    package enum Fate: Equatable {
        case tell
        /// Not now.
        case wait(untilMs: Int64, String)
        case not(String)
    }

    /// The fate of a due notice, by the present state of the alert and the person.
    package func fate(_ notice: NoticeRow, _ alert: NoticeAlert?, _ account: NoticeAccount?, nowMs: Int64) -> Fate {
        guard let account, account.isEnabled else { return .not("the account is disabled") }
        guard let alert else { return .not("the alert is not there any more") }
        let asksToAct = ["opened", "worse", "repeated", "escalated"].contains(notice.occasion)
        if asksToAct, alert.state == "withdrawn" { return .not("late readings took it back before it was told") }
        if asksToAct, alert.acknowledgedBy == account.id { return .not("you have acknowledged it") }
        if ["repeated", "escalated"].contains(notice.occasion) {
            guard alert.isOpen else { return .not("it is over") }
            if let by = alert.acknowledgedBy { return .not("\(by) has acknowledged it") }
        }
        if asksToAct, let until = alert.silencedUntilMs, until > nowMs {
            guard alert.isOpen else { return .not("it was silenced by \(alert.silencedBy ?? "somebody") and is over") }
            return .wait(untilMs: until, "silenced by \(alert.silencedBy ?? "somebody")")
        }
        guard !channels(alert, account).isEmpty else {
            return .not("there is no way to tell it: see the channels in the settings")
        }
        let clock = PersonClock(zone: account.zone)
        let isHeld = !alert.isCritical || account.setting.isQuietForCritical
        if notice.manner == "at_once", isHeld, let until = clock.quietUntil(account.setting.quiet, at: nowMs) {
            return .wait(untilMs: until, "quiet hours")
        }
        return .tell
    }

    /// The ways that an account is told of an alert of this severity.
    func channels(_ alert: NoticeAlert, _ account: NoticeAccount) -> Set<String> {
        let way = alert.isCritical ? account.setting.critical : account.setting.warning
        return way.channels.filter { channel in
            switch channel {
            case "mail": hasMail && account.mail != nil && !account.setting.isMailEnded
            case "push": account.pushes > 0 && hasKey
            default: account.setting.webhookURL != nil && hasKey
            }
        }
    }

    /// A storm becomes few messages: five in five minutes, and later ones wait until the oldest is that old.
    static let burst = 5
    static let burstMs: Int64 = 300_000
    /// - Parameter last: when messages went to the account, the latest first.
    package static func allowedFrom(_ last: [Int64]) -> Int64 { last.count < burst ? 0 : last[burst - 1] + burstMs }

    // MARK: What follows when it was told

    /// Repeats and escalations to colleagues, for immediate notices that are still open.
    func follows(_ notice: NoticeRow, _ alert: NoticeAlert, _ account: NoticeAccount, nowMs: Int64) -> [NoticeRow] {
        guard notice.manner == "at_once", alert.isOpen, alert.acknowledgedBy == nil,
            ["opened", "worse", "repeated"].contains(notice.occasion)
        else { return [] }
        let decision = Decision(alert, account, notice.relation, nowMs: nowMs)
        var new: [NoticeRow] = []
        let round = notice.occasion == "repeated" ? notice.round + 1 : 1
        if account.setting.repeatMin > 0 {
            let afterMin = NoticeRules.repeatMin(account.setting.repeatMin, round: round, ageMs: nowMs - alert.openedMs)
            new.append(
                decision.notice(
                    "repeated", round, "at_once", nowMs + Int64(afterMin) * 60_000, "nobody has acknowledged it yet"))
        }
        guard notice.occasion != "repeated", alert.isCritical else { return new }
        for (index, step) in account.steps.enumerated() {
            new.append(
                NoticeRules.notice(
                    alert, account: step.colleague, "escalated", index + 1, relation: "steps in for \(account.id)",
                    "at_once", dueMs: nowMs + Int64(step.afterMin) * 60_000, nowMs: nowMs,
                    "not acknowledged within \(step.afterMin) minutes"))
        }
        return new
    }

    /// Twice as long each time, up to a day; of an alert that is older than a week, once a week.
    package static func repeatMin(_ first: Int, round: Int, ageMs: Int64) -> Int {
        if ageMs > 7 * UTC.msPerDay { return max(first, 7 * 1_440) }
        return max(first, min(1_440, first << min(round - 1, 10)))
    }

    // MARK: Rows

    /// The subject of a decision.
    private struct Decision {
        let alert: NoticeAlert
        let account: NoticeAccount
        let relation: String
        let nowMs: Int64
        var way: NoticeSetting.Way { alert.isCritical ? account.setting.critical : account.setting.warning }
        var nextDaily: Int64 {
            PersonClock(zone: account.zone).next(minute: account.setting.dailyMinute, after: nowMs)
        }

        init(_ alert: NoticeAlert, _ account: NoticeAccount, _ relation: String, nowMs: Int64) {
            (self.alert, self.account, self.relation, self.nowMs) = (alert, account, relation, nowMs)
        }

        func notice(
            _ occasion: String, _ round: Int, _ manner: String, _ dueMs: Int64, _ reason: String,
            state: String = "waiting"
        ) -> NoticeRow {
            NoticeRules.notice(
                alert, account: account.id, occasion, round, relation: relation, manner, dueMs: dueMs, nowMs: nowMs,
                reason, state: state)
        }
    }

    private static func notice(
        _ alert: NoticeAlert, account: String, _ occasion: String, _ round: Int, relation: String, _ manner: String,
        dueMs: Int64, nowMs: Int64, _ reason: String, state: String = "waiting"
    ) -> NoticeRow {
        NoticeRow(
            id: "n-"
                + Hex.text(
                    Secrets.digest(Array([alert.id, account, occasion, "\(round)"].joined(separator: "\u{0}").utf8))
                        .prefix(16)),
            alert: alert.id, account: account, occasion: occasion, round: round, vehicle: alert.vehicle,
            relation: relation, manner: manner, state: state, reason: reason, decidedMs: nowMs, dueMs: dueMs)
    }
}

extension NoticeRow {
    /// The state when nothing more will come of it.
    package func settled(_ state: String, _ reason: String) -> NoticeRow {
        var row = self
        (row.state, row.reason) = (state, reason)
        return row
    }

    package func waiting(until ms: Int64, _ reason: String) -> NoticeRow {
        var row = self
        (row.dueMs, row.reason) = (ms, reason)
        return row
    }
}
