internal import Alerts
internal import Clients
internal import Fleet
internal import Notifications
internal import Presentation
internal import Storage

/// The page of notifications, as HTML: first how somebody is reached; the rest where a message could come. Everything from outside is
/// escaped.
struct NoticeView {
    let caller: PageCaller
    let ways: NoticeRoutes.Ways
    let form: NoticeForm
    let setting: NoticeSetting
    let steps: NoticeStepsForm
    let colleagues: [(account: String, name: String)]
    let flow: NoticeFlow
    /// The channels on which a message would come.
    let reach: Set<NoticeChannel>
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
    let nowMs: Int64

    var mark: HTML { FormView.hidden(CSRFGuard.field, caller.mark) }

    /// The channels of this installation.
    var channels: [NoticeChannel] {
        [ways.hasMail ? .mail : nil, ways.pushKey == nil ? nil : .push, ways.webhookHosts.isEmpty ? nil : .webhook]
            .compactMap(\.self)
    }

    /// Whoever cannot be reached has one thing to do. What they chose already is checked as long as something of it is wrong.
    private var isOnlyChannels: Bool { reach.isEmpty && form.errors.isEmpty && steps.errors.isEmpty }

    var html: HTML {
        guard !isOnlyChannels else {
            return """
                \(trouble.map(said))
                <div class="stack">
                \(NoticeChannelsView(view: self).html)
                \(isAll ? NoticeLogView(view: self).html : "")
                </div>
                """
        }
        return """
            \(trouble.map(said))
            <div class="stack">
            \(NoticeChannelsView(view: self).html)
            \(flow.html)
            <div class="grid">
            <div class="w8 stack">\(settings)</div>
            <div class="w4 stack">\(stepsForm)</div>
            </div>
            \(NoticeLogView(view: self).html)
            </div>
            """
    }

    private func said(_ trouble: NoticeSettingStore.Trouble) -> HTML {
        let parts = [
            trouble.late > 0
                ? t(
                    trouble.late,
                    one:
                        "\(trouble.late) message has waited for more than ten minutes, since \(caller.clock.minute(trouble.oldestMs ?? 0))",
                    many:
                        "\(trouble.late) messages have waited for more than ten minutes, the oldest since \(caller.clock.minute(trouble.oldestMs ?? 0))"
                ) : nil,
            trouble.refused > 0
                ? t(
                    trouble.refused, one: "\(trouble.refused) message of the last day was refused",
                    many: "\(trouble.refused) messages of the last day were refused") : nil,
            trouble.undecided > 0
                ? t(
                    trouble.undecided,
                    one: "\(trouble.undecided) alert waits for drover notify: is it running?",
                    many: "\(trouble.undecided) alerts wait for drover notify: is it running?") : nil,
        ].compactMap(\.self)
        guard !parts.isEmpty else {
            return
                "<p role=\"status\" class=\"strip ok\">\(HTML.icon(.check))<span>For operators: all messages of the last day went out.</span></p>\n"
        }
        return """
            <p role="status" class="strip critical">\(HTML.icon(.warn))<span>For operators: \(parts.joined(separator: "; ")). The list below says why.</span></p>

            """
    }

    // MARK: What I get

    private var settings: HTML {
        """
        <form method="post" action="/notices" class="stack">\(mark)
        <section class="card"><header><h2>What you get</h2><span class="faint small">Alerts of your vehicles, as owner, driver or dealer</span></header>
        \(way(.critical, t("Critical alerts")))\(way(.warning, t("Other alerts")))</section>
        <section class="card"><header><h2>Quiet hours</h2></header><div class="body form">
        \(quietBar)
        <div class="grid">\(field("quiet_from", t("Quiet from"), form.quietFrom, .time))\(field("quiet_until", t("Quiet until"), form.quietUntil, .time))</div>
        \(toggle("quiet_critical", t("Hold back critical alerts too"), t("Otherwise they come through"), form.isQuietForCritical))
        </div><footer class="small"><span>Times are in \(caller.clock.zone).</span> <a class="more" href="/account">Change</a></footer></section>
        <section class="card"><header><h2>How often</h2></header><div class="body form">
        <div class="grid">\(field("daily", t("Time of the daily message"), form.daily, .time))\
        \(field("repeat_h", t("Remind me while open, after"), form.repeatHours, .hours))\(backlog)</div>
        \(toggle("mail_ended", t("No email about alerts"), t("Push and webhook go on"), form.isMailEnded))
        \(caller.roles.contains(.developer) ? toggle("made_machines", t("Machines that I made"), t("Tell me about their alerts too"), form.hasMadeMachines) : "")
        </div></section>
        <div class="row end"><button class="btn primary">Save</button></div>
        </form>
        """
    }

