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
        if let reason = view.about.notMonitored {
            return (.quiet, .silent, "Not monitored", HTML(reason.why), view.parts.unmonitored)
        }
        guard let lastMs = view.story.lastMs else {
            return (.quiet, .silent, "Nothing heard yet", "It shows here as soon as it reports.", "")
        }
        let isFresh = view.nowMs - lastMs <= VehicleState.silentMs
        let noAlert = view.seenSinceMs == nil ? "No alert is open." : "No alert was opened since and is open."
        return isFresh
            ? (.ok, .check, "All fine", HTML(noAlert), "")
            : (
                .quiet, .check, "Nothing open",
                "\(noAlert) Last heard \(view.caller.words.age(lastMs, nowMs: view.nowMs)).", ""
            )
    }

    private func of(_ open: OpenAlert) -> (Tone, IconName, String, HTML, HTML) {
        let alert = open.alert
        let tone: Tone = alert.severity == .critical && alert.state != .dueSoon ? .critical : .warning
        let more = view.alerts.count - 1
        let rest: HTML =
            more == 0
            ? "" : " <a href=\"\(view.link(.alerts))\">\(more) more \(more == 1 ? "alert is" : "alerts are") open</a>."
        let advice: HTML = "\(alert.advice ?? "Above all: \(alert.shownRule(view.caller.units)).")"
        let see: HTML = "<a class=\"btn\" href=\"/alerts/\(encoded: open.id)\">See the alert</a>"
        let value = view.story.value(alert.parameter) ?? alert.shown(alert.worstValue, view.caller.units)
        return (
            tone, tone == .critical ? .warn : .bell,
            AlertWords.headline(alert, value: value, view.caller.units), "\(advice)\(rest)",
            "\(see)\(acknowledge(open))"
        )
    }

    private func acknowledge(_ open: OpenAlert) -> HTML {
        if let by = open.acknowledgedBy {
            let ago = open.acknowledgedMs.map { ", \(view.caller.words.age($0, nowMs: view.nowMs))" } ?? ""
            return "<span class=\"pill ok\">Acknowledged by \(view.caller.person(by))\(ago)</span>"
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
        let pairs: [(IconName, String?)] =
            [
                (about.icon, about.described), (.key2, id), (.person, about.owner.map(view.caller.person)),
                (.locate, about.tags.isEmpty ? nil : about.tags.joined(separator: ", ")), (.tag, about.ownWords),
            ] + view.story.facts.map { ($0.0, $0.1) }
        return pairs.compactMap { icon, text in text.map { "<span>\(HTML.icon(icon))\($0)</span>" } }.joined()
    }
}

extension AlertWords {
    /// `Stop: coolant temperature 98.5 °C`
    /// - Parameter value: the latest, with its unit; nil: none is known.
    static func headline(_ alert: AlertRow, value: String?, _ units: DriverSettings.Units) -> String {
        if alert.isService { return alert.state == .dueSoon ? "A service is due soon" : "A service is due" }
        let name = lowered(alert.parameter)
        let call = alert.severity == .critical ? "Stop" : "Check"
        if alert.test == .absent { return "\(call): no word of \(name)" }
        if alert.isOfFlag { return "\(call): \(alert.title)" }
        return "\(call): \(name)" + (value.map { " \($0)" } ?? "")
    }
}
