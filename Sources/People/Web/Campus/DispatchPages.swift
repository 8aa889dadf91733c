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

extension CampusPages {
    /// The dispatcher's monitor, and what its script asks.
    func addWatching(to router: inout Router) {
        router.add("GET", "/dispatch") { request in
            door.page(request, for: CampusPages.watchers) { caller, connection in
                let campuses = try watched(caller, connection)
                let asked = request.query["campus"] ?? campuses.first?.id ?? ""
                let nowMs = Clock.nowMs()
                guard campuses.contains(where: { $0.id == asked }),
                    let view = try DispatchView.read(
                        asked, zone: caller.clock.zone, nowMs: nowMs, queries, on: connection)
                else { return nothing(caller, isBound: !campuses.isEmpty) }
                let page = DispatchPage(
                    view: view, campuses: campuses, caller: caller, nowMs: nowMs, hasRoads: routes != nil)
                return shown("dispatch", at: "/dispatch", caller, scripts: [], main: page.html(base))
            }
        }
        router.add("GET", "/dispatch/{campus}/stream") { request in
            watch(request) { caller, campus, connection in
                guard let offset = try RideReads.offsets([campus], on: connection)[campus] else {
                    return CampusSite.notFound
                }
                let key = RideReads.Key(campus, campus)
                return campuses.stream(
                    RideStreams.Subject(what: .campus, key: key, person: "account \(caller.account)"),
                    by: caller.holds, request,
                    first: RideStory.campus(offset))
            }
        }
        router.add("GET", "/dispatch/{campus}/roads/{vehicle}") { request in
            watch(request) { _, campus, connection in
                try road(campus, request.parameters["vehicle"]!, connection)
            }
        }
        router.add("GET", "/dispatch/{campus}/why/{request}") { request in
            door.page(request, for: CampusPages.watchers) { caller, connection in
                let (campus, id) = (request.parameters["campus"]!, request.parameters["request"]!)
                guard VehicleID.isValid(id.utf8), try watched(caller, connection).contains(where: { $0.id == campus }),
                    let ride = try RideReads.ride(RideReads.Key(campus, id), on: connection)
                else { return CampusSite.notFound }
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
    ) throws -> WhyPage {
        let told = try connection.query(queries["dispatch_why"], [.text(ride.pickup.request), .text(campus)])
        return WhyPage(campus: campus, ride: ride, decisions: try WhyPage.decisions(told), caller: caller)
    }

    private func shown(_ page: WhyPage, status: Int = 200) -> Response {
        var response = PageShell(caller: page.caller, assets: assets).page(
            "why this vehicle", at: "/dispatch", main: page.html())
        response.status = status
        return response
    }

    /// A dispatcher ends a ride or gives it to another vehicle, as riders and drivers do.
    private func conclude(_ ending: CampusSite.Ending, _ request: Request) -> Response {
        door.form(request, for: CampusPages.watchers) { caller, fields, connection in
            let (campus, id) = (request.parameters["campus"]!, request.parameters["request"]!)
            guard VehicleID.isValid(id.utf8), try watched(caller, connection).contains(where: { $0.id == campus }),
                let person = try BoundPeople.dispatcher(caller, of: campus, on: connection),
                let ride = try RideReads.ride(RideReads.Key(campus, id), on: connection)
            else { return CampusSite.notFound }
            let known = try why(campus, ride, caller, connection)
            let call = FormCall(request, fields, texts: ["reason"]).request
            let back = "/dispatch/\(Address.escaped(campus))/why/\(Address.escaped(id))"
            return FormCall.answer(campuses.conclude(ending, call, person), to: back) { why, status in
                var page = known
                page.notice = .fault(why)
                return shown(page, status: status)
            }
        }
    }

    /// Campuses that the account dispatches; an administrator all.
    private func watched(
        _ caller: PageCaller, _ connection: Connection
    ) throws -> [(id: String, name: String)] {
        let all = try BoundPeople.campuses(on: connection)
        guard !caller.roles.contains(.administrator) else { return all }
        // One account may ride on one campus and dispatch another.
        let own = try BoundPeople.read(caller.account, key: caller.key, on: connection).filter {
            $0.role == .dispatcher
        }.map(\.campus)
        return all.filter { own.contains($0.id) }
    }

    private func watch(
        _ request: Request, _ body: (PageCaller, String, Connection) throws -> Response
    ) -> Response {
        door.call(request, for: CampusPages.watchers) { caller, connection in
            let campus = request.parameters["campus"]!
            guard try watched(caller, connection).contains(where: { $0.id == campus }) else {
                return CampusSite.notFound
            }
            return try body(caller, campus, connection)
        }
    }

    private func nothing(_ caller: PageCaller, isBound: Bool) -> Response {
        if isBound { return CampusSite.notFound }
        guard caller.roles.contains(.administrator) else { return binding(caller, BindForm(.dispatcher)) }
        return PageShell(caller: caller, assets: assets).page(
            "dispatch", at: "/dispatch",
            main:
                "<h1>Dispatch</h1>\n<p class=\"empty\">There is no campus yet: <code>drover campus publish</code> makes one.</p>"
        )
    }

    /// A vehicle's itinerary along roads, `points` as latitude and longitude; null where there is no road to be had.
    private func road(_ campus: String, _ id: String, _ connection: Connection) throws -> Response {
        guard VehicleID.isValid(id.utf8),
            let vehicle = try RideReads.vehicle(RideReads.Key(campus, id), on: connection), vehicle.state != .out
        else { return CampusSite.notFound }
        let found = try ItineraryStops.read([(campus, vehicle)], on: connection).rides
        let rides = Dictionary(found.map { ($0.key.id, $0.value) }) { first, _ in first }
        let way = DispatchView.roughly(DispatchView.way(vehicle, rides))
        guard let routes else { return CampusPages.road(nil) }
        let answer = LaterAnswer()
        routes.road(through: way) { answer.give(CampusPages.road($0)) }
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
