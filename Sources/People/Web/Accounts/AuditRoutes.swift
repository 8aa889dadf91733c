internal import Basics
internal import Fleet
package import HTTPServer
internal import Presentation
internal import Storage

/// The audit log: a page of administrators.
package struct AuditRoutes: Sendable {
    private static let linesMax = 100

    private let access: AccessControl
    private let assets: AssetFiles

    package init(access: AccessControl, assets: AssetFiles) { (self.access, self.assets) = (access, assets) }

    package func add(to router: inout Router) {
        router.add("GET", "/audit") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                let asked = AuditFilter(request, zone: caller.clock.zone)
                // One more, which says whether there is a next page.
                let lines =
                    try asked.fault == nil
                    ? AuditPageQueries.lines(asked.question, limit: AuditRoutes.linesMax + 1, on: connection) : []
                let page = AuditView(
                    asked: asked, lines: lines, linesMax: AuditRoutes.linesMax,
                    people: try AdministrationStore.accounts(on: connection).map { ($0.account, $0.called) },
                    fleets: Dictionary(try AdministrationStore.fleets(on: connection).map { ($0.fleet, $0.name) }) {
                        first, _ in first
                    }, caller: caller)
                var response = PageShell(caller: caller, assets: assets).page(
                    t("Audit log"), at: "/administration",
                    heading: PageHeading(t("Audit log"), crumb: (t("People"), "/administration")),
                    main: page.html)
                if asked.fault != nil { response.status = 400 }
                return response
            }
        }
    }
}

/// The filter in the address of the audit page.
struct AuditFilter {
    /// As they were written.
    let given: [String: String]
    var question = AuditPageQueries.Question()
    var fault: String?

    /// - Parameter zone: of days, which are whole; nil: times of a program, in UTC.
    init(_ request: Request, zone: String? = nil) {
        given = request.query.filter { !$0.value.isEmpty }
        question.account = given["account"]
        if let account = given["account"],
            account.unicodeScalars.count > 64 || account.utf8.contains(where: { $0 < 0x20 })
        {
            fault = "There is no such account."
        }
        question.action = given["action"]
        if let action = given["action"], AuditAction(rawValue: action) == nil {
            fault = "There is no such kind of entry."
        }
        if let text = given["before"] {
            question.before = Int64(text)
            if question.before == nil { fault = "before must be the number of an entry." }
        }
        if let text = given["after"] {
            question.after = Int64(text).flatMap { $0 < 0 ? nil : $0 }
            if question.after == nil { fault = "after must be the number of an entry." }
        }
        question.sinceMs = time("since", zone, daysOn: 0)
        // The last day, too.
        question.untilMs = time("until", zone, daysOn: 1)
    }

    private mutating func time(_ name: String, _ zone: String?, daysOn: Int64) -> Int64? {
        guard let text = given[name] else { return nil }
        if let zone, let date = CivilDate(text, zone: zone), UTC.plausible.contains(date.startMs) {
            return date.moved(by: daysOn).startMs
        }
        let ms = UTC.parse(text).flatMap { UTC.plausible.contains($0) ? $0 : nil }
        if ms == nil { fault = "\(name) must be a day or a time like 2026-11-21 or 2026-11-21T08:00:00Z." }
        return ms
    }

    func address(before: Int64) -> HTML {
        let kept = ["account", "action", "since", "until"].compactMap { name in given[name].map { (name, $0) } }
        let items: [HTML] = (kept + [("before", String(before))]).map { "\($0.0)=\(encoded: $0.1)" }
        return "/audit?\(items.joined(separator: "&amp;"))"
    }
}

private struct AuditView {
    let asked: AuditFilter
    let lines: [AuditPageQueries.Line]
    let linesMax: Int
    /// To choose from, and what they are called.
    let people: [(account: String, name: String)]
    let fleets: [String: String]
    let caller: PageCaller

    var html: HTML {
        FormView.said(asked.fault.map { .fault($0) }, filter + table + next)
    }

    private var filter: HTML {
        func day(_ name: String, _ label: String) -> HTML {
            "<div><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" type=\"date\" value=\"\(String((asked.given[name] ?? "").prefix(10)))\"></div>"
        }
        let actions = HTML.options(
            AuditAction.allCases.map { ($0.rawValue, AuditWords.name($0)) }, asked.given["action"])
        // Programs and commands act under names that are no account's.
        let other = asked.given["account"].flatMap { given in
            people.contains { $0.account == given } ? nil : (given, given)
        }
        let persons = HTML.options(
            ([other].compactMap { $0 } + people.map { ($0.account, $0.name) }), asked.given["account"])
        return """
            <p class="soft">Who did what. Entries cannot be changed here; <code>drover audit verify</code> finds changes made in the database.</p>
            <form class="filter" method="get" action="/audit">
            <div><label for="account">Who</label><select id="account" name="account"><option value="">Anybody</option>\(persons)</select></div>
            <div><label for="action">What</label><select id="action" name="action"><option value="">Anything</option>\(actions)</select></div>
            \(day("since", t("From")))
            \(day("until", t("To")))
            <button class="btn primary">Show</button>\("<a class=\"btn ghost\" href=\"/audit\">Show all</a>", if: !asked.given.isEmpty)
            </form>
            """
    }

    private var table: HTML {
        let names = Dictionary(people.map { ($0.account, $0.name) }) { first, _ in first }
        return HTML.table(
            caption: t("Entries"),
            headers: [.word(t("When")), .prose(t("What happened")), .word(t("From")), .word(t("Entry"))],
            rows: lines.prefix(linesMax).map { line in
                let detail: HTML? =
                    line.detail == "{}"
                    ? nil : "<details><summary>Details</summary><code>\(line.detail)</code></details>"
                return [
                    caller.clock.html(line.atMs),
                    "\(AuditWords(line, names: names, fleets: fleets).sentence)\(detail)", .text(line.remote),
                    "<span class=\"soft\">\(line.sequence)</span>",
                ]
            }, empty: t("No entries found."))
    }

    private var next: HTML {
        guard lines.count > linesMax else { return "" }
        return
            "\n<p><a class=\"btn small\" href=\"\(asked.address(before: lines[linesMax - 1].sequence))\">Older entries</a></p>"
    }
}
