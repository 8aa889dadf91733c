internal import Alerts
internal import Presentation
internal import Reports

/// All open alerts that somebody may see, by vehicle, the worst first.
struct AlertListView {
    static let rowsMax: Int64 = 500

    let alerts: [OpenAlert]
    let unmonitored: [UnmonitoredVehicle]
    let caller: PageCaller
    let nowMs: Int64

    var html: HTML {
        """
        <h1>Open alerts</h1>
        <p><span id="count" role="status">\(alerts.count) open, \(alerts.count { $0.acknowledgedBy == nil }) not seen yet.</span> <span class="soft" id="updated">Last updated \(caller.clock.second(nowMs)), times are \(caller.clock.zone).</span> <span class="soft" id="live"></span></p>
        \(alerts.count == Int(AlertListView.rowsMax) ? "<p class=\"warning\">There are more: the first \(alerts.count) are shown.</p>" : "")
        <div id="alerts">
        \(groups)\(UnmonitoredView.sentence(unmonitored))
        </div>
        """
    }

    private var groups: HTML {
        guard !alerts.isEmpty else {
            return "<p class=\"empty\">No alert is open\(UnmonitoredView.exception(unmonitored.count)).</p>"
        }
        // By each vehicle's worst alert.
        var order: [String] = []
        let groups = Dictionary(grouping: alerts) { open in open.alert.vehicle }
        for open in alerts where !order.contains(open.alert.vehicle) { order.append(open.alert.vehicle) }
        return order.map { vehicle in group(groups[vehicle]!) }.joined(separator: "\n")
    }

    private func group(_ alerts: [OpenAlert]) -> HTML {
        let first = alerts[0]
        let vehicle = first.alert.vehicle
        let name = first.vehicleName.map { "\($0) (\(vehicle))" } ?? vehicle
        return HTML.table(
            caption: name,
            headers: [
                .word("Severity"), .word("Parameter"), .number("Worst"), .word("Alert when"), .word("Open since"),
                .prose("Seen"), .prose("What to do"),
            ],
            rows: alerts.map { open in
                let alert = open.alert
                let (kind, severity) =
                    alert.state == .dueSoon
                    ? ("soon", "due soon") : (alert.severity.rawValue, alert.severity.rawValue)
                let seen: HTML? = open.acknowledgedBy.map {
                    "by \($0), \(caller.clock.html(open.acknowledgedMs!))"
                }
                let silenced: HTML? = open.silencedUntilMs.map { "silenced until \(caller.clock.html($0))" }
                return [
                    "<span class=\"\(kind)\">\(severity)</span>",
                    "<a href=\"/alerts/\(encoded: open.id)\">\(alert.parameter)</a>",
                    .text(alert.shown(alert.worstValue, caller.units)), .text(alert.shownRule(caller.units)),
                    caller.clock.html(alert.openedMs),
                    [seen ?? "not yet", silenced].compactMap { $0 }.joined(separator: "<br>"), .text(alert.advice),
                ]
            }, empty: "", narrow: .cards)
    }
}
