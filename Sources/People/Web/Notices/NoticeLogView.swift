internal import Notifications
internal import Presentation
internal import Storage

/// What became of each notice: told, waiting until when, or not, and why.
struct NoticeLogView {
    let view: NoticeView

    private var caller: PageCaller { view.caller }

    var html: HTML {
        let headers: [HTML.Header] =
            (view.isAll ? [.text(t("Account"))] : []) + [
                .word(t("When")), .text(t("Alert")), .text(t("What happened")), .text(t("What became of it")),
                .text(t("Why")), .prose(t("How")),
            ]
        let rows: [[HTML?]] = view.told.map { one in
            let alert: HTML =
                "<a class=\"name\" href=\"/alerts/\(encoded: one.alert)\">\(one.vehicle): \(one.parameter)</a>"
            return (view.isAll ? [.text(one.account)] : []) + [
                caller.clock.html(one.decidedMs), alert, .text(NoticeLogView.words(one.occasion)), state(one),
                "\(one.reason) (\(NoticeLogView.words(one.relation)))", messages(one.messages),
            ]
        }
        return HTML.table(
            caption: view.isAll ? t("What everybody was told") : t("What you were told"), headers: headers, rows: rows,
            empty: t("Nothing yet. Each message, sent or not, is listed here with the reason."), narrow: .cards)
    }

    private func state(_ one: NoticeSettingStore.Told) -> HTML {
        switch one.state {
        case .notTold: return HTML.pill("quiet", t("Not told"))
        case .told: return HTML.pill("ok", t("Told"))
        case .waiting:
            // A time would be a promise that nothing keeps. Of others only what the installation has is known.
            let isCarried = one.account == caller.account ? !view.reach.isEmpty : !view.channels.isEmpty
            guard isCarried else { return HTML.pill("quiet", t("No channel")) }
            return
                "\(HTML.pill("info", t("Waits")))<small>until \(AlertWords.planned(one.dueMs, nowMs: view.nowMs, caller))</small>"
        }
    }

    private func messages(_ messages: [String]) -> HTML? {
        guard !messages.isEmpty else { return nil }
        return messages.map { message -> HTML in
            let parts = message.split(separator: ": ", maxSplits: 1).map { String($0) }
            let (state, answer) = NoticeLogView.split(parts.count > 1 ? parts[1] : "")
            let channel = NoticeChannel(rawValue: parts[0]).map { NoticeFlow.way($0).name } ?? parts[0]
            return "\(NoticeLogView.words(channel, state))\("<small>\(answer)</small>", if: !answer.isEmpty)"
        }.joined(separator: "<br>")
    }

    /// `sent (taken by the mail server)`
    private static func split(_ text: String) -> (state: String, answer: String) {
        guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return (text, "") }
        return (
            text[..<open].split(separator: " ").joined(separator: " "),
            String(text[text.index(after: open)...].dropLast())
        )
    }

    private static func words(_ channel: String, _ state: String) -> String {
        switch NoticeMessageState(rawValue: state) {
        case .waiting: t("\(channel) waits")
        case .sent: t("\(channel) sent")
        case .refused: t("\(channel) refused")
        case nil: "\(channel) \(state)"
        }
    }

    private static func words(_ occasion: NoticeOccasion) -> String {
        switch occasion {
        case .opened: t("It opened")
        case .worse: t("It became worse")
        case .repeated: t("Reminder: still open")
        case .escalated: t("Passed on to you")
        case .resolved: t("It ended")
        case .corrected: t("Corrected by late data")
        case .withdrawn: t("Taken back by late data")
        }
    }

    private static func words(_ relation: NoticeRelation) -> String {
        switch relation {
        case .owner: t("owner")
        case .dealer: t("dealer")
        case .driver: t("driver")
        case .developer: t("developer")
        case .stepsIn(let account): t("steps in for \(account)")
        case .other(let text): text
        }
    }
}
