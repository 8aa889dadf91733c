internal import Alerts
internal import Clients
internal import Crypto
internal import Fleet
internal import Notifications
internal import Presentation
internal import Storage

/// The page of notifications, as HTML. Everything from outside is escaped.
struct NoticeView {
    let caller: PageCaller
    let ways: NoticeRoutes.Ways
    let form: NoticeForm
    let setting: NoticeSetting
    let steps: NoticeStepsForm
    let colleagues: [(account: String, name: String)]
    let flow: NoticeFlow
    let browsers: [(endpoint: String, agent: String, madeMs: Int64)]
    let told: [NoticeSettingStore.Told]
    /// True for the notices of everybody.
    let isAll: Bool
    /// What was sent of it and refused.
    let webhook: (typed: String, error: String)?
    /// The secret of a webhook that was just made.
    let secret: String?
    /// For operators: messages that do not go out.
    let trouble: NoticeSettingStore.Trouble?

    private var mark: HTML { FormView.hidden(CSRFGuard.field, caller.mark) }

    /// The channels of this installation.
    private var channels: [NoticeChannel] {
        [ways.hasMail ? .mail : nil, ways.pushKey == nil ? nil : .push, ways.webhookHosts.isEmpty ? nil : .webhook]
            .compactMap(\.self)
    }

    var html: HTML {
        """
        \(ended)\(none)\(trouble.map(said))
        <div class="stack">
        \(flow.html)
        <div class="grid">
        <div class="w8 stack">\(settings)</div>
        <div class="w4 stack">\(stepsForm)\(channelCard)</div>
        </div>
        \(log)
        </div>
        """
    }

    private var ended: HTML {
        guard setting.isMailEnded else { return "" }
        return """
            <p class="strip info">\(HTML.icon(.mail))<span>You ended these mails by a link in one of them. Turn off <b>No mail of alerts</b> below to \
            get them again.</span></p>
            """
    }

    private var none: HTML {
        guard channels.isEmpty else { return "" }
        return """
            <p class="strip warning">\(HTML.icon(.warn))<span>Nobody can be told yet: this installation has neither mail, push nor webhooks. Whoever \
            runs it sets one up (docs/notices.md, “For operators”). What you choose here holds from then on.</span></p>
            """
    }

    private func said(_ trouble: NoticeSettingStore.Trouble) -> HTML {
        let parts = [
            trouble.late > 0
                ? "\(caller.words.count(trouble.late, .message)) waiting for more than ten minutes, the oldest since \(caller.clock.minute(trouble.oldestMs ?? 0))"
                : nil,
            trouble.refused > 0 ? "\(caller.words.count(trouble.refused, .message)) of the last day refused" : nil,
            trouble.undecided > 0
                ? "\(caller.words.count(trouble.undecided, .alert)) waiting for drover notify: is it running?" : nil,
        ].compactMap(\.self)
        guard !parts.isEmpty else {
            return
                "<p role=\"status\" class=\"strip ok\">\(HTML.icon(.check))<span>For operators: all messages of the last day went out.</span></p>\n"
        }
        return """
            <p role="status" class="strip critical">\(HTML.icon(.warn))<span>For operators: \(parts.joined(separator: "; ")). Why, stands below under \
            <b>How</b>.</span></p>

            """
    }

    // MARK: What I get

