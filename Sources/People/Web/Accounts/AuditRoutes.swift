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
                let asked = AuditFilter(request)
                // One more, which says whether there is a next page.
                let lines =
                    try asked.fault == nil
                    ? AuditPageQueries.lines(asked.question, limit: AuditRoutes.linesMax + 1, on: connection) : []
                let page = AuditView(asked: asked, lines: lines, linesMax: AuditRoutes.linesMax, caller: caller)
                var response = PageShell(caller: caller, assets: assets).page(
                    "audit log", at: "/administration",
                    heading: PageHeading("Audit log", crumb: ("People", "/administration")),
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

    init(_ request: Request) {
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
        question.sinceMs = time("since")
        question.untilMs = time("until")
    }

    private mutating func time(_ name: String) -> Int64? {
        guard let text = given[name] else { return nil }
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
    let caller: PageCaller

    var html: HTML {
        FormView.said(asked.fault.map { .fault($0) }, filter + table + next)
    }

    private var filter: HTML {
        func input(_ name: String, _ label: String) -> HTML {
            "<div><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" type=\"text\" value=\"\(asked.given[name] ?? "")\" autocomplete=\"off\" maxlength=\"64\"></div>"
        }
        let options = HTML.options(
            AuditAction.allCases.map { ($0.rawValue, AuditView.words($0.rawValue)) }, asked.given["action"])
        return """
            <p class="soft">Who did what. Entries cannot be changed here; <code>drover audit verify</code> finds changes made in the database.</p>
            <form class="filter" method="get" action="/audit">
            \(input("account", "Account"))
            <div><label for="action">What</label><select id="action" name="action"><option value="">Anything</option>\(options)</select></div>
            \(input("since", "From (UTC)"))
            \(input("until", "Until (UTC)"))
            <button class="btn primary">Show</button>
            </form>
            """
    }

    private var table: HTML {
        HTML.table(
            caption: "Entries",
            headers: [
                .number("Entry"), .word("When"), .text("What"), .word("By"), .word("About"), .word("From"),
                .prose("Details"),
            ],
            rows: lines.prefix(linesMax).map { line in
                [
                    "\(line.sequence)", caller.clock.html(line.atMs), .text(AuditView.words(line.action)),
                    .text(line.actor), .text(line.subject), .text(line.remote),
                    .text(line.detail == "{}" ? nil : line.detail),
                ]
            }, empty: "No entries found.")
    }

    private var next: HTML {
        guard lines.count > linesMax else { return "" }
        return
            "\n<p><a class=\"btn small\" href=\"\(asked.address(before: lines[linesMax - 1].sequence))\">Older entries</a></p>"
    }

    private static func words(_ action: String) -> String { action.replacing("_", with: " ") }
}
