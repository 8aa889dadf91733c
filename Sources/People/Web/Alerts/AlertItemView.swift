internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports

/// An alert in the list: what, where, how bad, since when, with whom, and what to do about it at once.
struct AlertItemView {
    private let one: TriagedAlert
    private let tab: AlertQuery.Tab
    private let caller: PageCaller
    private let nowMs: Int64
    /// A picture of its value.
    private let spark: HTML

    init(_ one: TriagedAlert, _ tab: AlertQuery.Tab, _ caller: PageCaller, nowMs: Int64, spark: HTML) {
        self.spark = spark
        self.one = one
        self.tab = tab
        self.caller = caller
        self.nowMs = nowMs
    }

    private var alert: AlertRow { one.alert }
    private var vehicle: String { one.vehicleName ?? alert.vehicle }
    /// For people who hear the page.
    private var about: String { "\(alert.title), \(vehicle)" }

    /// Its buttons and check box belong to the form of the list (`AlertListView`).
    var html: HTML {
        """
        <div class="al" data-alert="\(one.id)">\
        \(mayAct ? "<input type=\"checkbox\" class=\"check\" name=\"alert\" value=\"\(one.id)\" form=\"bulk\" aria-label=\"\(t("Select \(about)"))\">" : "<span></span>")\
        <span class="sevp">\(AlertWords.severity(alert))</span>\
        <span class="nm"><a href="/alerts/\(encoded: one.id)"><b>\(alert.title)</b></a>\
        <a href="/vehicles/\(encoded: alert.vehicle)?kind=\(alert.kind.rawValue)"><small>\(vehicle)</small></a>\(advice)</span>\
        <span class="val">\(spark)<span>\(value)</span></span>\
        <span class="when"><b>\(caller.words.span(nowMs - alert.openedMs))</b><small>since \(AlertWords.time(alert.openedMs, nowMs: nowMs, caller))</small></span>\
        <span class="who">\(who)</span>\
        <div class="act row">\(actions)</div></div>
        """
    }

    private var mayAct: Bool { one.mayAct && AlertAccess.mayAct(caller, on: alert.kind) }

    /// What a service is due for: of faults it stands on their pages.
    private var advice: HTML {
        guard tab == .services, let advice = alert.advice else { return "" }
        return "<small class=\"ell\" title=\"\(advice)\">\(advice)</small>"
    }

    private var value: HTML {
        guard let worst = alert.worst(caller.units) else {
            return "<small>\(alert.isService ? "" : alert.shownRule(caller.units))</small>"
        }
        return
            "<b>\(worst.number)</b><span class=\"u\"> \(worst.unit)</span><small>\(alert.limitWords(caller.units) ?? "")</small>"
    }

    private var who: HTML {
        let muted = AlertWords.muted(untilMs: one.mutedUntilMs, isToItsEnd: one.isMutedToItsEnd, nowMs: nowMs, caller)
        let name = (one.assignedTo ?? one.acknowledgedBy).map { AlertWords.person($0, caller) } ?? t("Nobody")
        let what: HTML =
            if let by = one.acknowledgedBy, let ms = one.acknowledgedMs {
                one.assignedTo == nil || one.assignedTo == by
                    ? "<span>acknowledged \(AlertWords.time(ms, nowMs: nowMs, caller))</span>"
                    : .t("acknowledged by \(AlertWords.person(by, caller))")
            } else {
                one.assignedTo == nil ? .t("not acknowledged") : .t("assigned, not acknowledged")
            }
        return "<b>\(name)</b><small>\(what)\(muted.map { ", \($0)" })</small>"
    }

    private var actions: HTML {
        guard mayAct else { return "" }
        let address = "/alerts/\(URLText.escaped(one.id))"
        func button(_ deed: String, _ words: HTML, _ style: StaticString, _ more: HTML = "") -> HTML {
            "<button class=\"\(HTML(stringLiteral: style))\" form=\"bulk\" formaction=\"\(address)/\(HTML(deed))\"\(more)>\(words)</button>"
        }
        let spoken: HTML = "<span class=\"sr\">: \(about)</span>"
        let first: HTML =
            switch tab {
            case .services:
                alert.kind == .machine
                    ? button(
                        "service", "\(HTML.icon(.check))\(HTML.t("Record"))\(spoken)", "btn small",
                        " title=\"\(t("The regular service was done now"))\"") : ""
            case .acknowledged: button("reopen", "\(HTML.t("Take back"))\(spoken)", "btn small")
            case .open, .resolved:
                button(
                    "acknowledge", "\(HTML.t("Acknowledge"))\(spoken)",
                    alert.severity == .critical ? "btn small primary" : "btn small",
                    " data-acknowledge=\"\(one.id)\"")
            }
        return """
            \(first)<details class="menu end"><summary class="btn small icon ghost"><span class="sr">\(t("More: \(about)"))</span>\(HTML.icon(.more))</summary>\
            <div class="pop">\(button("assign", .t("Assign to me"), "it", " name=\"to\" value=\"me\""))\
            <button class="it" type="button" data-assign="\(one.id)" hidden>Assign to somebody else…</button>\
            \(button("mute", .t("Mute for 1 hour"), "it", " name=\"until\" value=\"hour\""))\
            \(button("mute", .t("Mute until tomorrow 07:00"), "it", " name=\"until\" value=\"morning\""))\
            \(button("mute", .t("Mute until it is over"), "it", " name=\"until\" value=\"end\""))\
            \(one.mutedUntilMs == nil ? "" : button("mute", .t("Unmute"), "it", " name=\"until\" value=\"now\""))\
            <a href="\(address)">Open</a></div></details>
            """
    }
}
