internal import Alerts

/// Whether a notice that is due is told.
package enum NoticeFate: Equatable, Sendable {
    case tell
    /// Not now.
    case wait(untilMs: Int64, reason: String)
    case not(String)
}

extension NoticeRules {
    package typealias Fate = NoticeFate

    /// As the alert and the person stand now.
    package func fate(_ notice: Notice, _ alert: NoticeAlert?, _ account: NoticeAccount?, nowMs: Int64) -> NoticeFate {
        guard let account, account.isEnabled else { return .not("the account is disabled") }
        guard let alert else { return .not("the alert is not there any more") }
        if let fate = pointless(notice, alert, account, nowMs: nowMs) { return fate }
        guard !channels(alert, account).isEmpty else {
            return .not("there is no way to tell it: see the channels in the settings")
        }
        return quiet(notice, alert, account, nowMs: nowMs) ?? .tell
    }

    /// Nobody needs to do anything, or somebody does it already, or nobody wants to hear of it for a while; nil: it stands.
    private func pointless(
        _ notice: Notice, _ alert: NoticeAlert, _ account: NoticeAccount, nowMs: Int64
    ) -> NoticeFate? {
        guard notice.occasion.asksToAct else { return nil }
        if alert.state == .withdrawn { return .not("late readings took it back before it was told") }
        if alert.acknowledgedBy == account.id { return .not("you have acknowledged it") }
        if notice.occasion.isReminder {
            guard alert.isOpen else { return .not("it is over") }
            if let by = alert.acknowledgedBy { return .not("\(by) has acknowledged it") }
        }
        guard let until = alert.silencedUntilMs, until > nowMs else { return nil }
        let silenced = "silenced by \(alert.silencedBy ?? "somebody")"
        return alert.isOpen
            ? .wait(untilMs: until, reason: silenced) : .not("it was \(silenced) and is over")
    }

    private func quiet(
        _ notice: Notice, _ alert: NoticeAlert, _ account: NoticeAccount, nowMs: Int64
    ) -> NoticeFate? {
        guard notice.manner == .atOnce, !alert.isCritical || account.setting.isQuietForCritical else { return nil }
        return PersonClock(zone: account.zone).quietUntil(account.setting.quiet, at: nowMs)
            .map { .wait(untilMs: $0, reason: "quiet hours") }
    }

    /// The ways that an account is told of an alert of this severity.
    package func channels(_ alert: NoticeAlert, _ account: NoticeAccount) -> Set<NoticeChannel> {
        account.setting.way(alert.severity).channels.filter { channel in
            switch channel {
            case .mail: mayMail(account)
            case .push: account.pushes > 0 && hasKey
            case .webhook: account.setting.webhookURL != nil && hasKey
            }
        }
    }

    package func mayMail(_ account: NoticeAccount) -> Bool {
        hasMail && account.mail != nil && !account.setting.isMailEnded
    }
}
