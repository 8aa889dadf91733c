internal import Alerts
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// The page at `/`: news for people who are logged in, and what they can do. It shows no more than their other pages.
struct HomeView {
    static let vehiclesMax: Int32 = 50
    static let tripsMax: Int32 = 20

    let caller: PageCaller
    /// Nil: who looks has no vehicles.
    let seen: Seen?
    let nowMs: Int64

    /// The vehicles that somebody sees, and trips where those are for them.
    struct Seen {
        let map: FleetMap
        fileprivate let vehicles: [VehicleRow]
        let trips: (today: [TripRead], last: [TripRead])?
    }

    init(
        _ caller: PageCaller, tripGapMs: Int64, price: FuelPrice?, nowMs: Int64, _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        self.caller = caller
        self.nowMs = nowMs
        guard HomeView.has(FleetRoutes.viewers, caller) else {
            seen = nil
            return
        }
        seen = Seen(
            map: try FleetMap.read(
                search: "", group: "", role: caller.audience, tripGapMs: tripGapMs, nowMs: nowMs, queries,
                on: connection),
            vehicles: try connection.query(queries["page_vehicles"], [.int4(HomeView.vehiclesMax)]).map(
                VehicleRow.init),
            trips: try HomeView.trips(caller, price, nowMs: nowMs, queries, on: connection))
    }

    private static func trips(
        _ caller: PageCaller, _ price: FuelPrice?, nowMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> (today: [TripRead], last: [TripRead])? {
        guard has(FleetRoutes.drivers, caller) else { return nil }
        let span = CivilDate(ofMs: nowMs, zone: caller.clock.zone).span(days: 1)
        return (
            try TripRead.day(span, queries, price: price, on: connection),
            try connection.query(queries["page_trips"], [.int4(HomeView.tripsMax)]).map {
                try TripRead($0, price: price)
            }
        )
    }

    var html: HTML {
        """
        <h1>Today</h1>
        <p class="soft">\(today.text), \(caller.clock.second(nowMs)), \(caller.clock.zone).</p>
        \(seen.map(shown))
        \(doings)
        """
    }

    private var today: CivilDate { CivilDate(ofMs: nowMs, zone: caller.clock.zone) }
    private func has(_ roles: Set<Role>) -> Bool { HomeView.has(roles, caller) }
    private static func has(_ roles: Set<Role>, _ caller: PageCaller) -> Bool {
        !caller.roles.isDisjoint(with: roles)
    }

    // MARK: Who has vehicles

    private func shown(_ seen: Seen) -> HTML {
        let vehicles = vehicleTable(seen.vehicles, of: seen.map.vehicles.count)
        var parts = [tiles(seen.map), alerts(seen.map)]
        if let trips = seen.trips {
            parts += [
                "<h2>Trips of today</h2>", TripTotalsView(trips.today, caller.units).tiles,
                "<p><a href=\"/trips\">All trips of a day</a>, <a href=\"/fleet\">a day or week beside the one before</a></p>",
                vehicles,
                TripTableView(trips.last, caller, hasVehicles: true).html(caption: "Last trips", empty: "No trip yet."),
            ]
        } else {
            parts.append(vehicles)
        }
        return parts.joined(separator: "\n")
    }

    private func tiles(_ map: FleetMap) -> HTML {
        let items: [HTML] = VehicleState.allCases.map { state in
            let count = map.vehicles.count { $0.state == state }
            return "<li>\(state.rawValue)<b><a href=\"/map?state=\(state.rawValue)\">\(count)</a></b></li>"
        }
        return "<h2>Vehicles now</h2>\n<ul class=\"tiles\">\(items.joined())</ul>"
    }

    /// The page of alerts says which ones, and what to do.
    private func alerts(_ map: FleetMap) -> HTML {
        let count = map.vehicles.reduce(0) { $0 + $1.openAlerts }
        guard count > 0 else {
            return
                "<h2>Alerts</h2>\n<p class=\"empty\">\(caller.seesAsDealer ? "No alert is open of those that you see: without a machine's past, alerts from before you were confirmed stay with its owner." : "No alert is open\(UnmonitoredView.exception(map)).")</p>"
                + UnmonitoredView.sentence(map)
        }
        let critical = map.vehicles.filter { $0.severity == .critical }.count
        let worst: HTML =
            critical == 0
            ? ""
            : ", critical ones of <span class=\"critical\">\(critical) \(critical == 1 ? "vehicle" : "vehicles")</span>"
        return
            "<h2>Alerts</h2>\n<p><a href=\"/alerts\">\(count) open \(count == 1 ? "alert" : "alerts")</a>\(worst)</p>"
            + UnmonitoredView.sentence(map)
    }

    private func vehicleTable(_ vehicles: [VehicleRow], of count: Int) -> HTML {
        let (isDriver, isDealer) = (has([.driver]), caller.seesAsDealer)
        let table = HTML.table(
            caption: "Vehicles",
            headers: [
                .word("Vehicle"), .word("Last reading"), .number("Open alerts"), .text("Kind"), .text("Model"),
                .word("State"),
            ] + (isDriver ? [.word("Drive")] : []),
            rows: vehicles.map { vehicle in
                let name = vehicle.name ?? vehicle.vehicle
                let path: HTML = "/vehicles/\(encoded: vehicle.vehicle)?kind=\(vehicle.kind.rawValue)"
                let drive: HTML? =
                    vehicle.kind == .car
                    ? "<a href=\"/cars/\(encoded: vehicle.vehicle)/live\">live</a>" : nil
                return [
                    "<a href=\"\(path)\">\(name)</a>\("<br><span class=\"soft\">\(vehicle.vehicle)</span>", if: vehicle.name != nil)",
                    vehicle.lastMs.map(caller.clock.html) ?? (isDealer ? "not since you look after it" : "never"),
                    "\(vehicle.openAlerts)", .text(vehicle.kind.rawValue), .text(vehicle.model),
                    vehicle.isDisabled ? "disabled" : "in use",
                ] + (isDriver ? [drive] : [])
            },
            empty: isDealer
                ? "You look after no machine yet. Ask for one by its id under Dealers: you see it when its owner has confirmed."
                : "You see no vehicle yet. Who runs the fleet says which ones are yours.", narrow: .cards)
        return table
            + (count > vehicles.count && vehicles.count == Int(HomeView.vehiclesMax)
                ? "\n<p>There are more: <a href=\"/map\">search them on the map</a>.</p>" : "")
    }