    private var settings: HTML {
        """
        <form method="post" action="/notices" class="stack">\(mark)
        <section class="card"><header><h2>What you get</h2><span class="faint small">Alerts of your vehicles, as owner, driver or dealer</span></header>
        \(way(.critical, "Critical alerts", .critical))\(way(.warning, "Other alerts", .warning))</section>
        <section class="card"><header><h2>Quiet hours</h2></header><div class="body form">
        \(quietBar)
        <div class="grid">\(field("quiet_from", "Quiet from", form.quietFrom, .time))\(field("quiet_until", "Quiet until", form.quietUntil, .time))</div>
        \(toggle("quiet_critical", "Hold back critical alerts too", "Without it they come through", form.isQuietForCritical))
        </div><footer class="small">Times are those of \(caller.clock.zone). <a class="more" href="/account">Change</a></footer></section>
        <section class="card"><header><h2>Fewer messages</h2></header><div class="body form">
        <div class="grid">\(field("daily", "Time of the daily message", form.daily, .time))\
        \(field("repeat_h", "Again while open, after", form.repeatHours, .hours))\(backlog)</div>
        \(toggle("mail_ended", "No mail of alerts", "Push and webhook go on", form.isMailEnded))
        \(caller.roles.contains(.developer) ? toggle("made_machines", "Machines that I made", "Tell me of their alerts, too", form.hasMadeMachines) : "")
        </div></section>
        <div class="row end"><button class="btn primary">Save</button></div>
        </form>
        """
    }

    private func way(_ severity: Episode.Severity, _ label: String, _ tone: Episode.Severity) -> HTML {
        let name = severity.rawValue
        let manners = [("at_once", "At once"), ("daily", "In one message a day"), ("never", "Never")]
        let chosen = form.channels[severity] ?? []
        let boxes: [HTML] =
            channels.isEmpty
            // What was chosen, or is the standard, stays for the day when there is a way.
            ? chosen.sorted().map { FormView.hidden("\(name)_channel", $0) }
            : channels.map { channel in
                let (icon, word) = NoticeFlow.way(channel)
                return """
                    <label class="check"><input type="checkbox" name="\(name)_channel" value="\(channel.rawValue)"\(" checked", if: chosen.contains(channel.rawValue))>\
                    \(HTML.icon(icon))\(word)</label>
                    """
            }
        return """
            <div class="item way"><span class="pill \(tone.rawValue)">\(severity == .critical ? "Critical" : "Other")</span>\
            <div class="fld"><label class="sr" for="\(name)_manner">\(label)</label><select class="box" id="\(name)_manner" name="\(name)_manner">\
            \(HTML.options(manners, form.manners[severity]))</select>\(error("\(name)_manner"))</div>\
            <div class="row wrap" role="group" aria-label="\(label) by">\(boxes.joined())</div></div>
            """
    }

    private enum Kind { case time, hours }

    private func field(_ name: String, _ label: String, _ value: String, _ kind: Kind) -> HTML {
        let bad: HTML = form.errors[name] == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"\(name)-error\""
        let input: HTML =
            switch kind {
            case .time:
                "<input id=\"\(name)\" name=\"\(name)\" type=\"text\" maxlength=\"8\" autocomplete=\"off\" placeholder=\"--:--\" value=\"\(value)\"\(bad)>"
            case .hours:
                """
                <span class="in"><input id="\(name)" name="\(name)" type="text" inputmode="decimal" maxlength="8" autocomplete="off" value="\(value)"\(bad)>\
                <span class="unit">h</span></span><span class="help">What nobody acknowledged; 0 for never</span>
                """
            }
        return
            "<div class=\"fld w4\(" bad", if: form.errors[name] != nil)\"><label for=\"\(name)\">\(label)</label>\(input)\(error(name))</div>"
    }

    private func error(_ name: String) -> HTML {
        form.errors[name].map { "<span class=\"err\" id=\"\(name)-error\">\(HTML.icon(.warn))\($0)</span>" } ?? ""
    }

    private var backlog: HTML {
        let choices = [("daily", "In the daily message"), ("as_usual", "As others"), ("never", "Never")]
        return """
            <div class="fld w4"><label for="backlog">Old alerts</label><select id="backlog" name="backlog">\(HTML.options(choices, form.backlog))</select>\
            <span class="help">Over, or an hour old when they reached us</span>\(error("backlog"))</div>
            """
    }

    private func toggle(_ name: String, _ label: String, _ about: String, _ isOn: Bool) -> HTML {
        """
        <label class="row between"><span><b>\(label)</b><small class="soft">\(about)</small></span>\
        <input type="checkbox" class="toggle" name="\(name)" value="1"\(" checked", if: isOn)></label>
        """
    }

