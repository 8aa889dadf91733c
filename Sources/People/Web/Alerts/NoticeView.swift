internal import Alerts
internal import Clients
internal import Crypto
internal import Fleet
internal import Notifications
internal import Presentation
internal import Reports
internal import Storage

/// The page of notices, as HTML. Everything from outside is escaped.
struct NoticeView {
    let caller: PageCaller
    let ways: NoticeRoutes.Ways
    let form: NoticeForm
    let setting: NoticeSetting
    let steps: [NoticeSettingStore.Step]
    let colleagues: [(account: String, name: String)]
    let browsers: [(endpoint: String, agent: String, madeMs: Int64)]
    let told: [NoticeSettingStore.Told]
    /// True for the notices of everybody.
    let isAll: Bool
    /// The secret of a webhook that was just made.
    let secret: String?
    /// For operators: messages that do not go out.
    let trouble: NoticeSettingStore.Trouble?

    private var mark: FormView.Field { .hidden(name: CSRFGuard.field, value: caller.mark) }

    var html: HTML {
        let isOff: HTML =
            setting.isMailEnded
            ? "<p class=\"soon\">You ended these mails by a link in one of them. Untick “no mail” below to get them again.</p>"
            : ""
        return isOff + (trouble.map(said) ?? "") + settings + stepsForm + webhook + push + log
    }

    private func said(_ trouble: NoticeSettingStore.Trouble) -> HTML {
        let parts = [
            trouble.late > 0
                ? "\(trouble.late) messages wait for more than ten minutes, the oldest since \(caller.clock.minute(trouble.oldestMs ?? 0))"
                : nil,
            trouble.refused > 0 ? "\(trouble.refused) messages of the last day were refused" : nil,
            trouble.undecided > 0 ? "\(trouble.undecided) alerts wait for drover notify: is it running?" : nil,
        ].compactMap(\.self)
        let text =
            parts.isEmpty
            ? "All messages of the last day went out."
            : parts.joined(separator: "; ") + ". Why, stands below under “By”."
        return
            "<p role=\"status\" class=\"\(parts.isEmpty ? "" : "critical")\">For operators: \(text)</p>\n"
    }

    private var settings: HTML {
        let ways = [
            ways.hasMail ? ("mail", "mail to your address") : nil,
            self.ways.pushKey == nil ? nil : ("push", "push to your browsers"),
            self.ways.webhookHosts.isEmpty ? nil : ("webhook", "webhook"),
        ].compactMap(\.self).map { (value: $0.0, text: $0.1) }
        let manners = [("at_once", "at once"), ("daily", "in one message a day"), ("never", "never")].map {
            (value: $0.0, text: $0.1)
        }
        func fields(_ severity: Episode.Severity, _ label: String) -> [FormView.Field] {
            let (name, channels) = (severity.rawValue, form.channels[severity] ?? [])
            return [
                .choice(
                    name: "\(name)_manner", label: "\(label) alerts", of: manners, chosen: form.manners[severity] ?? "")
            ]
                + (ways.isEmpty
                    // What was chosen, or is the standard, stays for the day when there is a way.
                    ? channels.sorted().map { .hidden(name: "\(name)_channel", value: $0) }
                    : [.boxes(name: "\(name)_channel", label: "\(label) alerts by", of: ways, chosen: channels)])
        }
        func flag(_ name: String, _ legend: String, _ text: String, _ isOn: Bool) -> FormView.Field {
            .boxes(name: name, label: legend, of: [(value: "1", text: text)], chosen: isOn ? ["1"] : [])
        }
        var flags = [
            flag(
                "quiet_critical", "In quiet hours", "critical alerts wait for their end, too", form.isQuietForCritical),
            flag("mail_ended", "Mail", "no mail of alerts", form.isMailEnded),
        ]
        if caller.roles.contains(.developer) {
            flags.append(flag("made_machines", "Machines that I made", "tell me of their alerts", form.hasMadeMachines))
        }
        let all: [FormView.Field] =
            [mark] + fields(.critical, "Critical") + fields(.warning, "Other")
            + [
                .optional(name: "daily", label: "Time of the daily message", value: form.daily, autocomplete: "off"),
                .optional(
                    name: "quiet_from", label: "Quiet from (like 22:00; empty: no quiet hours)", value: form.quietFrom,
                    autocomplete: "off"),
                .optional(
                    name: "quiet_until", label: "Quiet until (like 06:00)", value: form.quietUntil, autocomplete: "off"),
                .choice(
                    name: "backlog", label: "Alerts that were over or an hour old when they reached us",
                    of: [("daily", "in the daily message"), ("as_usual", "as others"), ("never", "never")],
                    chosen: form.backlog),
                .optional(
                    name: "repeat_h", label: "Tell again what nobody has acknowledged, first after hours (0: never)",
                    value: form.repeatHours, autocomplete: "off"),
            ] + flags
        let none: HTML =
            ways.isEmpty
            ? "<p class=\"warning\">Nobody can be told yet: there is neither mail nor push nor a webhook here. Whoever runs this installation sets one up first: mail by <code>mail.server</code>, or webhooks and pushes (docs/notices.md, “For operators”). What you choose here holds from then on.</p>"
            : ""
        return """
            \(none)
            <p>You are told of alerts of your vehicles: as owner, driver or dealer, each of what is for you. Times are those of \
            \(caller.clock.zone), units \(caller.units.rawValue): both are on <a href="/account">your account</a>.</p>

            """ + FormView.form("/notices", all, "Save")
    }

