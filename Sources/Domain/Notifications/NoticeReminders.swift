internal import Alerts
internal import Basics

/// Notices that follow when something was told.
extension NoticeRules {
    /// Repeats, and colleagues who step in. Only of what is told at once and still open.
    package func follows(
        _ notice: Notice, _ alert: NoticeAlert, _ account: NoticeAccount, nowMs: Int64
    ) -> [Notice] {
        guard notice.manner == .atOnce, alert.isOpen, alert.acknowledgedBy == nil,
            notice.occasion.asksToAct, notice.occasion != .escalated
        else { return [] }
        let decision = NoticeDecision(alert, account, notice.relation, nowMs: nowMs)
        return repeats(notice, decision) + escalations(notice, decision)
    }

    private func repeats(_ notice: Notice, _ decision: NoticeDecision) -> [Notice] {
        let first = decision.account.setting.repeatMin
        guard first > 0 else { return [] }
        let round = notice.occasion == .repeated ? notice.round + 1 : 1
        let afterMin = NoticeRules.repeatMin(
            first, round: round, ageMs: decision.nowMs - decision.alert.openedMs)
        let dueMs = decision.nowMs + Int64(afterMin) * 60_000
        return [decision.notice(.repeated, round, .atOnce, dueMs, "nobody has acknowledged it yet")]
    }

    private func escalations(_ notice: Notice, _ decision: NoticeDecision) -> [Notice] {
        guard notice.occasion != .repeated, decision.alert.isCritical else { return [] }
        return decision.account.steps.enumerated().map { index, step in
            decision.escalation(index + 1, to: step.colleague, afterMin: step.afterMin)
        }
    }

    /// Twice as long each time, up to a day; of an alert that is older than a week, once a week.
    package static func repeatMin(_ first: Int, round: Int, ageMs: Int64) -> Int {
        if ageMs > 7 * UTC.msPerDay { return max(first, 7 * 1_440) }
        return max(first, min(1_440, first << min(round - 1, 10)))
    }
}
