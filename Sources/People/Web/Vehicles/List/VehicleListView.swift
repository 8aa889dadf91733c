internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports

/// The vehicles that somebody sees: searched, sorted, by tag and state, page by page. What is chosen stands in the address.
struct VehicleListView {
    /// Sorted at most; whoever has more narrows it by search or tag.
    private static let sortedMax: Int64 = 5_000
    private static let rowsMax: Int64 = 100
    private static let orders = ["name", "vehicle", "model", "class", "heard", "alerts"]
    private static var states: [(String, String)] {
        [("", t("All")), ("attention", t("Need attention")), ("silent", t("Silent for a day"))]
    }

    let caller: PageCaller
    let nowMs: Int64
    let columns: ColumnChoice
    let search, tag, order, state: String
    /// A dealer's own class and tag; empty: any.
    private let ownClass, ownTag: String
    /// Nil: both.
    let kind: VehicleKind?
    private let hasDisabled: Bool
    let page: Int64
    let rows: [VehicleListRow]
    let days: VehicleDays
    private let tags: [String]
    /// What dealers call their machines; nil: the reader is none.
    let own: DealerWords?
    private let said: String?

    init(
        _ request: Request, _ caller: PageCaller, nowMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        func one(_ name: String, _ values: [String]) -> String {
            values.contains(asked(name)) ? asked(name) : values[0]
        }
        let isDealer = caller.roles.contains(.dealer)
        self.caller = caller
        self.nowMs = nowMs
        search = asked("search")
        tag = asked("tag")
        ownClass = asked("class")
        ownTag = asked("own")
        said = request.query["said"]
        kind = VehicleKind(rawValue: asked("kind"))
        order = one("sort", VehicleListView.orders)
        state = one("state", VehicleListView.states.map(\.0))
        hasDisabled = request.query["disabled"] == "1"
        page = request.query["page"].flatMap { Int64($0) }.flatMap { (1...50).contains($0) ? $0 : nil } ?? 1
        rows = try connection.query(
            queries["vehicle_list"],
            [
                .text(tag), .text(search), .text(kind?.rawValue ?? ""),
                .textArray(caller.audience.seen.map(\.rawValue)), .text(order),
                .int8(VehicleListView.sortedMax), .int8((page - 1) * VehicleListView.rowsMax),
                .int8(VehicleListView.rowsMax), .bool(hasDisabled), .text(state),
                .text(ownClass), .text(ownTag),
            ]
        ).map(VehicleListRow.init)
        columns = ColumnChoice(request, "vehicles", VehicleListView.columns(isDealer: isDealer))
        days = try VehicleDays(
            columns.has("days") ? rows.map { ($0.kind, $0.vehicle) } : [], nowMs: nowMs, queries, on: connection)
        tags = try connection.query(queries["vehicle_groups"], [.int8(200)]).map { try $0.text("tag")! }
        own = isDealer ? try DealerWords(queries, on: connection) : nil
    }

    var heading: PageHeading {
        PageHeading("Vehicles", status: "<span class=\"soft small\" id=\"live\"></span>", actions: adding)
    }

    private var adding: HTML {
        guard !caller.roles.isDisjoint(with: VehicleRoutes.adders) else { return "" }
        let words: HTML = "\(HTML.icon(.plus))<span class=\"hide-phone\">Add a vehicle</span>"
        guard !caller.roles.isDisjoint(with: VehicleForm.keepersOfMachines) else {
            return "<a class=\"btn primary\" href=\"/vehicles/new?kind=car\" aria-label=\"Add a car\">\(words)</a>"
        }
        return """
            <details class="menu end"><summary class="btn primary" aria-label="Add a vehicle">\(words)</summary><div class="pop">\
            <a href="/vehicles/new?kind=machine">\(HTML.icon(.tractor))Add a machine</a>\
            <a href="/vehicles/new?kind=car">\(HTML.icon(.car))Add a car</a></div></details>
            """
    }

    var html: HTML {
        """
        \(notice)
        <div id="states" class="chips" role="group" aria-label="State">\(chips)</div>
        <section class="card">
        \(filter)
        \(bulk)
        <div id="rows">
        \(table)
        \(pager)
        </div></section>
        """
    }

    private var notice: HTML {
        said.flatMap { VehicleRoutes.saidOfList[$0] }.map { HTML.notice(.done($0)) } ?? ""
    }

    // MARK: What is chosen

    /// An address of this list with something else chosen; always its first page.
    func address(_ changed: [String: String], of path: HTML = "/vehicles") -> HTML {
        let query: HTML = items(changed).map { "\($0)=\(encoded: $1)" }.joined(separator: "&amp;")
        return query.isEmpty ? path : "\(path)?\(query)"
    }

    /// The same as text, for who is led there.
    var path: String {
        let query = items(["page": page == 1 ? "" : String(page)]).map { "\($0)=\(URLText.escaped($1))" }
        return query.isEmpty ? "/vehicles" : "/vehicles?\(query.joined(separator: "&"))"
    }

