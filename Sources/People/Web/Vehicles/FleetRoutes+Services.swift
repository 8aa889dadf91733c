internal import Basics
internal import HTTPServer
internal import Ingest
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry

/// Services of all machines that one sees, on one page. What is recorded goes through each machine's own address.
extension FleetRoutes {
    func addServicePages(to router: inout Router) {
        router.add("GET", "/services") { [self] request in
            access.page(request, for: FleetRoutes.viewers) { caller, connection in
                try services(request, caller, connection)
            }
        }
    }

    private func services(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        let show = ServicesView.Show(rawValue: asked("show")) ?? .all
        let (search, tag) = (asked("q"), asked("tag"))
        let services = try ServiceRead.read(
            search: search, tag: tag, role: caller.audience, queries, on: connection)
        let recorded =
            show == .done
            ? try ServiceRead.Recorded.read(
                search: search, tag: tag, limit: ServicesView.doneMax, queries, on: connection) : []
        let caller = try caller.knowing(
            services.map(\.last?.by) + recorded.map { $0.done.by }, queries, on: connection)
        // When the form was made that led here: an address that somebody keeps says nothing later.
        let justDone = request.query["recorded"].flatMap { vehicle in
            request.query["at"].flatMap { Int64($0) }.flatMap {
                UTC.plausible.contains($0) ? (vehicle: vehicle, formMs: $0) : nil
            }
        }
        let page = ServicesView(
            services: services, recorded: recorded,
            tags: try connection.query(queries["vehicle_groups"], [.int8(200)]).map { try $0.text("tag")! }, show: show,
            search: search, tag: tag, justDone: justDone, caller: caller, nowMs: Clock.nowMs())
        return shell(caller).page(t("services"), at: "/services", heading: PageHeading(t("Services")), main: page.html)
    }
}
