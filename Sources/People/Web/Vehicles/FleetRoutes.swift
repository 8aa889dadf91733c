internal import Fleet
internal import Formats
package import HTTPServer
package import Ingest
internal import Postgres
internal import Presentation
package import Reports
internal import Telemetry
package import Trips

/// Pages of fleets: vehicles' work, positions and faults. The database decides who sees a vehicle.
package final class FleetRoutes: Sendable {
    /// The roles that see vehicles.
    static let viewers = WebRoutes.fleetReaders

    /// The roles that act on alerts.
    static let keepers: Set<Role> = [.farmer, .dealer, .developer, .fleetManager, .operator, .administrator]

    let access: AccessControl
    let queries: ReportQueries
    let rules: TripRules
    let price: FuelPrice?
    let assets: AssetFiles
    let base: BaseMap
    let uploads: UploadSender
    let models: ModelFileRoutes
    let codes: TroubleCodeFolder
    /// The address of these pages as people have it; empty: it is not said.
    let site: String
    private let live: LiveStreams

    package init(
        access: AccessControl, queries: ReportQueries, rules: TripRules, price: FuelPrice?, assets: AssetFiles,
        base: BaseMap,
        uploads: UploadSender, live: LiveStreams, models: ModelFileRoutes, codes: TroubleCodeFolder,
        site: String
    ) {
        self.access = access
        self.queries = queries
        self.rules = rules
        self.price = price
        self.assets = assets
        self.base = base
        self.uploads = uploads
        self.live = live
        self.models = models
        self.codes = codes
        self.site = site
    }

    package func add(to router: inout Router) {
        router.add("GET", "/") { [self] in land($0) }
        router.add("GET", "/home") { [self] in home($0) }
        router.add("GET", "/map") { [self] in map($0) }
        router.add("GET", "/map/vehicles") { [self] in places($0) }
        router.add("GET", "/map/replay") { [self] in replay($0) }
        addVehiclePages(to: &router)
        addAlertPages(to: &router)
        addTripPages(to: &router)
        addServicePages(to: &router)
        router.add("GET", "/v1/live") { [self] in stream($0) }
    }

    private func map(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.viewers) { caller, connection in
            if let day = request.query["day"] {
                guard let span = FleetReplayView.span(ofDay: day, zone: caller.clock.zone, nowMs: Clock.nowMs()) else {
                    return .problem(400, type: "day", detail: "day must be like 2026-11-21, and not in the future.")
                }
                return .seeOther(FleetReplayView.path(span, request))
            }
            var page = try fleetMap(request, caller, on: connection)
            page.replay = FleetReplayView(request, caller, nowMs: page.nowMs)
            guard page.replay != nil || request.query["from"] == nil && request.query["until"] == nil else {
                return FleetRoutes.noReplay
            }
            let isPlayed = page.replay != nil
            return shell(caller).page(
                t("map"), at: "/map",
                heading: PageHeading(
                    t("Map"), status: page.status,
                    actions: FleetReplayView.menu(request, caller, nowMs: page.nowMs)),
                styles: BaseMap.styles,
                scripts: BaseMap.scripts + ["live.js"] + (isPlayed ? ["map-replay.js"] : []) + ["fleet-map.js"],
                isFull: true, main: page.html(base))
        }
    }

    /// What a replay draws, as JSON.
    private func replay(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.viewers) { caller, connection in
            guard let span = FleetReplayView.span(request.query) else { return FleetRoutes.noReplay }
            let asked = (request.query["vehicles"] ?? "").split(separator: ",").prefix(FleetReplay.vehiclesMax)
                .compactMap {
                    FleetRoutes.named($0)
                }
            // Of words that are no vehicles nothing is shown, not everything.
            guard !asked.isEmpty || request.query["vehicles"]?.isEmpty != false else {
                return .problem(
                    400, type: "vehicles",
                    detail: "vehicles must be like car/golf,machine/8R-0001: at most \(FleetReplay.vehiclesMax).")
            }
            let replay = try FleetReplay(span, of: asked, queries, on: connection)
            return FleetRoutes.packed(replay.json(caller.units), request)
        }
    }

    private static let noReplay = Response.problem(
        400, type: "span",
        detail: "from and until must be epoch milliseconds, the second after the first and at most a day later.")

    /// `car/golf`
    private static func named(_ text: Substring) -> (kind: VehicleKind, vehicle: String)? {
        let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, let kind = VehicleKind(rawValue: parts[0]), VehicleID(parts[1]) != nil else {
            return nil
        }
        return (kind, parts[1])
    }

    private static func packed(_ json: String, _ request: Request) -> Response {
        let response = Response.json(json).with("Cache-Control", "no-store").with("Vary", "Accept-Encoding")
        guard PackedBody.isTaken(by: request) else { return response }
        var packed = response.with("Content-Encoding", "gzip")
        packed.body = Gzip.pack(response.body)
        return packed
    }

    /// What the map draws, as JSON: 20,000 rows of a list would be too much of a page.
    private func places(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.viewers) { caller, connection in
            FleetRoutes.packed(try fleetMap(request, caller, on: connection).places.rendered(), request)
        }
    }

    private func fleetMap(_ request: Request, _ caller: PageCaller, on connection: Connection) throws -> FleetMapView {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        let nowMs = Clock.nowMs()
        let map = try FleetMap.read(
            search: asked("search"), group: asked("group"), role: caller.audience, tripGapMs: rules.tripGapMs,
            nowMs: nowMs, vehiclesMax: FleetMap.placesMax, queries, on: connection)
        return FleetMapView(
            map: map, search: asked("search"), group: asked("group"), state: asked("state"), caller: caller,
            nowMs: nowMs)
    }

    func shell(_ caller: PageCaller) -> PageShell { PageShell(caller: caller, assets: assets) }

    /// Server-sent events: there is news.
    private func stream(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.viewers) { caller, _ in
            .events(request) { live.open(caller.account, by: caller.holds) }
        }
    }
}