    private func items(_ changed: [String: String]) -> [(String, String)] {
        [
            ("search", search), ("tag", tag), ("class", ownClass), ("own", ownTag), ("kind", kind?.rawValue ?? ""),
            ("state", state),
            ("sort", order == VehicleListView.orders[0] ? "" : order), ("disabled", hasDisabled ? "1" : ""),
            (ColumnChoice.parameter, columns.text), ("page", ""),
        ].map { ($0.0, changed[$0.0] ?? $0.1) }.filter { !$0.1.isEmpty }
    }

    private var form: HTML { columns.form("/vehicles", kept: items([ColumnChoice.parameter: ""])) }

    private var chips: HTML {
        let counts = rows.first.map { ["": $0.all, "attention": $0.attention, "silent": $0.silent] } ?? [:]
        let dots: [String: HTML] = [
            "attention": "<i class=\"dot critical\"></i>", "silent": "<i class=\"dot silent\"></i>",
        ]
        return VehicleListView.states.map { value, name in
            let count: HTML? = counts[value].map { "<b>\($0)</b>" }
            return
                "<a class=\"chip\" href=\"\(address(["state": value]))\"\(" aria-current=\"true\"", if: value == state)>\(dots[value])\(count)\(name)</a>"
        }.joined()
    }

    private var filter: HTML {
        let kinds = [("", t("Kind: any")), ("machine", t("Machines")), ("car", t("Cars"))]
        let tagged = [("", t("Tag: any"))] + tags.map { ($0, $0) }
        let kept: [HTML] = [("state", state), ("sort", order), (ColumnChoice.parameter, columns.text)].filter {
            !$0.1.isEmpty
        }.map {
            FormView.hidden($0.0, $0.1)
        }
        return """
            <form class="bar" method="get" action="/vehicles" role="search" data-auto>\(kept.joined())
            <label class="in"><span class="sr">Name, id or model</span>\(HTML.icon(.find))<input name="search" type="search" maxlength="64" \
            placeholder="Name, id or model" value="\(search)"></label>
            <label><span class="sr">Tag</span><select class="box" name="tag">\(HTML.options(tagged, tag))</select></label>
            \(own?.filters(ownClass, ownTag))
            <label><span class="sr">Kind</span><select class="box" name="kind">\(HTML.options(kinds, kind?.rawValue ?? ""))</select></label>
            <label class="row"><input class="check" type="checkbox" name="disabled" value="1"\(hasDisabled ? " checked" : "")> Disabled, too</label>
            <button class="btn">Show</button><span class="grow"></span>
            \(stickers)
            \(columns.menu(standard: address([ColumnChoice.parameter: ""])))<a class="btn small hide-phone" href="\(csv)" download>\(HTML.icon(.download))CSV</a>
            </form>\(form)
            """
    }

    private var csv: HTML {
        let plain = address(["page": String(page)])
        return page == 1 && plain == "/vehicles" ? "/vehicles?format=csv" : "\(plain)&amp;format=csv"
    }

    // MARK: The rows

    private var table: HTML {
        guard !rows.isEmpty else {
            let isAll =
                search.isEmpty && tag.isEmpty && ownClass.isEmpty && ownTag.isEmpty && kind == nil && state.isEmpty
            return isAll
                ? HTML.emptyState(
                    .car, t("No vehicles yet"),
                    .t("Add one, or let its box or logger send: it shows here within a minute."))
                : HTML.emptyState(.find, t("No vehicle fits"), .t("Try another word, or fewer filters."))
        }
        let heads =
            [head(t("Vehicle"), "name", before: all)] + shown.map { head($0) }
            + ["<th scope=\"col\"><span class=\"sr\">\(mayConnect ? t("Connect and map") : t("Map"))</span></th>"]
        let lines = rows.map { row -> HTML in "<tr\(" class=\"faint\"", if: row.isDisabled)>\(cells(row))</tr>\n" }
        return """
            <div class="scroll" role="region" aria-label="Vehicles" tabindex="0"><table class="table cards">
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>
            \(lines.joined())</tbody></table></div>
            """
    }

    func head(_ name: String, _ key: String, isDown: Bool = false, before: HTML = "") -> HTML {
        let sorted: HTML = key == order ? " aria-sort=\"\(isDown ? "descending" : "ascending")\"" : ""
        return "<th scope=\"col\"\(sorted)>\(before)<a href=\"\(address(["sort": key]))\">\(name)</a></th>"
    }

    private var pager: HTML {
        let found = rows.first?.found ?? 0
        let first = (page - 1) * VehicleListView.rowsMax
        let last = first + Int64(rows.count)
        let more: HTML =
            found >= VehicleListView.sortedMax
            ? "<span class=\"pill warning\">There are more than \(VehicleListView.sortedMax): search, or choose a tag.</span>"
            : ""
        func link(_ page: Int64, _ text: String) -> HTML {
            "<a class=\"btn small\" href=\"\(address(["page": String(page)]))\">\(text)</a>"
        }
        return """
            <div class="pager"><span id="count" role="status">\(caller.words.count(Int(found), .vehicle))</span>\
            \(found > VehicleListView.rowsMax ? "<span class=\"faint\">\(first + 1)–\(last)</span>" : "")\(more)<span class="grow"></span>\
            \(page > 1 ? link(page - 1, t("Previous")) : "")\(last < found ? link(page + 1, t("Next")) : "")</div>
            """
    }
}
