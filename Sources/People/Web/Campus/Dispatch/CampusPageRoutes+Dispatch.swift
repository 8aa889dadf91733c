internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

extension CampusPageRoutes {
    /// The dispatcher's monitor, and what its script asks.
    func addWatching(to router: inout Router) {
        router.add("GET", "/dispatch") { request in
            access.page(request, for: CampusPageRoutes.watchers) { caller, connection in
                let campuses = try watched(caller, connection)
                let asked = request.query["campus"] ?? campuses.first?.id ?? ""
                let nowMs = Clock.nowMs()
                guard campuses.contains(where: { $0.id == asked }),
                    let view = try CampusSnapshot.read(
                        asked, zone: caller.clock.zone, nowMs: nowMs, queries, on: connection)
                else { return nothing(caller, isBound: !campuses.isEmpty) }
                let page = DispatchMonitorView(
                    view: view, campuses: campuses, caller: caller, nowMs: nowMs, hasRoads: routes != nil)
                return shown(
                    t("Dispatch"), at: "/dispatch", heading: page.heading, caller, scripts: [], main: page.html(base))
            }
        }
        router.add("GET", "/dispatch/{campus}/stream") { request in
            watch(request) { caller, campus, connection in
                guard let offset = try RideQueries.offsets([campus], on: connection)[campus] else {
                    return CampusRoutes.notFound
                }
                let key = RideQueries.Key(campus, campus)
                return campuses.stream(
                    RideStreams.Subject(what: .campus, key: key, person: "account \(caller.account)"),
                    by: caller.holds, request,
                    first: RideStatus.campus(offset))
            }
        }
        router.add("GET", "/dispatch/{campus}/roads/{vehicle}") { request in
            watch(request) { _, campus, connection in
                try road(campus, request.parameters["vehicle"]!, connection)
            }
        }
        router.add("GET", "/dispatch/{campus}/why/{request}") { request in
            access.page(request, for: CampusPageRoutes.watchers) { caller, connection in
                let (campus, id) = (request.parameters["campus"]!, request.parameters["request"]!)
                guard VehicleID.isValid(id.utf8), try watched(caller, connection).contains(where: { $0.id == campus }),
                    let ride = try RideQueries.ride(RideQueries.Key(campus, id), on: connection)
                else { return CampusRoutes.notFound }
                var page = try why(campus, ride, caller, connection)
                page.isDealing = request.query["deal"] != nil
                return shown(page)
            }
        }
        router.add("POST", "/dispatch/{campus}/rides/{request}/end") { conclude(.end, $0) }
        router.add("POST", "/dispatch/{campus}/rides/{request}/hand-over") { conclude(.handOver, $0) }
    }

    private func why(
        _ campus: String, _ ride: RideNow, _ caller: PageCaller, _ connection: Connection
    ) throws -> DecisionView {
        let told = try connection.query(queries["dispatch_why"], [.text(ride.pickup.request), .text(campus)])
        return DecisionView(
            campus: campus, names: PlaceNames(try RideQueries.settings(campus, on: connection)), ride: ride,
            decisions: try DecisionView.decisions(told), caller: caller)
    }

    private func shown(_ page: DecisionView, status: Int = 200) -> Response {
        var response = PageShell(caller: page.caller, assets: assets).page(
            t("Why this vehicle"), at: "/dispatch", heading: page.heading, main: page.html())
        response.status = status
        return response
    }

    /// A dispatcher ends a ride or gives it to another vehicle, as riders and drivers do.
    private func conclude(_ ending: CampusRoutes.Ending, _ request: Request) -> Response {
        access.form(request, for: CampusPageRoutes.watchers) { caller, fields, connection in
            let (campus, id) = (request.parameters["campus"]!, request.parameters["request"]!)
            guard VehicleID.isValid(id.utf8), try watched(caller, connection).contains(where: { $0.id == campus }),
                let person = try BoundPersonStore.dispatcher(caller, of: campus, on: connection),
                let ride = try RideQueries.ride(RideQueries.Key(campus, id), on: connection)
            else { return CampusRoutes.notFound }
            let known = try why(campus, ride, caller, connection)
            let call = FormRequest(request, fields, texts: ["reason"]).request
            let back = "/dispatch/\(URLText.escaped(campus))/why/\(URLText.escaped(id))"
            return FormRequest.answer(campuses.conclude(ending, call, person), to: back) { why, status in
                var page = known
                page.notice = .fault(why)
                return shown(page, status: status)
            }
        }
    }

    /// Campuses that the account dispatches; an administrator all.
    func watched(
        _ caller: PageCaller, _ connection: Connection
    ) throws -> [(id: String, name: String)] {
        let all = try BoundPersonStore.campuses(on: connection)
        guard !caller.roles.contains(.administrator) else { return all }
        // One account may ride on one campus and dispatch another.
        let own = try BoundPersonStore.read(caller.account, key: caller.key, on: connection).filter {
            $0.role == .dispatcher
        }.map(\.campus)
        return all.filter { own.contains($0.id) }
    }

    private func watch(
        _ request: Request, _ body: (PageCaller, String, Connection) throws -> Response
    ) -> Response {
        access.call(request, for: CampusPageRoutes.watchers) { caller, connection in
            let campus = request.parameters["campus"]!
            guard try watched(caller, connection).contains(where: { $0.id == campus }) else {
                return CampusRoutes.notFound
            }
            return try body(caller, campus, connection)
        }
    }

    private func nothing(_ caller: PageCaller, isBound: Bool) -> Response {
        if isBound { return CampusRoutes.notFound }
        guard caller.roles.contains(.administrator) else { return binding(caller, BindForm(.dispatcher)) }
        return PageShell(caller: caller, assets: assets).page(
            t("Dispatch"), at: "/dispatch", heading: PageHeading(t("Dispatch")),
            main: """
                <section class="card">\(HTML.emptyState(
                    .dispatch, t("No campus yet"), "Publish one with <code>drover campus publish</code>."))</section>
                """
        )
    }

    /// A vehicle's itinerary along roads, `points` as latitude and longitude; null where there is no road to be had.
    private func road(_ campus: String, _ id: String, _ connection: Connection) throws -> Response {
        guard VehicleID.isValid(id.utf8),
            let vehicle = try RideQueries.vehicle(RideQueries.Key(campus, id), on: connection), vehicle.state != .out
        else { return CampusRoutes.notFound }
        let found = try ItineraryStops.read([(campus, vehicle)], on: connection).rides
        let rides = Dictionary(found.map { ($0.key.id, $0.value) }) { first, _ in first }
        let way = CampusSnapshot.roughly(CampusSnapshot.way(vehicle, rides))
        guard let routes else { return CampusPageRoutes.road(nil) }
        let answer = DeferredResponse()
        routes.road(through: way) { answer.give(CampusPageRoutes.road($0)) }
        return .later(answer)
    }

    private static func road(_ points: [Position]?) -> Response {
        let points = points.map { points in
            JSONValue.list(
                points.map { point in
                    .list([
                        .number(Decimal.text(Int64(point.latitude), decimals: 7)),
                        .number(Decimal.text(Int64(point.longitude), decimals: 7)),
                    ])
                })
        }
        return .json(JSONValue.object([("points", points ?? .null)]).rendered()).with("Cache-Control", "no-store")
    }
}
