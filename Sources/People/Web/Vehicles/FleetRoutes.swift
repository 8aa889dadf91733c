internal import Fleet
package import HTTPServer
package import Ingest
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
    private let live: LiveStreams

    package init(
        access: AccessControl, queries: ReportQueries, rules: TripRules, price: FuelPrice?, assets: AssetFiles,
        base: BaseMap,
        uploads: UploadSender, live: LiveStreams, models: ModelFileRoutes, codes: TroubleCodeFolder
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
    }

    package func add(to router: inout Router) {
        router.add("GET", "/") { [self] in first($0) }
        router.add("GET", "/map") { [self] in map($0) }
        addVehiclePages(to: &router)
        addAlertPages(to: &router)
        addTripPages(to: &router)
        router.add("GET", "/v1/live") { [self] in stream($0) }
    }

    private func first(_ request: Request) -> Response {
        access.page(request, for: nil) { caller, connection in
            let page = try HomeView(
                caller, tripGapMs: rules.tripGapMs, price: price, nowMs: Clock.nowMs(), queries, on: connection)
            return shell(caller).page("today", at: "/", main: page.html)
        }
    }

    private func map(_ request: Request) -> Response {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        return access.page(request, for: FleetRoutes.viewers) { caller, connection in
            let nowMs = Clock.nowMs()
            let map = try FleetMap.read(
                search: asked("search"), group: asked("group"), role: caller.audience, tripGapMs: rules.tripGapMs,
                nowMs: nowMs, queries, on: connection)
            let page = FleetMapView(
                map: map, search: asked("search"), group: asked("group"), state: asked("state"), caller: caller,
                nowMs: nowMs)
            return shell(caller).page(
                "fleet map", at: "/map", styles: BaseMap.styles,
                scripts: BaseMap.scripts + ["live.js", "fleet-map.js"],
                main: page.html(base))
        }
    }

    func shell(_ caller: PageCaller) -> PageShell { PageShell(caller: caller, assets: assets) }

    /// Server-sent events: there is news.
    private func stream(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.viewers) { caller, _ in
            .events(request) { live.open(caller.account, by: caller.holds) }
        }
    }
}
