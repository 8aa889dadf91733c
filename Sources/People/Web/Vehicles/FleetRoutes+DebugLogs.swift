internal import Codecs
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// Debug logs of boxes, for developers: which there are, what is in them, and a download.
extension FleetRoutes {
    private static let logsMax: Int64 = 50
    private static let linesMax = 500

    func addDebugLogs(to router: inout Router) {
        router.add("GET", "/vehicles/{vehicle}/logs") { [self] request in
            access.page(request, for: FleetRoutes.developers) { caller, connection in
                let vehicle = request.parameters["vehicle"]!
                guard VehicleID(vehicle) != nil,
                    try !connection.query(queries["vehicle_kinds"], [.text(vehicle)]).isEmpty
                else { return FleetRoutes.noVehicle }
                let asking = MachineActionsView(
                    vehicle: vehicle, caller: caller, nowMs: Clock.nowMs(), engineHours: nil, asked: [])
                return shell(caller).page(
                    t("debug logs of \(vehicle)"), at: "/vehicles",
                    heading: PageHeading(
                        t("Debug logs"), crumb: (vehicle, "/vehicles/\(URLText.escaped(vehicle))?kind=machine"),
                        actions: asking.debugLogs(style: " class=\"btn\"")),
                    scripts: ["live.js", "vehicles/connect.js"], main: try logs(vehicle, request, caller, connection))
            }
        }
        router.add("POST", "/vehicles/{vehicle}/logs") { [self] request in
            deed(request, .ask, for: FleetRoutes.developers, said: "asked") {
                vehicle, fields, caller, _ throws(MachineActionsView.Fault) in
                try MachineActionsView.download(
                    .debugLog, vehicle, fields, by: caller.account, nowMs: Clock.nowMs())
            }
        }
        router.add("GET", "/vehicles/{vehicle}/logs/{log}") { [self] request in
            access.page(request, for: FleetRoutes.developers) { _, connection in
                guard let id = Int(request.parameters["log"]!),
                    let bytes = try DebugLogStore.read(id, of: request.parameters["vehicle"]!, on: connection)
                else { return .problem(404, type: "not-found", detail: "There is no such debug log.") }
                // The box's own bytes: saved as a file, never shown as a page.
                return Response(
                    200,
                    headers: [
                        ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
                        ("Content-Disposition", "attachment; filename=\"debug-log-\(id).txt\""),
                    ], body: bytes)
            }
        }
    }

    private func logs(
        _ vehicle: String, _ request: Request, _ caller: PageCaller, _ connection: Connection
    ) throws -> HTML {
        let search = String((request.query["search"] ?? "").prefix(100))
        let level = DebugLogText.Level(rawValue: request.query["level"] ?? "")
        let rows = try connection.query(queries["debug_logs"], [.text(vehicle), .int8(FleetRoutes.logsMax)])
        let address = "/vehicles/\(URLText.escaped(vehicle))"
        let counted = DebugLogText.Level.allCases.map(\.rawValue)
        let list = HTML.table(
            caption: t("Logs"),
            headers: [.word(t("Fetched")), .word(t("From")), .word(t("To")), .number(t("Bytes"))]
                + counted.map { .number($0) } + [.word(t("File"))],
            rows: try rows.map { row in
                let id = try row.int("id")!
                return [
                    try row.timestampMs("fetched_at").map(caller.clock.html),
                    try row.timestampMs("first_at").map(caller.clock.html),
                    try row.timestampMs("last_at").map(caller.clock.html), "\(try row.int("bytes") ?? 0)",
                ] + (try counted.map { "\(try row.int("\($0)_lines") ?? 0)" }) + [
                    "<a href=\"\(address)/logs/\(id)\" download>Download log \(id)</a>"
                ]
            }, empty: t("No logs yet. Get debug logs: a gateway that has the box’s key fetches them."))
        let said: HTML =
            request.query["said"] == "asked"
            ? HTML.notice(.done(t("Asked for. The log stands here once the box has given it."))) : ""
        let options = HTML.options([("all", t("all"))] + counted.map { ($0, $0) }, level?.rawValue)
        let isAsked = !search.isEmpty || level != nil
        return """
            \(said)
            <p class="strip info">\(HTML.icon(.code))<span>\(DebugLogWords.purpose) Download the file and send it to their support \
            unchanged, with the serial number <b>\(vehicle)</b> and the time of the fault.</span></p>
            <p class="soft small">Times in \(caller.clock.zone)</p>
            <div id="logs">\(list)</div>
            <h2>Search</h2>
            <form class="filter" method="get" action="\(address)/logs" role="search">
            <div><label for="search">Text</label><input id="search" name="search" type="search" maxlength="100" value="\(search)"></div>
            <div><label for="level">Level</label><select id="level" name="level">\(options)</select></div>
            <button class="btn primary">Search</button>
            </form>
            \(isAsked ? try lines(rows, search.lowercased(), level, connection) : "")
            """
    }

    /// The logs are read one by one, the latest first: all of them need not fit into memory.
    private func lines(
        _ rows: Rows, _ search: String, _ level: DebugLogText.Level?, _ connection: Connection
    ) throws -> HTML {
        var found: [[HTML?]] = []
        for row in rows where found.count < FleetRoutes.linesMax {
            let id = try row.int("id")!
            // One that is gone by now was pruned.
            guard let log = try DebugLogStore.read(id, on: connection) else { continue }
            let lines = DebugLogText(log).lines.filter { line in
                (level == nil || line.level == level) && line.text.lowercased().contains(search)
            }
            found += lines.prefix(FleetRoutes.linesMax - found.count).map {
                ["\(id)", "\($0.number)", .text($0.level.rawValue), .text($0.text)]
            }
        }
        let more: HTML =
            found.count == FleetRoutes.linesMax
            ? "<p class=\"warning\">There are more. Narrow the search.</p>" : ""
        return HTML.table(
            caption: t("Lines found"),
            headers: [.number(t("Log")), .number(t("Line")), .text(t("Level")), .prose(t("Text"))], rows: found,
            empty: t("No lines found.")) + more
    }
}

/// What is said of debug logs in more than one place.
enum DebugLogWords {
    static var purpose: String {
        t("A debug log is for the developers of the box’s maker: there is nothing in it for you to act on.")
    }
}