    private func way(_ severity: Episode.Severity, _ label: String) -> HTML {
        let name = severity.rawValue
        let manners = [("at_once", t("At once")), ("daily", t("In one message a day")), ("never", t("Never"))]
        let chosen = form.channels[severity] ?? []
        let boxes: [HTML] = channels.map { channel in
            let (icon, word) = NoticeFlow.way(channel)
            return """
                <label class="check"><input type="checkbox" name="\(name)_channel" value="\(channel.rawValue)"\(" checked", if: chosen.contains(channel.rawValue))>\
                \(HTML.icon(icon))\(word)</label>
                """
        }
        return """
            <div class="item way"><span class="pill \(name)">\(severity == .critical ? HTML.t("Critical") : HTML.t("Other"))</span>\
            <div class="fld"><label class="sr" for="\(name)_manner">\(label)</label><select class="box" id="\(name)_manner" name="\(name)_manner">\
            \(HTML.options(manners, form.manners[severity]))</select>\(error("\(name)_manner"))</div>\
            <div class="row wrap" role="group" aria-label="\(t("\(label) by"))">\(boxes.joined())</div></div>
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
                <span class="unit">h</span></span><span class="help">Only alerts that nobody acknowledged; 0 for never</span>
                """
            }
        return
            "<div class=\"fld w4\(" bad", if: form.errors[name] != nil)\"><label for=\"\(name)\">\(label)</label>\(input)\(error(name))</div>"
    }

    private func error(_ name: String) -> HTML {
        form.errors[name].map { "<span class=\"err\" id=\"\(name)-error\">\(HTML.icon(.warn))\($0)</span>" } ?? ""
    }

    private var backlog: HTML {
        let choices = [
            ("daily", t("In the daily message")), ("as_usual", t("Like any other alert")), ("never", t("Never")),
        ]
        return """
            <div class="fld w4"><label for="backlog">Alerts that arrive late</label><select id="backlog" name="backlog">\(HTML.options(choices, form.backlog))</select>\
            <span class="help">Already over, or more than an hour old when the vehicle reported it</span>\(error("backlog"))</div>
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
            return "<p class=\"soft small\">You have no quiet hours: what comes at once comes at night too.</p>"
        }
        let spans = quiet.from < quiet.until ? [(quiet.from, quiet.until)] : [(0, quiet.until), (quiet.from, 1_440)]
        let rects: [HTML] = spans.map { "<rect class=\"q\" x=\"\($0)\" width=\"\($1 - $0)\" height=\"24\"/>" }
        return """
            <div class="hours"><svg viewBox="0 0 1440 24" preserveAspectRatio="none" role="img" aria-label="Quiet from \(NoticeForm.clock(quiet.from)) until \
            \(NoticeForm.clock(quiet.until))"><rect class="t" width="1440" height="24"/>\(rects.joined())<line x1="\(flow.minute)" x2="\(flow.minute)" \
            y1="0" y2="24"/></svg><div class="row between faint small" aria-hidden="true"><span>00</span><span>06</span><span>12</span><span>18</span><span>24</span></div></div>
            """
    }

    // MARK: Colleagues

    private var stepsForm: HTML {
        guard !colleagues.isEmpty else { return "" }
        let choices =
            [("", t("Nobody"))]
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
}
