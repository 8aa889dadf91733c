internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
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
    private static let narrower = "Ask for a shorter time, one fleet, campus, species or site."

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
        queries.filter { !$0.isOfInstallation && !(areas[$0.area] ?? []).isDisjoint(with: roles) }
    }

    private func page(_ caller: PageCaller, _ heading: PageHeading, _ main: HTML, status: Int = 200) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            "queries", at: "/queries", heading: heading, main: main)
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
        // Empty fields are left out, except where empty is a value; there they are the default as well.
        var given: [String: String] = [:]
        for item in request.queryItems where item.name != "format" && !item.value.isEmpty {
            given[item.name] = item.value
        }
        let isAsked = !request.queryItems.isEmpty
        var page = QueryView(
            query: query, given: given, caller: caller, nowMs: Clock.nowMs(),
            fleets: try query.parameters.contains { $0.name == "fleet" }
                ? connection.query(fleets["fleets_seen"], [.int8(QueryRoutes.fleetsMax)]).map {
                    (id: try $0.text("fleet")!, name: try $0.text("name")!)
                } : [])
        guard isAsked else { return self.page(caller, page.heading, page.html) }
        let rowsMax = form == nil ? QueryView.rowsMax : QueryRoutes.fileRowsMax
        do {
            let output = try run(query, given, rowsMax: rowsMax, on: connection)
            guard let form else {
                page.output = output
                return self.page(caller, page.heading, page.html)
            }
            guard output.count <= rowsMax else {
                return .problem(
                    422, type: "too-many-rows",
                    detail: "These are more than \(rowsMax) rows. \(QueryRoutes.narrower)")
            }
            return try QueryRoutes.file(output, form, query)
        } catch let refusal as Refusal {
            guard form == nil else { return .problem(400, type: "query", detail: refusal.text) }
            page.fault = refusal.text
            return self.page(caller, page.heading, page.html, status: 400)
        }
    }

    private struct Refusal: Error {
        let text: String
    }

    private func run(
        _ query: ReadyQuery, _ given: [String: String], rowsMax: Int, on connection: Connection
    ) throws -> QueryOutput {
        let values: [Parameter]
        do throws(ReadyQuery.Fault) { values = try query.values(given) } catch {
            throw Refusal(text: error.description + ".")
        }
        try connection.execute("SAVEPOINT asked")
        do {
            return try query.runInside(values, timeoutMs: patienceS * 1_000, rowsMax: rowsMax, on: connection)
        } catch let error as PostgresError where error.sqlState == "57014" {
            try connection.execute("ROLLBACK TO asked")
            throw Refusal(text: "That took longer than \(patienceS) s. \(QueryRoutes.narrower)")
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
