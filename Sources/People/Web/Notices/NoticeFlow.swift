internal import Alerts
internal import Clients
internal import Notifications
internal import Presentation
internal import Storage

/// Who is told of an alert that opens at an hour of the day, from left to right: at once, later, and when it stops.
struct NoticeFlow {
    struct Step {
        let when: String
        /// Nobody acknowledged it until then.
        let isLater: Bool
        /// Nil: the reader.
        let colleague: String?
        let about: String
        /// It waits for the end of quiet hours.
        let isHeld: Bool
        let channels: [NoticeChannel]
    }

    let severity: Episode.Severity
    /// Minute of the day.
    let minute: Int
    let steps: [Step]
    let setting: NoticeSetting

    init(
        setting: NoticeSetting, steps colleagues: [NoticeSettingStore.Step],
        colleagues names: [(account: String, name: String)],
        reach: Set<NoticeChannel>, query: [String: String]
    ) {
        self.setting = setting
        severity = query["kind"].flatMap(Episode.Severity.init) ?? .critical
        minute = query["at"].flatMap { Int($0) }.flatMap { (0...23).contains($0) ? $0 * 60 : nil } ?? 12 * 60
        let way = setting.way(severity)
        let open = way.channels.intersection(reach).sorted { $0.rawValue < $1.rawValue }
        func clock(_ minute: Int) -> String { NoticeForm.clock(minute) }
        let isQuiet = NoticeFlow.isQuiet(setting.quiet, minute)
        let isHeld =
            isQuiet && way.manner == .atOnce && (severity == .warning || setting.isQuietForCritical)
            && !open.isEmpty
        var found: [Step] = []
        switch way.manner {
        case .never: break
        case .daily:
            found.append(
                Step(
                    when: t("At \(clock(setting.dailyMinute))"), isLater: false, colleague: nil,
                    about: open.isEmpty ? t("No channel chosen") : t("In one message a day"), isHeld: false,
                    channels: open))
        case .atOnce:
            let about =
                open.isEmpty
                ? t("No channel chosen")
                : isHeld
                    ? t("Held until \(clock(setting.quiet?.until ?? 0))")
                    : isQuiet ? t("Also in quiet hours") : t("Told right away")
            found.append(
                Step(when: t("At once"), isLater: false, colleague: nil, about: about, isHeld: isHeld, channels: open))
            if severity == .critical {
                found += colleagues.map { step in
                    let name = names.first { $0.account == step.colleague }?.name ?? ""
                    return Step(
                        when: NoticeFlow.after(step.afterMin), isLater: true,
                        colleague: name.isEmpty ? step.colleague : name, about: t("By their own settings"),
                        isHeld: false, channels: [])
                }
            }
            if setting.repeatMin > 0, !open.isEmpty {
                found.append(
                    Step(
                        when: NoticeFlow.after(setting.repeatMin), isLater: true, colleague: nil,
                        about: t("Reminders, further and further apart"), isHeld: false, channels: open))
            }
        }
        steps = found
    }

    private static func after(_ minutes: Int) -> String { t("After \(RuleSpan.text(Int64(minutes) * 60_000))") }

    static func isQuiet(_ quiet: NoticeSetting.Quiet?, _ minute: Int) -> Bool {
        guard let quiet, quiet.from != quiet.until else { return false }
        return quiet.from < quiet.until
            ? (quiet.from..<quiet.until).contains(minute) : minute >= quiet.from || minute < quiet.until
    }

    /// The answer to the hour, in words.
    private var answer: String {
        guard let first = steps.first else { return t("Nobody is told: such alerts are switched off") }
        if first.channels.isEmpty { return t("You are not told: choose a channel for such alerts below") }
        if first.isHeld {
            return t("You are told at \(NoticeForm.clock(setting.quiet?.until ?? 0)), when your quiet hours end")
        }
        if setting.way(severity).manner == .daily {
            return t("You are told at \(NoticeForm.clock(setting.dailyMinute))")
        }
        return NoticeFlow.isQuiet(setting.quiet, minute)
            ? t("You are told at once, in quiet hours too") : t("You are told at once")
    }

    var html: HTML {
        let kinds: [(String, Episode.Severity, HTML)] = [
            ("critical", .critical, "<i class=\"dot critical\"></i>Critical"),
            ("warning", .warning, "<i class=\"dot warning\"></i>Other alerts"),
        ]
        let tabs: [HTML] = kinds.map { name, kind, label in
            "<a href=\"/notices?kind=\(name)&amp;at=\(minute / 60)\"\(" aria-current=\"true\"", if: kind == severity)>\(label)</a>"
        }
        return """
            <section class="card esc" id="flow"><header class="row wrap"><h2>Who is told, and when</h2><div class="seg">\(tabs.joined())</div></header>
            <ol class="flow">\(steps.map(column).joined())\(end)</ol>
            <form class="sim" method="get" action="/notices"><input type="hidden" name="kind" value="\(severity.rawValue)">\
            \(HTML.icon(.clock))<label for="at">If it happens at</label><output class="nowrap" for="at"><b>\(NoticeForm.clock(minute))</b></output>\
            <input class="range" type="range" id="at" name="at" min="0" max="23" step="1" value="\(minute / 60)"><span class="soft" role="status">\(answer)</span>\
            <button class="btn small">Show</button></form></section>
            """
    }

    private func column(_ step: Step) -> HTML {
        let icons: [HTML] = step.channels.map { channel in
            let (icon, name) = NoticeFlow.way(channel)
            return "<span role=\"img\" aria-label=\"\(name)\" title=\"\(name)\">\(HTML.icon(icon))</span>"
        }
        let name = step.colleague ?? t("You")
        let initials =
            step.colleague.map {
                $0.split(separator: " ").prefix(2).compactMap(\.first).map { String($0) }.joined().uppercased()
            } ?? name
        return """
            <li class="step"><div class="when">\("<span class=\"ack\">\(HTML.icon(.close))nobody acknowledged</span>", if: step.isLater)\
            <b>\(step.when)</b></div><div class="pc\(" held", if: step.isHeld)"><span class="ava" aria-hidden="true">\(initials)</span>\
            <span class="grow"><b>\(name)</b><small>\(step.about)</small></span><span class="chs">\(icons.joined())</span></div></li>
            """
    }

    private var end: HTML {
        guard !steps.isEmpty else {
            return
                "<li class=\"step end2\"><div class=\"when\"><b>Never</b></div><p class=\"soft small\">You chose to hear nothing of these.</p></li>"
        }
        return """
            <li class="step end2"><div class="when"><span class="ack ok">\(HTML.icon(.check))acknowledged</span><b>It stops</b></div>\
            <p class="soft small">One tap in the message is enough. Everybody sees who has it.</p></li>
            """
    }

    static func way(_ channel: NoticeChannel) -> (icon: IconName, name: String) {
        switch channel {
        case .mail: (.mail, t("Email"))
        case .push: (.bell, t("Push"))
        case .webhook: (.link, t("Webhook"))
        }
    }
}
