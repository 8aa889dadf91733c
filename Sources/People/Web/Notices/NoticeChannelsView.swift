internal import Alerts
internal import Clients
internal import Crypto
internal import Notifications
internal import Presentation
internal import Storage

/// How somebody is reached: each channel with its state and the way to switch it on.
struct NoticeChannelsView {
    let view: NoticeView

    private var setting: NoticeSetting { view.setting }
    private var channels: [NoticeChannel] { view.channels }

    var html: HTML {
        let isReached = !view.reach.isEmpty
        let about: HTML =
            isReached
            ? ""
            : channels.isEmpty
                ? "<p class=\"body tight soft\">No message can be sent yet: this installation has neither email, push nor webhooks. Whoever runs it sets one up. Alerts stand in Drover meanwhile.</p>"
                : "<p class=\"body tight soft\">Nobody tells you about alerts yet. Add one way to be reached; then choose what you are told, and when.</p>"
        return """
            <section class="card" id="channels"><header><h2>\(isReached ? HTML.t("Channels") : HTML.t("How should we reach you?"))</h2></header>
            \(about)\(mail)\(push)\(webhook)</section>
            """
    }

    private func item(_ channel: NoticeChannel, _ about: HTML, _ end: HTML) -> HTML {
        let (icon, name) = NoticeFlow.way(channel)
        return """
            <div class="item"><span class="ic s">\(HTML.icon(icon))</span><span><b>\(name)</b><small>\(about)</small></span>\(end)</div>
            """
    }

    private func state(_ isOn: Bool) -> HTML {
        isOn ? HTML.pill("ok", t("On")) : HTML.pill("quiet", t("Off"))
    }

    /// What this installation does not have; who runs it reads where it is switched on.
    private func missing(_ channel: NoticeChannel, _ setting: StaticString) -> HTML {
        let about: HTML =
            view.isAll
            ? "Set <code>\(HTML(stringLiteral: setting))</code> to switch it on" : .t("Not set up in this installation")
        return item(channel, about, HTML.pill("quiet", t("Not available")))
    }

    // MARK: Mail

    private var mail: HTML {
        // Whoever ended it reads so wherever they look: another server may send it.
        guard channels.contains(.mail) || setting.isMailEnded else { return missing(.mail, "mail.server") }
        guard setting.isMailEnded else { return item(.mail, .t("To the address of your account"), state(true)) }
        return item(.mail, .t("You ended these mails, by a link in one of them or here"), again)
    }

    /// Mail again, with all else as it is: the same form as below, filled in.
    private var again: HTML {
        let form = NoticeForm(setting)
        let ways: [HTML] = NoticeForm.severities.map { severity in
            let name = severity.rawValue
            let chosen = (form.channels[severity] ?? []).sorted().map { FormView.hidden("\(name)_channel", $0) }
            return "\(FormView.hidden("\(name)_manner", form.manners[severity] ?? ""))\(chosen.joined())"
        }
        let texts = [
            ("daily", form.daily), ("quiet_from", form.quietFrom), ("quiet_until", form.quietUntil),
            ("backlog", form.backlog), ("repeat_h", form.repeatHours),
            ("quiet_critical", form.isQuietForCritical ? "1" : ""), ("made_machines", form.hasMadeMachines ? "1" : ""),
        ]
        return """
            <form method="post" action="/notices">\(view.mark)\(ways.joined())\(texts.map(FormView.hidden).joined())\
            <button class="btn small primary">Add email</button></form>
            """
    }

    // MARK: Push

    private var push: HTML {
        guard let key = view.ways.pushKey else { return missing(.push, "notices.push_key_file") }
        let list: [HTML] = view.browsers.map { browser in
            """
            <form class="item" method="post" action="/notices/browser/end">\(view.mark)\(FormView.hidden("endpoint", browser.endpoint))\
            <span class="ic s">\(HTML.icon(.globe))</span><span><b>\(AccountView.agent(browser.agent, or: t("A browser")))</b>\
            <small>since \(view.caller.clock.html(browser.madeMs))</small></span><button class="btn small">Remove</button></form>
            """
        }
        return """
            \(item(.push, list.isEmpty ? .t("No browser gets notifications.") : .t("To the browsers you choose, on a phone too"), state(!list.isEmpty)))
            \(list.joined())
            <form id="push" class="body tight" method="post" action="/notices/browser" data-key="\(Base64URL.text(key))" hidden>\(view.mark)
            <button class="btn">Add this browser</button></form>
            <p id="push-said" class="body tight small" role="status"></p>
            <noscript><p class="body tight small">Push needs scripts.</p></noscript>
            """
    }

    // MARK: Webhook

    private var webhook: HTML {
        guard !view.ways.webhookHosts.isEmpty else { return missing(.webhook, "notices.webhook_hosts") }
        let key: HTML? = view.secret.map {
            "<p class=\"strip info\"><span>Key for checking signatures (Standard Webhooks, <code>webhook-signature</code>): <code>\($0)</code></span></p>"
        }
        let fault = view.webhook
        let isOpen = fault != nil || view.secret != nil
        return """
            \(item(.webhook, .t("Signed JSON, for a system of yours or an SMS gateway"), state(setting.webhookURL != nil)))
            <details class="body tight"\(" open", if: isOpen)><summary>\(setting.webhookURL == nil ? HTML.t("Add a webhook") : HTML.t("Change the webhook"))</summary>
            <form class="form" method="post" action="/notices/webhook">\(view.mark)\(key)
            <div class="fld\(" bad", if: fault != nil)"><label for="webhook-url">Webhook address</label><input id="webhook-url" name="url" type="text" maxlength="254" \
            autocomplete="off" placeholder="https://" value="\(fault?.typed ?? setting.webhookURL ?? "")"><span class="help">Leave empty for none</span>\
            \(fault.map { "<span class=\"err\">\(HTML.icon(.warn))\($0.error)</span>" } ?? "")</div>
            <div class="row end"><button class="btn">Save the webhook</button></div></form></details>
            """
    }
}
