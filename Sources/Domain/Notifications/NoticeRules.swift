internal import Alerts

/// Rules for who is told what, when, and why not. Pure: the same facts give the same notices, with the same ids.
///
/// - An opening, and an alert that became worse, follow the person's wish for its severity. What reached us long after it
///   was so, or is over already, follows the wish for backlogs.
/// - Its end is told to those who were told of its beginning, and so is what late data corrects.
/// - What is told at once is told again while nobody has acknowledged it, ever more seldom, and colleagues step in.
package struct NoticeRules: Sendable {
    /// New notices, and changed ones of those that were there.
    package typealias Decided = (new: [Notice], changed: [Notice])

    /// The time within which notices go into one message.
    var groupWaitMs: Int64
    /// There is a key under which messages wait; without, there is only mail.
    var hasKey: Bool
    /// There is a mail server.
    var hasMail: Bool
    /// Longer after it was so than this, an alert is of a backlog.
    var backlogMs: Int64 = 3_600_000

    package init(groupWaitMs: Int64 = 30_000, hasKey: Bool = true, hasMail: Bool = true) {
        self.groupWaitMs = groupWaitMs
        self.hasKey = hasKey
        self.hasMail = hasMail
    }

    /// Decides what an event means for one account.
    /// - Parameters:
    ///   - past: all notices of this alert and account.
    ///   - nowMs: when it is decided.
    package func decide(
        _ event: NoticeEvent, _ alert: NoticeAlert, _ account: NoticeAccount, relation: NoticeRelation,
        past: [Notice], nowMs: Int64
    ) -> Decided {
        // Developers see all machines that they made: told of them only where they want it.
        guard relation != .developer || account.setting.hasMadeMachines else { return ([], []) }
        let decision = NoticeDecision(alert, account, relation, nowMs: nowMs)
        let hasBegun = past.contains { $0.occasion.isBeginning }
        let isTold = past.contains { $0.occasion.isBeginning && $0.state == .told } && decision.way.manner != .never
        switch event.transition {
        case .opened: return hasBegun ? ([], []) : ([begin(.opened, round: 0, event, decision)], [])
        case .worse: return becameWorse(event, decision, past)
        case .resolved: return isTold ? ([end(decision)], []) : ([], [])
        case .revised where !hasBegun && alert.isOpen: return ([begin(.opened, round: 0, event, decision)], [])
        case .revised: return isTold ? correct(.corrected, decision, past) : ([], [])
        case .withdrawn: return isTold ? correct(.withdrawn, decision, past) : ([], [])
        }
    }

    /// Nobody is told twice of one: an opening that goes out no later says how bad it is by then, and what waits for the
    /// day's message or the end of the night gives way.
    private func becameWorse(_ event: NoticeEvent, _ decision: NoticeDecision, _ past: [Notice]) -> Decided {
        let new = begin(.worse, round: decision.alert.isCritical ? 2 : 1, event, decision)
        guard new.state == .waiting, !past.contains(where: { $0.id == new.id }) else { return ([], []) }
        let waiting = past.filter { $0.occasion.isBeginning && $0.state == .waiting }
        let openings = waiting.filter { $0.occasion != .escalated }
        guard !openings.contains(where: { $0.manner == new.manner && $0.dueMs <= new.dueMs }),
            new.manner == .atOnce || waiting.isEmpty
        else { return ([], []) }
        let reason = "told earlier than that: it became \(decision.alert.severity.rawValue)"
        return ([new], openings.map { $0.settled(.notTold, reason) })
    }

    private func end(_ decision: NoticeDecision) -> Notice {
        decision.notice(
            .resolved, decision.alert.revision, decision.way.manner, due(decision), "its opening was told")
    }

    private func correct(_ occasion: NoticeOccasion, _ decision: NoticeDecision, _ past: [Notice]) -> Decided {
        // One that waits says how it is when it goes out.
        guard !past.contains(where: { $0.occasion.isCorrection && $0.state == .waiting }) else { return ([], []) }
        let new = decision.notice(
            occasion, decision.alert.revision, decision.way.manner, due(decision),
            "late readings changed what was told")
        return past.contains { $0.id == new.id } ? ([], []) : ([new], [])
    }

    private func begin(
        _ occasion: NoticeOccasion, round: Int, _ event: NoticeEvent, _ decision: NoticeDecision
    ) -> Notice {
        let (alert, setting) = (decision.alert, decision.account.setting)
        let (manner, severity) = (decision.way.manner, alert.severity.rawValue)
        func not(_ reason: String) -> Notice {
            decision.notice(occasion, round, .never, decision.nowMs, reason, state: .notTold)
        }
        let daily = "in the message of \(PersonClock.clock(setting.dailyMinute))"
        let isOld = event.toldMs - alert.openedMs > backlogMs || (!alert.isOpen && alert.resolvedToldMs == alert.toldMs)
        switch (manner, isOld ? setting.backlog : .asUsual) {
        case (.never, _): return not("\(severity) alerts are switched off")
        case (.atOnce, .asUsual):
            return decision.notice(occasion, round, manner, due(decision), "\(severity): at once")
        case (.daily, .asUsual):
            return decision.notice(occasion, round, manner, due(decision), "\(severity): \(daily)")
        case (_, .daily):
            return decision.notice(
                occasion, round, .daily, decision.nextDaily, "it was over or hours old when it reached us: \(daily)")
        case (_, .never):
            return not("it was over or hours old when it reached us, and such alerts are switched off")
        }
    }

    private func due(_ decision: NoticeDecision) -> Int64 {
        decision.way.manner == .daily ? decision.nextDaily : decision.nowMs + groupWaitMs
    }
}
