internal import Alerts
internal import Basics
internal import Fleet
internal import Notifications
internal import Presentation
internal import Reports

/// What happened to an alert, in order, and who was told of it.
struct AlertTaleView {
    let view: AlertView

    private var caller: PageCaller { view.caller }
    private var alert: AlertRow { view.alert }

    private struct Event {
        let ms: Int64
        let tone: StaticString
        let words: HTML
        var more: HTML?
    }

    var happened: HTML {
        // Of one time they stay in the order in which they follow from each other.
        let events = (own + notices + view.tale.words.reversed().map(event)).enumerated().sorted {
            ($0.element.ms, $0.offset) < ($1.element.ms, $1.offset)
        }
        let items: [HTML] = events.map { _, event in
            "<li>\(time(event.ms))<i class=\"dot \(HTML(stringLiteral: event.tone))\"></i><span>\(event.words)\(event.more.map { "<small>\($0)</small>" })</span></li>"
        }
        return "<ul class=\"tl\">\(items.joined())</ul>"
    }

    private func time(_ ms: Int64) -> HTML {
        let minute = caller.clock.minute(ms)
        let (day, clock) = (minute.prefix(10), String(minute.suffix(5)))
        let isToday = day == caller.clock.minute(view.nowMs).prefix(10)
        let date = caller.words.day(ms, nowMs: view.nowMs, caller.clock)
        return
            "<time datetime=\"\(UTC.text(ms))\" title=\"\(minute)\">\(isToday ? "" : "\(date)<br>")\(clock)</time>"
    }

    /// What it went through by itself.
    private var own: [Event] {
        let rule = alert.ruleWords(caller.units)
        var events: [Event] = []
        if alert.sinceMs < alert.openedMs, !alert.isService {
            events.append(
                Event(
                    ms: alert.sinceMs, tone: "",
                    words: .t("\(AlertWords.sentence(alert.parameter)) \(rule). The rule waits to be sure")))
        }
        let tone: StaticString = view.story.severity == .critical ? "critical" : "warning"
        events.append(
            Event(
                ms: alert.openedMs, tone: tone,
                words: alert.isService ? "<b>Opened</b>: the service comes near" : "<b>Opened</b>: \(rule)"))
        if let worst = alert.worst(caller.units), alert.worstAtMs > alert.openedMs, !alert.isService {
            events.append(
                Event(
                    ms: alert.worstAtMs, tone: tone,
                    words: alert.test == .below ? .t("Lowest: \(worst.text)") : .t("Highest: \(worst.text)")))
        }
        if let resolvedMs = alert.resolvedMs {
            events.append(
                Event(
                    ms: resolvedMs, tone: "ok",
                    words: "<b>Resolved</b> after \(caller.words.span(resolvedMs - alert.openedMs))"))
        }
        return events
    }

    private var notices: [Event] {
        view.tale.told.filter { $0.state == .told }.reversed().map { told in
            let words =
                told.account == caller.account
                ? AlertTaleView.toldMe(told.occasion)
                : AlertTaleView.told(AlertTaleView.name(told, caller), told.occasion)
            return Event(ms: told.ways.map(\.ms).min() ?? told.decidedMs, tone: "info", words: words)
        }
    }

    private static func toldMe(_ occasion: NoticeOccasion) -> HTML {
        switch occasion {
        case .opened: "<b>You</b> were told"
        case .worse: "<b>You</b> were told that it got worse"
        case .repeated: "<b>You</b> were told again: nobody had acknowledged it"
        case .escalated: "<b>You</b> were told as the next in line"
        case .resolved: "<b>You</b> were told that it is over"
        case .corrected: "<b>You</b> were told that late data corrected it"
        case .withdrawn: "<b>You</b> were told that it is taken back"
        }
    }

    private static func told(_ name: String, _ occasion: NoticeOccasion) -> HTML {
        switch occasion {
        case .opened: "<b>\(name)</b> was told"
        case .worse: "<b>\(name)</b> was told that it got worse"
        case .repeated: "<b>\(name)</b> was told again: nobody had acknowledged it"
        case .escalated: "<b>\(name)</b> was told as the next in line"
        case .resolved: "<b>\(name)</b> was told that it is over"
        case .corrected: "<b>\(name)</b> was told that late data corrected it"
        case .withdrawn: "<b>\(name)</b> was told that it is taken back"
        }
    }

