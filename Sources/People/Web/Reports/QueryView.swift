internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// A ready query's question, the form that asks it, and its answer.
struct QueryView {
    static let rowsMax = 500
    /// The days that a query is opened with.
    private static let daysShown: Int64 = 30

    let query: ReadyQuery
    /// By parameter, as the address has it, or as the page is opened.
    let given: [String: String]
    let caller: PageCaller
    let nowMs: Int64
    let fleets: [(id: String, name: String)]
    var answer: QueryAnswer?
    var fault: String?

    /// All that somebody may ask, by area.
    static func list(_ queries: [ReadyQuery]) -> HTML {
        let parts = ReadyQuery.areas.compactMap { area -> HTML? in
            let items: [HTML] = queries.filter { $0.area == area }.map {
                "<li><a class=\"item\" href=\"/queries/\($0.name)\"><span class=\"ic s\">\(HTML.icon(icons[area] ?? .query))</span><span>\($0.question)</span>\(HTML.icon(.right))</a></li>"
            }
            guard !items.isEmpty else { return nil }
            return """
                <section class="card w6" aria-labelledby="area-\(area)"><header><h2 id="area-\(area)">\(QueryWords.area(area))</h2><span class="count">\(items.count)</span></header>
                <ul class="plain">
                \(items.joined(separator: "\n"))
                </ul></section>
                """
        }
        return "<div class=\"grid\">\n\(parts.joined(separator: "\n"))\n</div>"
    }

    static var listHeading: PageHeading {
        PageHeading(
            t("Queries"),
            actions:
                "<a class=\"btn\" href=\"/query\" aria-label=\"Write your own\">\(HTML.icon(.code))<span class=\"hide-phone\">Write your own</span></a>"
        )
    }

    private static let icons: [String: IconName] = [
        "machines": .tractor, "cars": .car, "dispatch": .dispatch, "tours": .tour, "sightings": .sighting,
    ]

