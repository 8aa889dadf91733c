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
                "<li><a href=\"/queries/\($0.name)\">\($0.question)</a></li>"
            }
            guard !items.isEmpty else { return nil }
            return "<h2>\(title(area))</h2>\n<ul>\n\(items.joined(separator: "\n"))\n</ul>"
        }
        return """
            <h1>Queries</h1>
            <p class="soft">Questions that come with Drover. The answers hold what you may see. <a href="/query">Ask something of your own</a>.</p>
            \(parts.joined(separator: "\n"))
            """
    }

    private static func title(_ area: String) -> String {
        area == "joint" ? "Several of these together" : area.prefix(1).uppercased() + area.dropFirst()
    }

    var html: HTML {
        """
        <p><a href="/queries">All queries</a></p>
        <h1>\(query.question)</h1>
        <p class="soft">\(QueryView.title(query.area)), query <code>\(query.name)</code>. Column names say the units; times are UTC unless the query asks for a zone.</p>
        \(fault.map(HTML.fault))
        \(form)
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
            <button>Ask</button>
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
            let options = HTML.options([("", "all")] + fleets.map { ($0.id, $0.name) }, value)
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
            "<a href=\"\(address(form))\">\(form.rawValue.uppercased())</a>"
        }
        let isCut = output.count > QueryView.rowsMax
        let count =
            isCut
            ? "The first \(QueryView.rowsMax) rows; there are more. The files have them."
            : output.count == 0
                ? "No row. Is the time long enough, and is there something of it that you may see?"
                : "\(output.count) row\(output.count == 1 ? "" : "s")."
        let table: HTML =
            output.count == 0
            ? ""
            : "<div class=\"scroll\" role=\"region\" aria-labelledby=\"answer\" tabindex=\"0\">\(output.prefix(QueryView.rowsMax).html)</div>"
        return """
            <h2 id="answer">Answer</h2>
            <p role="status">\(count)</p>
            <p>Export: \(links.joined(separator: ", ")). The address of this page asks the same again, also for others: they see what they may see.</p>
            \(table)
            """
    }

    private func address(_ form: QueryRoutes.Form) -> HTML {
        let items: [HTML] = query.parameters.compactMap { parameter in
            given[parameter.name].map { "\(parameter.name)=\(encoded: $0)" }
        }
        return "/queries/\(query.name)?\((items + ["format=\(form.rawValue)"]).joined(separator: "&amp;"))"
    }
}