    /// The day from midnight to midnight: quiet, told, and the hour that is looked at.
    private var quietBar: HTML {
        guard let quiet = setting.quiet else {
            return "<p class=\"soft small\">You have no quiet hours: what comes at once comes at night, too.</p>"
        }
        let spans = quiet.from < quiet.until ? [(quiet.from, quiet.until)] : [(0, quiet.until), (quiet.from, 1_440)]
        let rects: [HTML] = spans.map { "<rect class=\"q\" x=\"\($0)\" width=\"\($1 - $0)\" height=\"24\"/>" }
        return """
            <div class="hours"><svg viewBox="0 0 1440 24" preserveAspectRatio="none" role="img" aria-label="Quiet from \(NoticeForm.clock(quiet.from)) until \
            \(NoticeForm.clock(quiet.until))"><rect class="t" width="1440" height="24"/>\(rects.joined())<line x1="\(flow.minute)" x2="\(flow.minute)" \
            y1="0" y2="24"/></svg><div class="row between faint small" aria-hidden="true"><span>00</span><span>06</span><span>12</span><span>18</span><span>24</span></div></div>
            """
    }

    // MARK: Colleagues and channels

    private var stepsForm: HTML {
        guard !colleagues.isEmpty else { return "" }
        let choices =
            [("", "Nobody")]
            + colleagues.map { ($0.account, $0.name.isEmpty ? $0.account : "\($0.name) (\($0.account))") }
        let rows: [HTML] = steps.colleagues.indices.map { index in
            let number = index + 1
            let bad = steps.errors[index] != nil
            return """
                <div class="fld\(" bad", if: bad)"><label for="colleague-\(number)">Step \(number): tell</label><div class="row">\
                <select class="box grow" id="colleague-\(number)" name="colleague-\(number)">\(HTML.options(choices, steps.colleagues[index]))</select>\
                <span class="soft small">after</span><span class="in days"><input name="after-\(number)" type="text" inputmode="numeric" maxlength="8" autocomplete="off" \
                aria-label="Step \(number): after minutes" value="\(steps.minutes[index])"><span class="unit">min</span></span></div>\
                \(steps.errors[index].map { "<span class=\"err\">\(HTML.icon(.warn))\($0)</span>" } ?? "")</div>
                """
        }
        return """
            <form class="card" method="post" action="/notices/steps">\(mark)<header><h2>If nobody acknowledges</h2></header><div class="body form">
            <p class="soft small">A critical alert goes on to colleagues of your fleets who see the vehicle.</p>
            \(rows.joined())<div class="row end"><button class="btn">Save the steps</button></div></div></form>
            """
    }

    private var channelCard: HTML {
        guard !channels.isEmpty else { return "" }
        return """
            <section class="card"><header><h2>Channels</h2></header>
            \(channels.contains(.mail) ? mailItem : "")\(push)\(webhookItem)</section>
            """
    }

    private var mailItem: HTML {
        """
        <div class="item"><span class="ic s">\(HTML.icon(.mail))</span><span><b>Mail</b><small>To the address of your account</small></span>\
        \(setting.isMailEnded ? HTML.pill("quiet", "Off") : HTML.pill("ok", "On"))</div>
        """
    }

    private var webhookItem: HTML {
        guard !ways.webhookHosts.isEmpty else { return "" }
        let key: HTML? = secret.map {
            "<p class=\"strip info\"><span>Key for checking signatures (Standard Webhooks, <code>webhook-signature</code>): <code>\($0)</code></span></p>"
        }
        return """
            <div class="item"><span class="ic s">\(HTML.icon(.link))</span><span><b>Webhook</b><small>Signed JSON, for a system of yours or an SMS gateway</small></span>\
            \(setting.webhookURL == nil ? HTML.pill("quiet", "Off") : HTML.pill("ok", "On"))</div>
            <form class="body form" method="post" action="/notices/webhook">\(mark)\(key)
            <div class="fld\(" bad", if: webhook != nil)"><label for="webhook-url">Webhook address</label><input id="webhook-url" name="url" type="text" maxlength="254" \
            autocomplete="off" placeholder="https://" value="\(webhook?.typed ?? setting.webhookURL ?? "")"><span class="help">Empty for none</span>\
            \(webhook.map { "<span class=\"err\">\(HTML.icon(.warn))\($0.error)</span>" } ?? "")</div>
            <div class="row end"><button class="btn">Save the webhook</button></div></form>
            """
    }

