internal import Alerts
internal import Basics
internal import Crypto

/// A decision whether one account is told of an alert, and the notices that come of it.
struct NoticeDecision {
    let alert: NoticeAlert
    let account: NoticeAccount
    let relation: NoticeRelation
    let nowMs: Int64

    var way: NoticeSetting.Way { account.setting.way(alert.severity) }
    var nextDaily: Int64 { PersonClock(zone: account.zone).next(minute: account.setting.dailyMinute, after: nowMs) }

    init(_ alert: NoticeAlert, _ account: NoticeAccount, _ relation: NoticeRelation, nowMs: Int64) {
        self.alert = alert
        self.account = account
        self.relation = relation
        self.nowMs = nowMs
    }

    func notice(
        _ occasion: NoticeOccasion, _ round: Int, _ manner: NoticeManner, _ dueMs: Int64, _ reason: String,
        state: NoticeState = .waiting
    ) -> Notice {
        notice(to: account.id, relation, occasion, round, manner, dueMs, reason, state: state)
    }

    /// To a colleague who steps in.
    func escalation(_ number: Int, to colleague: String, afterMin: Int) -> Notice {
        notice(
            to: colleague, .stepsIn(for: account.id), .escalated, number, .atOnce, nowMs + Int64(afterMin) * 60_000,
            "not acknowledged within \(afterMin) minutes")
    }

    private func notice(
        to account: String, _ relation: NoticeRelation, _ occasion: NoticeOccasion, _ round: Int,
        _ manner: NoticeManner, _ dueMs: Int64, _ reason: String, state: NoticeState = .waiting
    ) -> Notice {
        Notice(
            id: NoticeDecision.id([alert.id, account, occasion.rawValue, "\(round)"]), alert: alert.id,
            account: account, occasion: occasion, round: round, vehicle: alert.vehicle, relation: relation,
            manner: manner, state: state, reason: reason, decidedMs: nowMs, dueMs: dueMs)
    }

    /// The same each time it is decided: what is there already is not told again.
    private static func id(_ parts: [String]) -> String {
        "n-" + Hex.text(Secrets.digest(Array(parts.joined(separator: "\u{0}").utf8)).prefix(16))
    }
}
