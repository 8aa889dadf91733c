internal import Alerts
internal import HTTPServer
internal import Presentation
internal import Reports

/// The form that asks for a report, and below it what was asked for.
struct ReportView {
    struct Fleet {
        let id, name: String
    }

    enum Found {
        case output(any ReportOutput)
        case fault(String)
    }

    let reports: [Report]
    let fleets: [Fleet]
    let caller: PageCaller
    let request: Request
    let asked: Result<ReportRequest, ReportRequest.Fault>?
    let found: Found?
    let nowMs: Int64

    var heading: PageHeading {
        PageHeading(
            t("Reports"),
            actions: """
                <a class="btn" href="/reports/schedules" aria-label="Scheduled reports">\(HTML.icon(.calendar))<span class="hide-phone">Scheduled reports</span></a>
                """)
    }

    /// The most used first, for this month and the last; whoever wants another time or one vehicle has the form below.
    var html: HTML {
        guard found == nil else { return "\(form)\n\(about)\n\(result)" }
        return """
            <div class="grid">
            \(ordered.prefix(ReportView.leading).map { card($0, isFirst: true) }.joined(separator: "\n"))
            </div>
            <section class="card ask" aria-labelledby="ask"><header><h2 id="ask">Any report, any days</h2></header>
            <div class="body">\(form)
            \(about)</div></section>
            \(rest)
            """
    }

    private static let leading = 3
    private var ordered: [Report] { ReportWords.ordered(reports, for: caller.roles) }

    private var about: HTML {
        "<p class=\"soft small\">Days in \(caller.clock.zone), \(caller.units == .us ? t("US units") : t("metric units")). <a href=\"/account\">Change</a></p>"
    }

    private func given(_ name: String) -> String { String((request.query[name] ?? "").prefix(200)) }

    private var form: HTML {
        let spans = [
            ("day", t("That day")), ("week", t("Its week")), ("month", t("Its month")),
            ("range", t("Until the last day")),
        ]
        let fleetField: HTML =
            fleets.isEmpty
            ? ""
            : "<div><label for=\"fleet\">Fleet</label><select id=\"fleet\" name=\"fleet\">\(HTML.options([("", t("All"))] + fleets.map { ($0.id, $0.name) }, given("fleet")))</select></div>"
        let hasNames = reports.contains { $0.of == .vehicle }
        return """
            <form class="filter" method="get" action="/reports">
            <div><label for="report">Report</label><select id="report" name="report">\(HTML.options(ordered.map { ($0.name, ReportWords.title($0)) }, given("report")))</select></div>
            <div><label for="date">Day</label><input id="date" name="date" type="date" required value="\(given("date").isEmpty ? today : given("date"))"></div>
            <div><label for="span">Time</label><select id="span" name="span">\(HTML.options(spans, given("span")))</select></div>
            <div><label for="until">Last day</label><input id="until" name="until" type="date" value="\(given("until"))"></div>
            <div><label for="of">\(ReportWords.only(reports))</label><input id="of" placeholder="All" name="of" type="text" maxlength="200"\(" list=\"vehicles\"", if: hasNames) autocomplete="off" value="\(given("of"))">\(hasNames ? VehicleNames.list(kind: nil) : "")</div>
            \(fleetField)
            <button class="btn primary">Show</button>
            </form>
            """
    }

    private var result: HTML {
        switch (found, asked) {
        case (.fault(let text), _): return .fault(text)
        case (.output(let output), .success(let wanted)):
            let links: [HTML] = ReportFormat.allCases.filter { $0 != .table }.map { format in
                "<a class=\"btn\(" primary", if: format == .pdf)\" href=\"\(wanted.address(format))\">\(HTML.icon(.download))\(format.rawValue.uppercased())</a>"
            }
            let none: HTML =
                output.count == 0
                ? "<p role=\"status\" class=\"empty\">\(ReportWords.empty(wanted.report))</p>" : ""
            return """
                <section aria-labelledby="result"><div class="row between wrap result"><h2 id="result">\(output.title)</h2>
                <div class="row wrap">\(links.joined(separator: " "))</div></div>
                \(none)
                \(ReportView.totals(output))
                \(output.main)
                </section>
                """
        case (.output, .failure), (.output, nil), (nil, _): return ""
        }
    }

    /// Before the rows, which the report begins with.
    private static func totals(_ output: any ReportOutput) -> HTML {
        let tiles: [HTML] = output.totals.map { "<li>\($0.name)<b>\($0.text)</b></li>" }
        return tiles.isEmpty ? "" : "<ul class=\"tiles\">\(tiles.joined())</ul>"
    }

    // MARK: The list

    private var rest: HTML {
        let compare: HTML =
            caller.roles.isDisjoint(with: FleetRoutes.drivers)
            ? ""
            : """
            <section class="card w4"><header><span class="ic s">\(HTML.icon(.compare))</span><h2>Compare drives</h2></header>
            <p class="body tight soft">Drives of one route before and after a change of the car.</p>
            <footer><a class="btn small" href="/trips/compare">Compare drives of one route</a></footer></section>
            """
        let cards = ordered.dropFirst(ReportView.leading).map { card($0, isFirst: false) }
        guard !cards.isEmpty || !compare.isEmpty else { return "" }
        return "<div class=\"grid\">\n\(cards.joined(separator: "\n"))\n\(compare)</div>"
    }

    private func card(_ report: Report, isFirst: Bool) -> HTML {
        let title = ReportWords.title(report)
        let (today, before) = (today, lastMonth)
        func pdf(_ day: String, _ text: String, _ name: String) -> HTML {
            "<a class=\"btn small\" href=\"/reports/\(encoded: report.name)?format=pdf&amp;date=\(day)&amp;span=month\" aria-label=\"\(name)\">\(HTML.icon(.download))\(text)</a>"
        }
        return """
            <section class="card w4"><header><span class="ic s">\(HTML.icon(ReportWords.icon(report)))</span><h2>\(title)</h2></header>
            <p class="body tight soft">\(ReportWords.summary(report))</p>
            <footer><a class="btn small\(" primary", if: isFirst)" href="/reports?report=\(encoded: report.name)&amp;date=\(today)&amp;span=month" aria-label="\(t("\(title), this month"))">\(t("This month"))</a>
            \(pdf(today, t("PDF"), t("\(title), this month, as PDF")))
            \(isFirst ? pdf(before, t("Last month"), t("\(title), last month, as PDF")) : "")</footer></section>
            """
    }

    private var today: String { ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone) }

    /// The last day of the month before this one.
    private var lastMonth: String {
        let zone = caller.clock.zone
        guard let first = ZonedDay(date: today.prefix(8) + "01", zone: zone) else { return today }
        return ZonedDay.date(ofMs: first.fromMs - 1, zone: zone)
    }
}