    /// What a query asks when it is opened: the last thirty days by the reader's clock, this month and year.
    static func opened(_ query: ReadyQuery, _ caller: PageCaller, nowMs: Int64) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in query.parameters { values[parameter.name] = standard(parameter, caller, nowMs) }
        return values
    }

    /// Nil: what the query says.
    private static func standard(_ parameter: ReadyQuery.Parameter, _ caller: PageCaller, _ nowMs: Int64) -> String? {
        let zone = caller.clock.zone
        switch (parameter.name, parameter.kind) {
        case ("zone", .text): return zone
        case ("from", .date): return ZonedDay.date(ofMs: nowMs - (daysShown - 1) * UTC.msPerDay, zone: zone)
        case (_, .date): return ZonedDay.date(ofMs: nowMs, zone: zone)
        case ("year", .integer): return String(ZonedDay.date(ofMs: nowMs, zone: zone).prefix(4))
        case ("month", .integer):
            return Int(ZonedDay.date(ofMs: nowMs, zone: zone).dropFirst(5).prefix(2)).map { String($0) }
        case (_, .text), (_, .integer), (_, .number), (_, .time): return nil
        }
    }

    /// Whether everything is said that must be.
    var isComplete: Bool { query.parameters.allSatisfy { (given[$0.name] ?? $0.standard) != nil } }

    var heading: PageHeading { PageHeading(query.question, crumb: (t("Queries"), "/queries")) }

    var html: HTML {
        """
        \(fault.map(HTML.fault))
        \(form)
        \(spans)
        \(answer.map(result) ?? "")
        <p class="soft small">Days and months are those of UTC, times those of \(caller.clock.zone). <code>\(query.name)</code></p>
        """
    }

    // MARK: The form

    private var form: HTML {
        let fields: HTML = query.parameters.map { "<div>\(field($0))</div>" }.joined(separator: "\n")
        // Without parameters a sign that it was asked.
        let sign: HTML = query.parameters.isEmpty ? "<input type=\"hidden\" name=\"format\" value=\"\">" : ""
        return """
            <form class="filter" method="get" action="/queries/\(query.name)">
            \(fields)\(sign)
            <button class="btn primary">Run</button>
            </form>
            """
    }

    private func field(_ parameter: ReadyQuery.Parameter) -> HTML {
        let name = parameter.name
        let label: HTML = "<label for=\"p-\(name)\">\(QueryWords.label(parameter))</label>"
        let value =
            given[name] ?? parameter.standard ?? QueryView.standard(parameter, caller, nowMs) ?? ""
        if name == "fleet" {
            let options = HTML.options([("", t("All"))] + fleets.map { ($0.id, $0.name) }, value)
            return label + "<select id=\"p-\(name)\" name=\"\(name)\">\(options)</select>"
        }
        let type: HTML =
            switch parameter.kind {
            case .date: "type=\"date\""
            case .integer: "type=\"number\" step=\"1\""
            case .number: "type=\"number\" step=\"any\""
            case .text, .time: "type=\"text\" maxlength=\"200\" autocomplete=\"off\""
            }
        let hint = QueryWords.placeholder(parameter)
        let placeholder: HTML = hint.isEmpty ? "" : " placeholder=\"\(hint)\""
        return label
            + "<input id=\"p-\(name)\" name=\"\(name)\" \(type)\(placeholder)\(" required", if: parameter.standard == nil) value=\"\(String(value.prefix(1_000)))\">"
    }

    /// The usual times, in one click.
    private var spans: HTML {
        guard isComplete, has(["from", "to"]) else { return "" }
        let (zone, to) = (caller.clock.zone, ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone))
        let chips: [HTML] = [
            (7, t("Last 7 days")), (QueryView.daysShown, t("Last 30 days")), (90, t("Last 90 days")),
            (365, t("Last year")),
        ].map { days, text in
            let from = ZonedDay.date(ofMs: nowMs - (days - 1) * UTC.msPerDay, zone: zone)
            let isShown = given["from"] == from && given["to"] == to
            let link = address(given.merging(["from": from, "to": to]) { $1 })
            return "<a class=\"chip\" href=\"\(link)\"\(" aria-current=\"true\"", if: isShown)>\(text)</a>"
        }
        return "<div class=\"chips filter\" role=\"group\" aria-label=\"Time\">\(chips.joined())</div>"
    }

    /// This query with other values.
    private func address(_ values: [String: String], _ more: [HTML] = []) -> HTML {
        let items = query.parameters.compactMap { parameter -> HTML? in
            values[parameter.name].map { "\(parameter.name)=\(encoded: $0)" }
        }
        return "/queries/\(query.name)?\((items + more).joined(separator: "&amp;"))"
    }

    // MARK: The answer

    private func result(_ answer: QueryAnswer) -> HTML {
        let links: [HTML] = QueryRoutes.Form.allCases.map { form in
            "<a class=\"btn small\" href=\"\(address(form))\">\(HTML.icon(.download))\(form.rawValue.uppercased())</a>"
        }
        let rows = answer.output.count
        let isCut = rows > QueryView.rowsMax
        let count =
            isCut
            ? t("The first \(QueryView.rowsMax) rows. Files have all of them.")
            : rows == 0 ? t("No rows.") : caller.words.count(rows, .row)
        return """
            \(isCut ? "" : answer.figures)
            <section class="card"><header><h2 id="answer">Answer</h2><span class="soft" role="status">\(count)</span>\
            <span class="row wrap end">\(links.joined(separator: " "))</span></header>
            \(rows == 0 ? nothing : "<div class=\"scroll\" role=\"region\" aria-labelledby=\"answer\" tabindex=\"0\">\(answer.table)</div>")
            <footer>This page’s address runs the query again. Whoever opens it sees the rows they may see.</footer></section>
            """
    }

    /// What was asked, and longer times to ask it of.
    private var nothing: HTML {
        let asked = query.parameters.compactMap { parameter -> String? in
            let value = given[parameter.name] ?? parameter.standard ?? ""
            guard parameter.name != "zone", !value.isEmpty else { return nil }
            let shown = parameter.name == "fleet" ? fleets.first { $0.id == value }?.name ?? value : value
            return "\(QueryWords.label(parameter)): \(shown.prefix(200))"
        }
        let words: HTML =
            asked.isEmpty ? .t("There are no rows that you may see.") : HTML(asked.joined(separator: " · "))
        let longer: [HTML?] = [
            last90Days.map { "<a class=\"btn\" href=\"\($0)\">Last 90 days</a>" },
            allTime.map { "<a class=\"btn\" href=\"\($0)\">All time</a>" },
        ]
        return HTML.emptyState(
            .query, t("Nothing matches"), words, action: longer.compactMap(\.self).joined(separator: " "))
    }

    private func has(_ names: [String]) -> Bool {
        names.allSatisfy { name in query.parameters.contains { $0.name == name } }
    }

    /// Nil: that much was asked for.
    private var last90Days: HTML? {
        guard has(["from", "to"]) else { return nil }
        let zone = caller.clock.zone
        let from = ZonedDay.date(ofMs: nowMs - 89 * UTC.msPerDay, zone: zone)
        let to = ZonedDay.date(ofMs: nowMs, zone: zone)
        // Days compare as their texts do.
        guard let first = given["from"], first > from || (given["to"] ?? to) < from else { return nil }
        return address(given.merging(["from": from, "to": to]) { $1 })
    }

    /// Nil: the query has no such time, or was asked for it.
    private var allTime: HTML? {
        guard let from = query.parameters.first(where: { $0.name == "from" && $0.standard != nil }),
            given["from"] ?? from.standard != from.standard
        else { return nil }
        var all = given
        for parameter in query.parameters where ["from", "to"].contains(parameter.name) {
            all[parameter.name] = parameter.standard
        }
        return address(all)
    }

    private func address(_ form: QueryRoutes.Form) -> HTML { address(given, ["format=\(form.rawValue)"]) }
}