    private var stepsForm: HTML {
        guard !colleagues.isEmpty else { return "" }
        let choices =
            [(value: "", text: "nobody")]
            + colleagues.map { (value: $0.account, text: $0.name.isEmpty ? $0.account : "\($0.name) (\($0.account))") }
        let fields: [FormView.Field] = (1...3).flatMap { number -> [FormView.Field] in
            let step = number <= steps.count ? steps[number - 1] : nil
            return [
                .choice(
                    name: "colleague-\(number)", label: "Step \(number): tell", of: choices,
                    chosen: step?.colleague ?? ""),
                .optional(
                    name: "after-\(number)", label: "Step \(number): after minutes",
                    value: step.map { "\($0.afterMin)" } ?? "", autocomplete: "off"),
            ]
        }
        return
            "<h2>When I do not acknowledge</h2>\n<p>A critical alert that nobody has acknowledged goes to colleagues of your fleets who see the vehicle, too.</p>\n"
            + FormView.form("/notices/steps", [mark] + fields, "Save the steps", id: "steps")
    }

    private var webhook: HTML {
        guard !ways.webhookHosts.isEmpty else { return "" }
        let key: HTML? = secret.map {
            "<p class=\"soon\">Key for checking signatures (Standard Webhooks, <code>webhook-signature</code>): <code>\($0)</code></p>"
        }
        return
            "<h2>Webhook</h2>\n<p>Messages as JSON, signed; <code>webhook-id</code> is the same at each try. SMS gateways hang here.</p>\n"
            + (key ?? "")
            + FormView.form(
                "/notices/webhook",
                [
                    mark,
                    .optional(
                        name: "url", label: "Address (empty: none)", value: setting.webhookURL ?? "",
                        autocomplete: "off"),
                ],
                "Save the webhook", id: "webhook")
    }

    private var push: HTML {
        guard let key = ways.pushKey else { return "" }
        let list: [HTML] = browsers.map { browser in
            """
            <li>\(AccountView.agent(browser.agent, or: "a browser")), since \(caller.clock.html(browser.madeMs)) \
            <form class="one" method="post" action="/notices/browser/end">\(FormView.hidden(CSRFGuard.field, caller.mark))\
            \(FormView.hidden("endpoint", browser.endpoint))<button class="quiet">Do not tell it</button></form></li>
            """
        }
        return """
            <h2>Browsers</h2>
            <form id="push" class="fields" method="post" action="/notices/browser" data-key="\(Base64URL.text(key))" hidden>
            \(FormView.hidden(CSRFGuard.field, caller.mark))
            <button>Tell this browser</button>
            </form>
            <p id="push-said" role="status"></p>
            <noscript><p>Pushes need scripts.</p></noscript>
            \(list.isEmpty ? "<p>No browser is told.</p>" : "<ul class=\"stops\">\(list.joined())</ul>")

            """
    }

    private var log: HTML {
        let headers: [HTML.Header] =
            (isAll ? [.text("Account")] : []) + [
                .word("When"), .word("Alert"), .text("Occasion"), .text("What became of it"), .text("Why"),
                .prose("By"),
            ]
        let rows: [[HTML?]] = told.map { one in
            let state =
                switch one.state {
                case .notTold: "not told"
                case .waiting: "waits until \(caller.clock.minute(one.dueMs))"
                case .told: "told"
                }
            let alert: HTML =
                "<a href=\"/alerts/\(encoded: one.alert)\">\(one.vehicle): \(one.parameter)</a>"
            return (isAll ? [.text(one.account)] : []) + [
                .text(caller.clock.minute(one.decidedMs)), alert, .text(one.occasion.rawValue), .text(state),
                "\(one.reason) (\(one.relation.rawValue))", .text(one.messages.joined(separator: "; ")),
            ]
        }
        return "<h2>\(isAll ? "What everybody was told" : "What you were told")</h2>\n"
            + HTML.table(
                caption: "The latest \(told.count) notices, and why", headers: headers, rows: rows,
                empty: "There was nothing to tell yet.")
    }
}