    private var push: HTML {
        guard let key = ways.pushKey else { return "" }
        let list: [HTML] = browsers.map { browser in
            """
            <form class="item" method="post" action="/notices/browser/end">\(mark)\(FormView.hidden("endpoint", browser.endpoint))\
            <span class="ic s">\(HTML.icon(.globe))</span><span><b>\(AccountView.agent(browser.agent, or: "a browser"))</b>\
            <small>since \(caller.clock.html(browser.madeMs))</small></span><button class="btn small">Remove</button></form>
            """
        }
        return """
            <div class="item"><span class="ic s">\(HTML.icon(.bell))</span><span><b>Push</b><small>To browsers that you choose</small></span>\
            \(browsers.isEmpty ? HTML.pill("quiet", "Off") : HTML.pill("ok", "On"))</div>
            \(list.isEmpty ? "<p class=\"body tight soft small\">No browser gets notifications.</p>" : list.joined())
            <form id="push" class="body tight" method="post" action="/notices/browser" data-key="\(Base64URL.text(key))" hidden>\(mark)
            <button class="btn">Add this browser</button></form>
            <p id="push-said" class="body tight small" role="status"></p>
            <noscript><p class="body tight small">Push needs scripts.</p></noscript>
            """
    }

    // MARK: What became of it

    private var log: HTML {
        let headers: [HTML.Header] =
            (isAll ? [.text("Account")] : []) + [
                .word("When"), .text("Alert"), .text("What happened"), .text("What became of it"), .text("Why"),
                .prose("How"),
            ]
        let rows: [[HTML?]] = told.map { one in
            let state: HTML =
                switch one.state {
                case .notTold: HTML.pill("quiet", "Not told")
                case .waiting: "\(HTML.pill("info", "Waits"))<small>until \(caller.clock.minute(one.dueMs))</small>"
                case .told: HTML.pill("ok", "Told")
                }
            let alert: HTML =
                "<a class=\"name\" href=\"/alerts/\(encoded: one.alert)\">\(one.vehicle): \(one.parameter)</a>"
            return (isAll ? [.text(one.account)] : []) + [
                caller.clock.html(one.decidedMs), alert, .text(NoticeView.words(one.occasion)), state,
                "\(one.reason) (\(one.relation.rawValue))", messages(one.messages),
            ]
        }
        return HTML.table(
            caption: isAll ? "What everybody was told" : "What you were told", headers: headers, rows: rows,
            empty: "Nothing yet. Each message, sent or not, is listed here with the reason.", narrow: .cards)
    }

    private func messages(_ messages: [String]) -> HTML? {
        guard !messages.isEmpty else { return nil }
        return messages.map { message -> HTML in
            let parts = message.split(separator: ": ", maxSplits: 1).map { String($0) }
            let (state, answer) = NoticeView.split(parts.count > 1 ? parts[1] : "")
            return
                "\(parts[0].prefix(1).uppercased() + parts[0].dropFirst()) \(state)\("<small>\(answer)</small>", if: !answer.isEmpty)"
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

    private static func words(_ occasion: NoticeOccasion) -> String {
        switch occasion {
        case .opened: "It opened"
        case .worse: "It became worse"
        case .repeated: "Again, still open"
        case .escalated: "Passed on to you"
        case .resolved: "It ended"
        case .corrected: "Corrected by late data"
        case .withdrawn: "Taken back by late data"
        }
    }
}
