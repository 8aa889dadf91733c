internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// A ready query's question, the form that asks it, and its answer.
struct QueryView {
    static let rowsMax = 500

    let query: ReadyQuery
    /// By parameter, as the address has it.
    let given: [String: String]
    let caller: PageCaller
    let nowMs: Int64
    let fleets: [(id: String, name: String)]
    var output: QueryOutput?
    var fault: String?

    /// All that somebody may ask, by area.
    static func list(_ queries: [ReadyQuery]) -> HTML {
        let parts = ReadyQuery.areas.compactMap { area -> HTML? in
            let items: [HTML] = queries.filter { $0.area == area }.map {
                "<li><a class=\"item\" href=\"/queries/\($0.name)\"><span class=\"ic s\">\(HTML.icon(icons[area] ?? .query))</span><span>\($0.question)</span>\(HTML.icon(.right))</a></li>"
            }
            guard !items.isEmpty else { return nil }
            return """
                <section class="card w6" aria-labelledby="area-\(area)"><header><h2 id="area-\(area)">\(title(area))</h2><span class="count">\(items.count)</span></header>
                <ul class="plain">
                \(items.joined(separator: "\n"))
                </ul></section>
                """
        }
        return "<div class=\"grid\">\n\(parts.joined(separator: "\n"))\n</div>"
    }

    static let listHeading = PageHeading(
        "Queries",
        actions:
            "<a class=\"btn\" href=\"/query\" aria-label=\"Write your own\">\(HTML.icon(.code))<span class=\"hide-phone\">Write your own</span></a>"
    )

    private static let icons: [String: IconName] = [
        "machines": .tractor, "cars": .car, "dispatch": .dispatch, "tours": .tour, "sightings": .sighting,
    ]

    private static func title(_ area: String) -> String {
        area == "joint" ? "Across areas" : area.prefix(1).uppercased() + area.dropFirst()
    }

    var heading: PageHeading { PageHeading(query.question, crumb: ("Queries", "/queries")) }

    var html: HTML {
        """
        \(fault.map(HTML.fault))
        \(form)
        <p class="soft small">Column names say the units. Times are UTC unless the query asks for a time zone. <code>\(query.name)</code></p>
        \(output.map(result) ?? "")
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
        let isFleet = parameter.name == "fleet"
        let label: HTML =
            "<label for=\"p-\(name)\">\(isFleet ? "Fleet" : QueryView.label(parameter))</label>"
        let value = given[parameter.name] ?? standard(parameter)
        if isFleet {
            let options = HTML.options([("", "All")] + fleets.map { ($0.id, $0.name) }, value)
            return label + "<select id=\"p-\(name)\" name=\"\(name)\">\(options)</select>"
        }
        let type: HTML =
            switch parameter.kind {
            case .date: "type=\"date\""
            case .integer: "type=\"number\" step=\"1\""
            case .number: "type=\"number\" step=\"any\""
            case .text, .time: "type=\"text\" maxlength=\"200\" autocomplete=\"off\""
            }
        return label
            + "<input id=\"p-\(name)\" name=\"\(name)\" \(type)\(parameter.standard == nil ? " required" : "") value=\"\(String(value.prefix(1_000)))\">"
    }

    private static func label(_ parameter: ReadyQuery.Parameter) -> String {
        let name = parameter.name.prefix(1).uppercased() + parameter.name.dropFirst()
        return "\(name): \(parameter.meaning)"
    }

    /// The reader's own zone; of days that must be said the last thirty.
    private func standard(_ parameter: ReadyQuery.Parameter) -> String {
        if parameter.name == "zone" { return caller.clock.zone }
        if let standard = parameter.standard { return standard }
        guard parameter.kind == .date else { return "" }
        let isFirst = parameter.name == "from"
        return ZonedDay.date(ofMs: nowMs - (isFirst ? 29 * UTC.msPerDay : 0), zone: caller.clock.zone)
    }

    // MARK: The answer

    private func result(_ output: QueryOutput) -> HTML {
        let links: [HTML] = QueryRoutes.Form.allCases.map { form in
            "<a class=\"btn small\" href=\"\(address(form))\">\(HTML.icon(.download))\(form.rawValue.uppercased())</a>"
        }
        let isCut = output.count > QueryView.rowsMax
        let count =
            isCut
            ? "The first \(QueryView.rowsMax) rows. Files have all of them."
            : output.count == 0
                ? "No rows. Try a longer time, or less narrow fields." : caller.words.count(output.count, .row)
        let table: HTML =
            output.count == 0
            ? ""
            : "<div class=\"scroll\" role=\"region\" aria-labelledby=\"answer\" tabindex=\"0\">\(output.prefix(QueryView.rowsMax).html)</div>"
        return """
            <section class="card"><header><h2 id="answer">Answer</h2><span class="soft" role="status">\(count)</span>\
            <span class="row wrap end">\(links.joined(separator: " "))</span></header>
            \(table)
            <footer>This page’s address runs the query again. Whoever opens it sees the rows they may see.</footer></section>
            """
    }

    private func address(_ form: QueryRoutes.Form) -> HTML {
        let items: [HTML] = query.parameters.compactMap { parameter in
            given[parameter.name].map { "\(parameter.name)=\(encoded: $0)" }
        }
        return "/queries/\(query.name)?\((items + ["format=\(form.rawValue)"]).joined(separator: "&amp;"))"
    }
}