    // MARK: What one can do

    private var doings: HTML {
        let pages: [HTML] = PageShell.pages(for: caller.roles).map { page in
            "<dt><a href=\"\(page.path)\">\(page.name)</a></dt><dd>\(page.about)</dd>"
        }
        let words: [HTML] = HomeView.elsewhere.filter { has([$0.role]) }.map { "<p>\($0.text)</p>" }
        let none: HTML =
            caller.roles.isEmpty
            ? "<p>Your account has no role yet, so there is little to see. Who administers this installation gives roles.</p>"
            : ""
        return """
            <h2>What you can do</h2>
            \(none)\(words.joined(separator: "\n"))
            <dl>\(pages.joined(separator: "\n"))
            <dt><a href="/account">Account</a></dt><dd>your name, units, time zone and password; where you are logged in</dd></dl>
            """
    }

    /// Roles that mainly work with an app.
    private static let elsewhere: [(role: Role, text: HTML)] = [
        (.rider, "You ask for rides in your campus's app; its office gives you the code that lets it in."),
        (.rideDriver, "You drive by your campus's app: it has your stops and tells when they change."),
        (.surveyor, "You record walks in the surveyors' app and hand them in from there; it says what became of each."),
        (
            .researcher,
            "You query and export what surveyors saw with <code>drover sightings</code>, or by a SELECT of your own at <a href=\"/query\">/query</a>."
        ),
    ]
}

fileprivate struct VehicleRow {
    let vehicle: String
    let kind: VehicleKind
    let name, model: String?
    let isDisabled: Bool
    let lastMs: Int64?
    let openAlerts: Int

    init(_ row: Row) throws {
        vehicle = try row.text("vehicle")!
        kind = try row.word("kind")!
        model = try row.text("model")
        name = try row.text("name")
        isDisabled = try row.bool("is_disabled")!
        lastMs = try row.timestampMs("last_reading_at")
        openAlerts = try row.int("open_alerts")!
    }
}