    private func event(_ word: AlertTale.Word) -> Event {
        let who = AlertWords.person(word.by, caller)
        let note: HTML? = word.note.map { HTML($0) }
        switch word.kind {
        case .acknowledged: return Event(ms: word.ms, tone: "ok", words: "<b>\(who)</b> acknowledged it", more: note)
        case .comment: return Event(ms: word.ms, tone: "", words: "<b>\(who)</b>: \(word.note ?? "")")
        case .reopened:
            return Event(ms: word.ms, tone: "", words: "<b>\(who)</b> took the acknowledgement back", more: note)
        case .assigned:
            let words: HTML =
                if let account = word.account {
                    account == word.by
                        ? "<b>\(who)</b> took it over"
                        : "<b>\(who)</b> assigned it to <b>\(account == caller.account ? t("you") : caller.person(account))</b>"
                } else {
                    "<b>\(who)</b> assigned it to nobody"
                }
            return Event(ms: word.ms, tone: "", words: words, more: note)
        case .muted:
            let words: HTML =
                if let untilMs = word.untilMs {
                    untilMs <= word.ms
                        ? "<b>\(who)</b> unmuted it"
                        : "<b>\(who)</b> muted it until \(AlertWords.planned(untilMs, nowMs: view.nowMs, caller))"
                } else {
                    "<b>\(who)</b> muted it until it is over"
                }
            return Event(ms: word.ms, tone: "", words: words, more: note)
        }
    }

    // MARK: Who was told

    var told: HTML {
        var accounts: [String] = []
        for told in view.tale.told where !accounts.contains(told.account) { accounts.append(told.account) }
        let rows: [HTML] = accounts.map { account in row(view.tale.told.filter { $0.account == account }) }
        let none: HTML = "<div class=\"body soft\">Nobody you know was told.</div>"
        return """
            \(rows.isEmpty ? none : rows.joined(separator: "\n"))
            <footer class="small"><a class="more" href="/notices">Change what you are told</a></footer>
            """
    }

    /// - Parameter all: one person's notices, the latest first.
    private func row(_ all: [AlertTale.Told]) -> HTML {
        let latest = all[0]
        let ways = all.flatMap(\.ways).filter { $0.state == .sent }.map { way in
            "\(NoticeFlow.way(way.channel).name) \(caller.clock.minute(way.ms).suffix(5))"
        }
        let failed = all.flatMap(\.ways).filter { $0.state == .refused }.map { way in
            t("\(NoticeFlow.way(way.channel).name) did not go through")
        }
        let reason = latest.state == .told ? [] : [latest.reason]
        let said = (ways + failed + reason).joined(separator: ", ")
        let pill: HTML =
            if all.contains(where: { $0.linkUsedMs != nil }) {
                HTML.pill("ok", t("Acknowledged"))
            } else {
                switch latest.state {
                case .told: HTML.pill("info", t("Told"))
                // Whether a channel carries it is decided when it is due: no time is promised here.
                case .waiting: HTML.pill("quiet", t("Not told yet"))
                case .notTold: HTML.pill("quiet", t("Not told"))
                }
            }
        let name = AlertTaleView.name(latest, caller)
        return """
            <div class="item"><span class="ava" aria-hidden="true">\(AlertTaleView.initials(latest))</span>\
            <span><b>\(name)</b><small>\(said)</small></span>\(pill)</div>
            """
    }

    private static func name(_ told: AlertTale.Told, _ caller: PageCaller) -> String {
        told.account == caller.account ? t("You") : told.name.isEmpty ? told.account : told.name
    }

    private static func initials(_ told: AlertTale.Told) -> String {
        let words = (told.name.isEmpty ? told.account : told.name).split { !$0.isLetter && !$0.isNumber }
        let letters = words.count > 1 ? words.prefix(2).map { $0.prefix(1) } : [told.account.prefix(2)]
        return letters.joined().uppercased()
    }
}
