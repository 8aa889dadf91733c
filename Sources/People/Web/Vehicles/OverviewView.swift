internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The fleet in a day or week beside the one before; open alerts, and silent vehicles.
struct OverviewView {
    let first: CivilDate
    let isWeek: Bool
    let now, before: [TripRead]
    let map: FleetMap
    let caller: PageCaller
    let nowMs: Int64

    var html: HTML {
        let last = first.moved(by: isWeek ? 6 : 0)
        let title = isWeek ? "\(first.text) to \(last.text)" : first.text
        return """
            <h1>Fleet overview, \(title)</h1>
            <p class="soft">\(first.zone), \(hours) hours. Trips count on the day they begin.</p>
            \(form)
            \(figures)
            \(isWeek ? byDay : "")
            \(alerts)
            \(silent)
            """
    }

    private var hours: Int64 {
        let span = first.span(days: isWeek ? 7 : 1)
        return (span.upperBound - span.lowerBound) / 3_600_000
    }

    private var form: HTML {
        let step: Int64 = isWeek ? 7 : 1
        let (span, word): (HTML, HTML) = isWeek ? ("&amp;span=week", "week") : ("", "day")
        return """
            <form class="filter" method="get" action="/fleet">
            <div><label for="date">Date</label><input id="date" name="date" type="date" value="\(first.text)" required></div>
            <div><label for="span">Span</label><select id="span" name="span"><option value="day"\(isWeek ? "" : " selected")>day</option><option value="week"\(isWeek ? " selected" : "")>week from Monday on</option></select></div>
            <button>Show</button>
            </form>
            <p><a href="/fleet?date=\(first.moved(by: -step).text)\(span)">The \(word) before</a>, <a href="/fleet?date=\(first.moved(by: step).text)\(span)">the \(word) after</a></p>
            """
    }

    private var figures: HTML {
        let pairs = zip(TripTotalsView(now, caller.units).figures, TripTotalsView(before, caller.units).figures)
        return HTML.table(
            caption: "Figures",
            headers: [
                .text("Figure"), .number(isWeek ? "This week" : "This day"),
                .number(isWeek ? "Week before" : "Day before"), .number("Change"),
            ],
            rows: pairs.map { now, before in
                [.text(now.name), .text(now.text), .text(before.text), .text(change(now.value, before.value))]
            },
            empty: "")
    }

    private func change(_ now: Double?, _ before: Double?) -> String? {
        guard let now, let before, before > 0 else { return nil }
        let percent = (now - before) / before * 100
        return "\(percent > 0 ? "+" : percent < 0 ? "−" : "")\(TripTotalsView.text(abs(percent), 0)) %"
    }

    private var byDay: HTML {
        let days = (0..<7).map { first.moved(by: Int64($0)) }
        let names = TripTotalsView([], caller.units).figures.map(\.name)
        return HTML.table(
            caption: "Day by day", headers: [.word("Day")] + names.map { .number($0) },
            rows: days.map { day in
                let span = day.span(days: 1)
                let sums = TripTotalsView(now.filter { span.contains($0.trip.startMs) }, caller.units)
                return ["<a href=\"/trips?date=\(day.text)\">\(day.text)</a>"] + sums.figures.map { .text($0.text) }
            }, empty: "")
    }

    private var alerts: HTML {
        let open = map.vehicles.filter { $0.openAlerts > 0 }
        let count = open.reduce(0) { $0 + $1.openAlerts }
        return HTML.table(
            caption: "Open alerts now: \(count)",
            headers: [.word("Vehicle"), .number("Open"), .word("Worst")],
            rows: open.map { vehicle in
                [
                    link(vehicle), "\(vehicle.openAlerts)",
                    vehicle.severity.map { "<span class=\"\($0.rawValue)\">\($0.rawValue)</span>" },
                ]
            }, empty: "No alert is open\(UnmonitoredView.exception(map)).", narrow: .cards)
            + UnmonitoredView.sentence(map)
    }

    private var silent: HTML {
        HTML.table(
            caption: "Silent now", headers: [.word("Vehicle"), .word("Last heard of"), .text("Kind")],
            rows: map.vehicles.filter { $0.state == .silent }.map { vehicle in
                [link(vehicle), vehicle.lastMs.map(caller.clock.html) ?? "never", .text(vehicle.kind.rawValue)]
            }, empty: "Every vehicle was heard of in the last 24 hours.")
    }

    private func link(_ vehicle: FleetMap.Vehicle) -> HTML {
        "<a href=\"/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)\">\(vehicle.name ?? vehicle.vehicle)</a>"
    }
}
