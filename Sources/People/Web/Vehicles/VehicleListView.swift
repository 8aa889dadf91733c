internal import Alerts
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports

/// The vehicles that somebody sees: searched, sorted, by tag, page by page.
struct VehicleListView {
    /// Sorted at most; whoever has more narrows it by search or tag.
    private static let sortedMax: Int64 = 5_000
    private static let rowsMax: Int64 = 100
    static let orders = [
        ("name", "name"), ("vehicle", "id"), ("model", "model"), ("heard", "last heard of"), ("alerts", "worst alerts"),
    ]

    let caller: PageCaller
    private let search, tag, order: String
    /// Nil: both.
    private let kind: VehicleKind?
    private let hasDisabled: Bool
    private let page: Int64
    private let rows: Rows
    private let tags: [String]

    init(_ request: Request, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection) throws {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        func one(_ name: String, _ values: [String]) -> String {
            values.contains(asked(name)) ? asked(name) : values[0]
        }
        self.caller = caller
        search = asked("search")
        tag = asked("tag")
        kind = VehicleKind(rawValue: asked("kind"))
        order = one("sort", VehicleListView.orders.map(\.0))
        hasDisabled = request.query["disabled"] == "1"
        page = request.query["page"].flatMap { Int64($0) }.flatMap { (1...50).contains($0) ? $0 : nil } ?? 1
        rows = try connection.query(
            queries["vehicle_list"],
            [
                .text(tag), .text(search), .text(kind?.rawValue ?? ""),
                .textArray(caller.audience.seen.map(\.rawValue)), .text(order),
                .int8(VehicleListView.sortedMax), .int8((page - 1) * VehicleListView.rowsMax),
                .int8(VehicleListView.rowsMax), .bool(hasDisabled),
            ])
        tags = try connection.query(queries["vehicle_groups"], [.int8(200)]).map { try $0.text("tag")! }
    }

    func html(_ notice: FormView.Notice?) throws -> HTML {
        let found = Int64(try rows.first?.int("found") ?? 0)
        let more: HTML =
            found == VehicleListView.sortedMax
            ? "<p class=\"warning\">There are more than \(VehicleListView.sortedMax): search, or choose a tag.</p>" : ""
        return FormView.main(
            "Vehicles", notice,
            """
            \(adding)
            \(filter)
            <p><span id="count" role="status">\(found) \(found == 1 ? "vehicle" : "vehicles").</span> <span class="soft">Times are \(caller.clock.zone).</span> <span class="soft" id="live"></span></p>
            \(more)
            <div id="rows">
            \(try table())
            </div>
            \(turning(found))
            """)
    }

    private var adding: HTML {
        guard !caller.roles.isDisjoint(with: VehicleRoutes.adders) else { return "" }
        let machine: HTML =
            caller.roles.isDisjoint(with: VehicleForm.keepersOfMachines)
            ? "" : "<a href=\"/vehicles/new?kind=machine\">Add a machine</a>, "
        return "<p>\(machine)<a href=\"/vehicles/new?kind=car\">Add a car</a></p>"
    }

    private var filter: HTML {
        let kinds = [("", "all"), ("machine", "machines"), ("car", "cars")]
        return """
            <form class="filter" method="get" action="/vehicles" role="search">
            <div><label for="search">Name, id or model</label><input id="search" name="search" type="search" maxlength="64" value="\(search)"></div>
            <div><label for="tag">Tag</label><select id="tag" name="tag">\(HTML.options([("", "all")] + tags.map { ($0, $0) }, tag))</select></div>
            <div><label for="kind">Kind</label><select id="kind" name="kind">\(HTML.options(kinds, kind?.rawValue ?? ""))</select></div>
            <div><label for="sort">Sort by</label><select id="sort" name="sort">\(HTML.options(VehicleListView.orders, order))</select></div>
            <label class="check"><input type="checkbox" name="disabled" value="1"\(hasDisabled ? " checked" : "")> disabled ones, too</label>
            <button>Show</button>
            </form>
            """
    }

    private func table() throws -> HTML {
        HTML.table(
            caption: "List",
            headers: [
                .word("Vehicle"), .text("Kind"), .text("Model"), .prose("Tags"), .word("Last heard of"),
                .word("Open alerts"),
            ],
            rows: try rows.map { row in
                let (vehicle, name) = (try row.text("vehicle")!, try row.text("name"))
                let kind: VehicleKind = try row.word("kind")!
                let off: HTML = try row.bool("is_disabled")! ? " <span class=\"soft\">disabled</span>" : ""
                return [
                    "<a href=\"/vehicles/\(encoded: vehicle)?kind=\(kind.rawValue)\">\(name ?? vehicle)</a>"
                        + (name == nil ? "" : " <span class=\"soft\">\(vehicle)</span>") + off,
                    .text(kind.rawValue), .text(try row.text("model")),
                    try row.textArray("tags")!.compactMap { $0 }.map(tagLink).joined(separator: ", "),
                    try row.timestampMs("last_reading_at").map(caller.clock.html), try alerts(row),
                ]
            },
            empty: search.isEmpty && tag.isEmpty && kind == nil
                ? "There is none yet." : "None is like that. Search for something else.", narrow: .cards)
    }

    private func tagLink(_ tag: String) -> HTML {
        "<a href=\"/vehicles?tag=\(encoded: tag)\">\(tag)</a>"
    }

    private func alerts(_ row: Row) throws -> HTML? {
        let unmonitored: HTML? = try UnmonitoredReason(row).map {
            "<span class=\"warning\">not monitored</span>: \($0.short)"
        }
        guard let worst: Episode.Severity = try row.word("worst_severity"), let count = try row.int("open_alerts"),
            count > 0
        else {
            return unmonitored ?? "none"
        }
        return
            "\(unmonitored.map { "\($0)<br>" })<span class=\"\(worst.rawValue)\">\(count), worst \(worst.rawValue)</span>"
    }

    private func turning(_ found: Int64) -> HTML {
        func link(_ page: Int64, _ text: String) -> HTML {
            let items = [
                ("search", search), ("tag", tag), ("kind", kind?.rawValue ?? ""), ("sort", order),
                ("disabled", hasDisabled ? "1" : ""),
                ("page", String(page)),
            ]
            let query: HTML = items.filter { !$0.1.isEmpty }.map { "\($0)=\(encoded: $1)" }.joined(separator: "&amp;")
            return "<a href=\"/vehicles?\(query)\">\(text)</a>"
        }
        let links =
            (page > 1 ? [link(page - 1, "The page before")] : [])
            + (page * VehicleListView.rowsMax < found ? [link(page + 1, "The next page")] : [])
        return links.isEmpty ? "" : "<p>\(links.joined(separator: ", "))</p>"
    }
}
