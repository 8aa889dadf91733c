internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
internal import Telemetry

/// The ready queries for people: chosen, filled in, answered within the asker's rights, and exported. Row-level security decides the rows;
/// the roles here only decide which areas are listed.
package final class QueryRoutes: Sendable {
    static let readers: Set<Role> = areas.values.reduce(into: []) { $0.formUnion($1) }
    private static let areas: [String: Set<Role>] = [
        "machines": [.analyst, .fleetManager, .developer, .operator, .administrator],
        "cars": [.analyst, .fleetManager, .operator, .administrator],
        "dispatch": [.dispatcher, .operator, .administrator],
        "tours": [.analyst, .ranger, .operator, .administrator],
        "joint": [.analyst, .fleetManager, .dispatcher, .operator, .administrator],
        "sightings": [.analyst, .researcher, .administrator],
    ]
    private static let fileRowsMax = 100_000
    private static let fleetsMax: Int64 = 500

    enum Form: String, CaseIterable {
        case csv, json, xlsx
    }

    private let access: AccessControl
    private let assets: AssetFiles
    private let fleets: ReportQueries
    private let queries: [ReadyQuery]
    private let patienceS: Int

    /// - Parameters:
    ///   - fleets: ask which fleets there are for who is logged in.
    ///   - patienceS: what a query may take in the database.
    package init(
        access: AccessControl, assets: AssetFiles, fleets: ReportQueries, queries: [ReadyQuery], patienceS: Int
    ) {
        self.access = access
        self.assets = assets
        self.fleets = fleets
        self.patienceS = patienceS
        self.queries = queries.filter { !$0.isOfInstallation }
    }

    package func add(to router: inout Router) {
        router.add("GET", "/queries") { [self] request in
            access.page(request, for: QueryRoutes.readers) { caller, _ in
                let mine = QueryRoutes.listed(queries, for: caller.roles)
                return page(caller, QueryView.listHeading, QueryView.list(mine))
            }
        }
        router.add("GET", "/queries/{area}/{query}") { [self] request in
            access.page(request, for: QueryRoutes.readers) { caller, connection in
                try answer(request, caller, connection)
            }
        }
    }

    /// Those that people with these roles are offered.
    static func listed(_ queries: [ReadyQuery], for roles: Set<Role>) -> [ReadyQuery] {
        queries.filter { !$0.isOfInstallation && listsArea($0.area, for: roles) }
    }

    static func listsArea(_ area: String, for roles: Set<Role>) -> Bool {
        !(areas[area] ?? []).isDisjoint(with: roles)
    }

    private func page(_ caller: PageCaller, _ heading: PageHeading, _ main: HTML, status: Int = 200) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            t("Queries"), at: "/queries", heading: heading, main: main)
        response.status = status
        return response
    }

    private func answer(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let name = "\(request.parameters["area"]!)/\(request.parameters["query"]!)"
        guard let query = queries.first(where: { $0.name == name }) else {
            return .problem(404, type: "not-found", detail: "There is no such query. /queries lists them.")
        }
        let formText = request.query["format"].flatMap { $0.isEmpty ? nil : $0 }
        let form = formText.flatMap(Form.init)
        guard (formText == nil) == (form == nil) else {
            let names = Form.allCases.map(\.rawValue).joined(separator: ", ")
            return .problem(400, type: "format", detail: "format must be one of \(names)")
        }
        let nowMs = Clock.nowMs()
        // Without a word in the address it is opened: it answers at once, of the last thirty days.
        let isOpened = request.queryItems.isEmpty
        var given = isOpened ? QueryView.opened(query, caller, nowMs: nowMs) : [:]
        // Empty fields are left out, except where empty is a value; there they are the default as well.
        for item in request.queryItems where item.name != "format" && !item.value.isEmpty {
            given[item.name] = item.value
        }
        var page = QueryView(
            query: query, given: given, caller: caller, nowMs: nowMs,
            fleets: try query.parameters.contains { $0.name == "fleet" } ? fleetNames(connection) : [])
        guard !isOpened || page.isComplete else { return self.page(caller, page.heading, page.html) }
        let rowsMax = form == nil ? QueryView.rowsMax : QueryRoutes.fileRowsMax
        do {
            let output = try run(query, given, rowsMax: rowsMax, on: connection)
            guard let form else {
                if isOpened { try note(name, given, request, caller) }
                page.answer = try answer(query, output, page, connection)
                return self.page(caller, page.heading, page.html)
            }
            guard output.count <= rowsMax else {
                return .problem(
                    422, type: "too-many-rows",
                    detail:
                        "These are more than \(rowsMax) rows. Ask for a shorter time, one fleet, campus, species or site."
                )
            }
            return try QueryRoutes.file(output, form, query)
        } catch let refusal as Refusal {
            guard form == nil else { return .problem(400, type: "query", detail: refusal.text.inEnglish) }
            page.fault = t(refusal.text)
            return self.page(caller, page.heading, page.html, status: 400)
        }
    }

    /// The door notes what an address asks for; an address that asks for nothing is noted here, with what was asked.
    private func note(_ name: String, _ given: [String: String], _ request: Request, _ caller: PageCaller) throws {
        let days = ["from", "to"].compactMap { name in given[name].map { (name, $0) } }
        try access.apart(caller) { connection in
            try AuditLog.record(
                .queryRun, by: caller.account, from: request.remote, [("query", name)] + days, on: connection)
        }
    }

    private func fleetNames(_ connection: Connection) throws -> [(id: String, name: String)] {
        try connection.query(fleets["fleets_seen"], [.int8(QueryRoutes.fleetsMax)]).map {
            (id: try $0.text("fleet")!, name: try $0.text("name")!)
        }
    }

    /// The rows, with what the things in them are called.
    private func answer(
        _ query: ReadyQuery, _ output: QueryOutput, _ page: QueryView, _ connection: Connection
    ) throws -> QueryAnswer {
        func ids(_ column: String) -> Set<String> {
            guard let index = output.columns.firstIndex(of: column) else { return [] }
            return output.rows.reduce(into: []) { ids, row in
                if case .text(let id) = row[index], !id.isEmpty { ids.insert(id) }
            }
        }
        var vehicles: [String: String] = [:]
        let seen = ids("vehicle")
        if !seen.isEmpty {
            for row in try connection.query(fleets["vehicle_names"], [.textArray(seen.sorted())]) {
                vehicles[try row.text("vehicle")!] = try row.text("name")!
            }
        }
        let named = ids("fleet").isEmpty ? page.fleets : try fleetNames(connection)
        return QueryAnswer(
            query: query, output: output, caller: try page.caller.knowing(ids("driver"), fleets, on: connection),
            nowMs: page.nowMs, vehicles: vehicles,
            fleets: Dictionary(named.map { ($0.id, $0.name) }) { name, _ in name })
    }

    /// On the page in the reader's language, in a problem in English.
    private struct Refusal: Error {
        let text: Phrase
    }

    private func run(
        _ query: ReadyQuery, _ given: [String: String], rowsMax: Int, on connection: Connection
    ) throws -> QueryOutput {
        let values: [Parameter]
        do throws(ReadyQuery.Fault) { values = try query.values(given) } catch {
            throw Refusal(text: "\(error.description).")
        }
        try connection.execute("SAVEPOINT asked")
        do {
            return try query.runInside(values, timeoutMs: patienceS * 1_000, rowsMax: rowsMax, on: connection)
        } catch let error as PostgresError where error.sqlState == "57014" {
            try connection.execute("ROLLBACK TO asked")
            throw Refusal(
                text:
                    "That took longer than \(patienceS) s. Ask for a shorter time, one fleet, campus, species or site.")
        } catch let error as PostgresError where error.sqlState.hasPrefix("22") {
            // An unknown zone, or a date beyond the calendar: PostgreSQL's message names only the given text.
            try connection.execute("ROLLBACK TO asked")
            throw Refusal(text: "PostgreSQL cannot take one of these values: \(error.message).")
        }
    }

    private static func file(_ output: QueryOutput, _ form: Form, _ query: ReadyQuery) throws -> Response {
        let body: [UInt8]
        let type: ReportFormat
        switch form {
        case .csv: (body, type) = (Array(output.table.csv().utf8), .csv)
        case .json: (body, type) = (Array((output.json + "\n").utf8), .json)
        case .xlsx: (body, type) = (try output.spreadsheet(query.ownName), .xlsx)
        }
        let name = "\(query.area)-\(query.ownName).\(form.rawValue)"
        return Response(
            200,
            headers: [("Content-Type", type.mediaType), ("Content-Disposition", "attachment; filename=\"\(name)\"")],
            body: body)
    }
}
