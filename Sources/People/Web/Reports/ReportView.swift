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

    var html: HTML {
        """
        <h1>Reports</h1>
        <p class="soft">Days are those of \(caller.clock.zone), figures in \(caller.units == .us ? "US" : "metric") units, as <a href="/account">your account</a> says. <a href="/reports/schedules">Reports that come by themselves</a>.</p>
        \(form)
        \(result)
        \(found == nil ? list : "")
        """
    }

    private func given(_ name: String) -> String { String((request.query[name] ?? "").prefix(200)) }

    private var form: HTML {
        let today = ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)
        let spans = [
            ("day", "the day"), ("week", "its week, from Monday on"), ("month", "its month"),
            ("range", "up to the last day"),
        ]
        let fleetField: HTML =
            fleets.isEmpty
            ? ""
            : "<div><label for=\"fleet\">Fleet</label><select id=\"fleet\" name=\"fleet\">\(HTML.options([("", "all")] + fleets.map { ($0.id, $0.name) }, given("fleet")))</select></div>"
        let kinds = Report.Subject.ordered.filter { kind in reports.contains { $0.of == kind } }.map(\.rawValue)
        return """
            <form class="filter" method="get" action="/reports">
            <div><label for="report">Report</label><select id="report" name="report">\(HTML.options(reports.map { ($0.name, $0.title) }, given("report")))</select></div>
            <div><label for="date">Day</label><input id="date" name="date" type="date" required value="\(given("date").isEmpty ? today : given("date"))"></div>
            <div><label for="span">Of</label><select id="span" name="span">\(HTML.options(spans, given("span")))</select></div>
            <div><label for="until">Last day, of a range</label><input id="until" name="until" type="date" value="\(given("until"))"></div>
            <div><label for="of">One \(kinds.joined(separator: ", ")), by its id; empty: all</label><input id="of" name="of" type="text" maxlength="200" list="vehicles" autocomplete="off" value="\(given("of"))">\(kinds.contains(Report.Subject.vehicle.rawValue) ? VehicleNames.list(kind: nil) : "")</div>
            \(fleetField)
            <button>Show</button>
            </form>
            """
    }

    private var result: HTML {
        switch (found, asked) {
        case (.fault(let text), _): return .fault(text)
        case (.output(let output), .success(let wanted)):
            let links: [HTML] = ReportFormat.allCases.filter { $0 != .table }.map { format in
                "<a href=\"\(wanted.address(format))\">\(format.rawValue.uppercased())</a>"
            }
            let none: HTML =
                output.count == 0
                ? "<p role=\"status\" class=\"empty\">\(wanted.report.empty)</p>" : ""
            return """
                <section aria-labelledby="result"><h2 id="result">\(output.title)</h2>
                <p>Export: \(links.joined(separator: ", ")).</p>
                \(none)
                \(output.main)
                </section>
                """
        case (.output, .failure), (.output, nil), (nil, _): return ""
        }
    }

    private var list: HTML {
        let rows: HTML = reports.map { "<dt>\($0.title)</dt><dd>\($0.summary)</dd>" }.joined(separator: "\n")
        return "<h2>What there is</h2>\n<dl>\(rows)</dl>"
            + (caller.roles.isDisjoint(with: FleetRoutes.drivers)
                ? ""
                : "\n<p>Did a change of a car help? <a href=\"/trips/compare\">Compare drives of one route</a> before and after it.</p>")
    }
}

extension Report.Subject {
    static let ordered: [Report.Subject] = [.vehicle, .campus, .site, .tour]
}
