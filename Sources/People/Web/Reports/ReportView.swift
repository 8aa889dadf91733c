internal import Alerts
internal import HTTPServer
internal import Presentation
internal import Reports

/// The form that asks for a report, and below it what was asked for.
struct ReportView {
    static let fleetsMax: Int64 = 500

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
            "Reports",
            actions: """
                <a class="btn" href="/reports/schedules" aria-label="Scheduled reports">\(HTML.icon(.calendar))<span class="hide-phone">Scheduled reports</span></a>
                """)
    }

    var html: HTML {
        """
        \(form)
        <p class="soft small">Days in \(caller.clock.zone), \(caller.units == .us ? "US" : "metric") units. <a href="/account">Change</a></p>
        \(result)
        \(found == nil ? list : "")
        """
    }

    private func given(_ name: String) -> String { String((request.query[name] ?? "").prefix(200)) }

    private var form: HTML {
        let today = ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)
        let spans = [
            ("day", "The day"), ("week", "Its week"), ("month", "Its month"), ("range", "Until a last day"),
        ]
        let fleetField: HTML =
            fleets.isEmpty
            ? ""
            : "<div><label for=\"fleet\">Fleet</label><select id=\"fleet\" name=\"fleet\">\(HTML.options([("", "All")] + fleets.map { ($0.id, $0.name) }, given("fleet")))</select></div>"
        let kinds = Report.Subject.ordered.filter { kind in reports.contains { $0.of == kind } }.map(\.rawValue)
        let hasNames = kinds.contains(Report.Subject.vehicle.rawValue)
        return """
            <form class="filter" method="get" action="/reports">
            <div><label for="report">Report</label><select id="report" name="report">\(HTML.options(reports.map { ($0.name, $0.title) }, given("report")))</select></div>
            <div><label for="date">Day</label><input id="date" name="date" type="date" required value="\(given("date").isEmpty ? today : given("date"))"></div>
            <div><label for="span">Time</label><select id="span" name="span">\(HTML.options(spans, given("span")))</select></div>
            <div><label for="until">Last day (of a range)</label><input id="until" name="until" type="date" value="\(given("until"))"></div>
            <div><label for="of">\(ReportView.only(kinds))</label><input id="of" placeholder="All" name="of" type="text" maxlength="200"\(" list=\"vehicles\"", if: hasNames) autocomplete="off" value="\(given("of"))">\(hasNames ? VehicleNames.list(kind: nil) : "")</div>
            \(fleetField)
            <button class="btn primary">Show</button>
            </form>
            """
    }

    /// `Vehicle, campus or site`
    static func only(_ kinds: [String]) -> String {
        let list =
            kinds.count < 2
            ? kinds.joined() : kinds.dropLast().joined(separator: ", ") + " or " + kinds[kinds.count - 1]
        return list.prefix(1).uppercased() + list.dropFirst()
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
                ? "<p role=\"status\" class=\"empty\">\(wanted.report.empty)</p>" : ""
            return """
                <section aria-labelledby="result"><div class="row between wrap result"><h2 id="result">\(output.title)</h2>
                <div class="row wrap">\(links.joined(separator: " "))</div></div>
                \(none)
                \(output.main)
                </section>
                """
        case (.output, .failure), (.output, nil), (nil, _): return ""
        }
    }

    private var list: HTML {
        let today = ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)
        let cards: [HTML] = reports.map { report in
            func address(_ more: HTML) -> HTML { "/reports\(more)&amp;date=\(today)&amp;span=month" }
            return """
                <section class="card w4"><header><span class="ic s">\(HTML.icon(ReportView.icon(report.of)))</span><h2>\(report.title)</h2></header>
                <p class="body tight soft">\(PageShell.sentence(report.summary)).</p>
                <footer><a class="btn small" href="\(address("?report=\(encoded: report.name)"))" aria-label="\(report.title), this month">This month</a>\
                <a class="btn small" href="\(address("/\(encoded: report.name)?format=pdf"))" aria-label="\(report.title), this month, as PDF">\(HTML.icon(.download))PDF</a></footer></section>
                """
        }
        let compare: HTML =
            caller.roles.isDisjoint(with: FleetRoutes.drivers)
            ? ""
            : """
            <section class="card w4"><header><span class="ic s">\(HTML.icon(.compare))</span><h2>Compare drives</h2></header>
            <p class="body tight soft">Drives of one route before and after a change of the car.</p>
            <footer><a class="btn small" href="/trips/compare">Compare drives of one route</a></footer></section>
            """
        return "<div class=\"grid\">\n\(cards.joined(separator: "\n"))\n\(compare)</div>"
    }
}

extension ReportView {
    fileprivate static func icon(_ subject: Report.Subject) -> IconName {
        switch subject {
        case .vehicle: .car
        case .campus: .dispatch
        case .site: .sighting
        case .tour: .tour
        }
    }
}

extension Report.Subject {
    static let ordered: [Report.Subject] = [.vehicle, .campus, .site, .tour]
}
