internal import Fleet

/// A notice with the alert as it stands when it is told.
package struct NoticeLine: Sendable {
    package let notice: Notice
    package let alert: NoticeAlert

    package init(notice: Notice, alert: NoticeAlert) {
        self.notice = notice
        self.alert = alert
    }

    /// Its reader can say that they take care of it.
    package var isAcknowledgeable: Bool { alert.isOpen && alert.acknowledgedBy == nil }
}

/// The lines of one message of one channel.
package struct NoticeBundle: Sendable {
    package let isDaily: Bool
    package let channel: NoticeChannel
    package let lines: [NoticeLine]

    package init(isDaily: Bool, channel: NoticeChannel, lines: [NoticeLine]) {
        self.isDaily = isDaily
        self.channel = channel
        self.lines = lines
    }
}

/// The delivery of notices that are due for one account.
package struct NoticeDelivery: Sendable {
    /// Notices that were there, as they are now.
    package var changed: [Notice] = []
    /// Repeats and escalations.
    package var follows: [Notice] = []
    package var lines: [NoticeLine] = []
    package var bundles: [NoticeBundle] = []
}

extension NoticeRules {
    /// A storm is told in few messages: five in five minutes, and what comes beyond waits until the oldest is that old.
    package static let burst = 5
    package static let burstMs: Int64 = 300_000
    /// - Parameter last: when messages went to the account, the latest first.
    package static func allowedFrom(_ last: [Int64]) -> Int64 { last.count < burst ? 0 : last[burst - 1] + burstMs }

    /// - Parameters:
    ///   - alerts: as they stand now; one that is missing is not there any more.
    ///   - seen: those that the account may see.
    ///   - lastMessages: when messages of alerts at once went to it, the latest first.
    package func deliver(
        _ due: [Notice], to account: NoticeAccount?, alerts: [String: NoticeAlert], seen: Set<String>,
        lastMessages: [Int64], nowMs: Int64
    ) -> NoticeDelivery {
        let fromMs = NoticeRules.allowedFrom(lastMessages)
        var delivery = NoticeDelivery()
        for notice in due {
            let alert = alerts[notice.alert]
            guard alert == nil || seen.contains(notice.alert) else {
                let reason = "this account does not see the vehicle or such alerts"
                delivery.changed.append(notice.settled(.notTold, reason))
                continue
            }
            switch fate(notice, alert, account, nowMs: nowMs) {
            case .not(let reason): delivery.changed.append(notice.settled(.notTold, reason))
            case .wait(let untilMs, let reason): delivery.changed.append(notice.waiting(until: untilMs, reason))
            case .tell where notice.manner == .atOnce && fromMs > nowMs:
                let reason = "many messages in five minutes: together with what follows"
                delivery.changed.append(notice.waiting(until: fromMs, reason))
            case .tell:
                delivery.changed.append(notice.settled(.told, notice.reason))
                // Whose fate it is to be told has both.
                delivery.lines.append(NoticeLine(notice: notice, alert: alert!))
                delivery.follows += follows(notice, alert!, account!, nowMs: nowMs)
            }
        }
        if let account { delivery.bundles = bundles(delivery.lines, account) }
        return delivery
    }

    /// The messages: lines that are told at once and the day's go apart, each by the ways of the alerts' severity.
    private func bundles(_ lines: [NoticeLine], _ account: NoticeAccount) -> [NoticeBundle] {
        [false, true].flatMap { isDaily in
            let ours = lines.filter { ($0.notice.manner == .daily) == isDaily }
            return NoticeChannel.allCases.compactMap { channel in
                let theirs = ours.filter { channels($0.alert, account).contains(channel) }
                return theirs.isEmpty ? nil : NoticeBundle(isDaily: isDaily, channel: channel, lines: theirs)
            }
        }
    }
}
