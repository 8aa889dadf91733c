internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports

/// What matters of a vehicle, in one sentence, with what to do: on top of its page, and in the field.
struct VehicleVerdict {
    private let view: VehicleView

    init(_ view: VehicleView) { self.view = view }

    private enum Tone: String { case critical, warning, ok, quiet }

    var html: HTML {
        let (tone, icon, title, words, actions) = said
        return """
            <div class="say \(tone.rawValue)"><span class="ic \(tone.rawValue)">\(HTML.icon(icon))</span>\
            <div class="grow"><h2>\(title)</h2><p class="soft">\(words)</p></div>\
            <div class="row wrap">\(actions)</div></div>
            <div class="meta">\(facts)</div>
            """
    }

    private var said: (Tone, IconName, String, HTML, HTML) {
        if let worst = view.alerts.first { return of(worst) }
        if view.story.lastMs == nil, !view.about.hasReported { return unheard }
        if let reason = view.about.notMonitored {
            return (.quiet, .silent, t("Not monitored"), "\(reason.why) \(whoCan(reason))", view.parts.unmonitored)
        }
        guard let lastMs = view.story.lastMs else { return unheard }
        let noAlert = view.seenSinceMs == nil ? t("No alert is open.") : t("No alert was opened since and is open.")
        let age = view.caller.words.age(lastMs, nowMs: view.nowMs)
        if view.nowMs - lastMs > VehicleState.silentMs {
            return (.quiet, .check, t("Nothing open"), "\(noAlert) \(t("Last heard \(age)."))", "")
        }
        let live: HTML = view.nowMs - lastMs < VehicleView.freshMs ? "\(t("Live.")) " : ""
        return (.ok, .check, t("All fine"), "\(live)\(noAlert)", "")
    }

    /// A vehicle that was just added: how its first word comes, and what it lacks to be judged then.
    private var unheard: (Tone, IconName, String, HTML, HTML) {
        let how: HTML =
            switch view.about.kind {
            case .machine where !view.parts.connect.isEmpty:
                .t("Connect asks its box now; else it shows here as soon as it reports.")
            case .machine: .t("It shows here as soon as it reports.")
            case .car: .t("It shows here with its first drive.")
            }
        let lack: HTML? = view.about.notMonitored.map { " \(t("Nothing judges it yet.")) \($0.why) \(whoCan($0))" }
        return (.quiet, .silent, t("Nothing heard yet"), "\(how)\(lack)", view.parts.unmonitored)
    }

    /// For who may not do it: who does.
    private func whoCan(_ reason: UnmonitoredReason) -> HTML {
        guard view.parts.unmonitored.isEmpty else { return "" }
        switch reason {
        case .nobody, .noModel: return .t("Who keeps this vehicle can do that.")
        case .noRules: return .t("Farmers, fleet managers and developers can do that.")
        case .alertsOff: return ""
        }
    }

    private func of(_ open: OpenAlert) -> (Tone, IconName, String, HTML, HTML) {
        let alert = open.alert
        let tone: Tone = alert.severity == .critical && alert.state != .dueSoon ? .critical : .warning
        let more = view.alerts.count - 1
        let others = t(more, one: "\(more) more alert is open.", many: "\(more) more alerts are open.")
        let rest: HTML = more == 0 ? "" : " <a href=\"\(view.link(.alerts))\">\(others)</a>"
        let advice: HTML = "\(alert.advice ?? t("Above all: \(alert.shownRule(view.caller.units))."))"
        let see: HTML = "<a class=\"btn\" href=\"/alerts/\(encoded: open.id)\">See the alert</a>"
        let value = view.story.value(alert.parameter) ?? alert.shown(alert.worstValue, view.caller.units)
        return (
            tone, tone == .critical ? .warn : .bell,
            AlertWords.headline(alert, value: value), "\(advice)\(rest)",
            "\(see)\(acknowledge(open))"
        )
    }

    private func acknowledge(_ open: OpenAlert) -> HTML {
        if let by = open.acknowledgedBy {
            let name = view.caller.person(by)
            let words =
                open.acknowledgedMs.map {
                    t("Acknowledged by \(name), \(view.caller.words.age($0, nowMs: view.nowMs))")
                } ?? t("Acknowledged by \(name)")
            return HTML.pill("ok", words)
        }
        guard view.mayAcknowledge else { return "" }
        return AlertForms.acknowledge(
            open.id, about: open.alert.parameter, view.caller,
            next: "\(view.address)?kind=\(view.about.kind.rawValue)&said=acknowledged",
            style: "btn primary")
    }

    // MARK: What it is

    private var facts: HTML {
        let about = view.about
        let id = about.name == nil ? nil : about.vehicle
        // On a phone these stand in the details: the map comes first.
        let kept: [(IconName, String?)] = [
            (.key2, id), (.person, about.owner.map(view.caller.person)),
            (.locate, about.tags.isEmpty ? nil : about.tags.joined(separator: ", ")), (.tag, about.ownWords),
        ]
        func html(_ pairs: [(IconName, String?)], _ style: HTML = "") -> HTML {
            pairs.compactMap { icon, text in text.map { "<span\(style)>\(HTML.icon(icon))\($0)</span>" } }.joined()
        }
        return html([(about.icon, about.described)]) + html(kept, " class=\"hide-phone\"")
            + html(view.story.facts.map { ($0.0, $0.1) })
    }
}

extension AlertWords {
    /// `Stop: coolant temperature 98.5 °C`
    /// - Parameter value: the latest, with its unit; nil: none is known.
    static func headline(_ alert: AlertRow, value: String?) -> String {
        if alert.isService { return alert.state == .dueSoon ? t("A service is due soon") : t("A service is due") }
        let name = lowered(alert.parameter)
        let isStop = alert.severity == .critical
        if alert.test == .absent { return isStop ? t("Stop: no word of \(name)") : t("Check: no word of \(name)") }
        let what = alert.isOfFlag ? alert.title : name + (value.map { " \($0)" } ?? "")
        return isStop ? t("Stop: \(what)") : t("Check: \(what)")
    }
}
