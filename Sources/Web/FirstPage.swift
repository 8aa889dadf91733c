internal import Alerts
internal import Fleet
internal import Postgres
internal import Reports
internal import Trips

/// The page at `/`: what is new for who has logged in, and what they can do. What each sees is what their other pages show.
struct FirstPage {
    static let vehiclesMax: Int32 = 50
    static let tripsMax: Int32 = 20

    let caller: PageCaller
    let queries: ReportQueries
    let price: FuelPrice?
    let tripGapMs: Int64
    let nowMs: Int64

    func html(_ connection: Connection) throws -> String {
        """
        <h1>Today</h1>
        <p class="soft">\(today.text), \(caller.clock.second(nowMs)), \(HTMLText.escaped(caller.clock.zone)).</p>
        \(has(FleetSite.viewers) ? try fleet(connection) : "")
        \(doings)
        """
    }

    private var today: CivilDate { CivilDate(ofMs: nowMs, zone: caller.clock.zone) }
    private func has(_ roles: Set<Role>) -> Bool { !caller.roles.isDisjoint(with: roles) }

    // MARK: Who has vehicles

    private func fleet(_ connection: Connection) throws -> String {
        let map = try FleetMap.read(
            search: "", group: "", role: caller.audience, tripGapMs: tripGapMs, nowMs: nowMs, queries, on: connection)
        let vehicles = try connection.query(queries["page_vehicles"], [.int4(FirstPage.vehiclesMax)]).map(
            VehicleRow.init)
        var parts = [tiles(map), alerts(map)]
        if has(FleetSite.drivers) {
            let span = today.span(days: 1)
            let day = try TripRead.day(span, queries, price: price, on: connection)
            let last = try connection.query(queries["page_trips"], [.int4(FirstPage.tripsMax)])
                .map { try TripRead($0, price: price) }
            parts += [
                "<h2>Trips of today</h2>", TripSums(day, caller.shownUnits).tiles,
                "<p><a href=\"/trips\">All trips of a day</a>, <a href=\"/fleet\">a day or week beside the one before</a></p>",
                vehicleTable(vehicles, of: map.vehicles.count),
                TripTable(last, caller, hasVehicles: true).html(caption: "Last trips", empty: "No trip yet."),
            ]
        } else {
            parts.append(vehicleTable(vehicles, of: map.vehicles.count))
        }
        return parts.joined(separator: "\n")
    }

    private func tiles(_ map: FleetMap) -> String {
        let items = VehicleState.allCases.map { state in
            let count = map.vehicles.count { $0.state == state }
            return "<li>\(state.rawValue)<b><a href=\"/map?state=\(state.rawValue)\">\(count)</a></b></li>"
        }
        return "<h2>Vehicles now</h2>\n<ul class=\"tiles\">\(items.joined())</ul>"
    }

    /// Which ones, and what to do, is on the page of alerts.
    private func alerts(_ map: FleetMap) -> String {
        let count = map.vehicles.reduce(0) { $0 + $1.openAlerts }
        guard count > 0 else {
            return
                "<h2>Alerts</h2>\n<p class=\"empty\">\(caller.seesAsDealer ? "No alert is open of those that you see: without a machine's past, alerts from before you were confirmed stay with its owner." : "No alert is open\(Unmonitored.exception(map)).")</p>"
                + Unmonitored.sentence(map)
        }
        let critical = map.vehicles.filter { $0.severity == "critical" }.count
        let worst =
            critical == 0
            ? ""
            : ", critical ones of <span class=\"critical\">\(critical) \(critical == 1 ? "vehicle" : "vehicles")</span>"
        return
            "<h2>Alerts</h2>\n<p><a href=\"/alerts\">\(count) open \(count == 1 ? "alert" : "alerts")</a>\(worst)</p>"
            + Unmonitored.sentence(map)
    }

    private func vehicleTable(_ vehicles: [VehicleRow], of count: Int) -> String {
        let (isDriver, isDealer) = (has([.driver]), caller.seesAsDealer)
        let table = HTMLText.table(
            caption: "Vehicles",
            headers: [
                .html("Vehicle"), .html("Last reading"), .number("Open alerts"), .text("Kind"), .text("Model"),
                .word("State"),
            ] + (isDriver ? [.html("Drive")] : []),
            rows: vehicles.map { vehicle in
                let name = vehicle.name ?? vehicle.vehicle
                let path = "/vehicles/\(Address.escaped(vehicle.vehicle))?kind=\(vehicle.kind)"
                let drive =
                    vehicle.kind == "car"
                    ? "<a href=\"/cars/\(Address.escaped(vehicle.vehicle))/live\">live</a>" : nil
                return [
                    "<a href=\"\(path)\">\(HTMLText.escaped(name))</a>"
                        + (vehicle.name == nil
                            ? "" : "<br><span class=\"soft\">\(HTMLText.escaped(vehicle.vehicle))</span>"),
                    vehicle.lastMs.map(caller.clock.html) ?? (isDealer ? "not since you look after it" : "never"),
                    String(vehicle.openAlerts), vehicle.kind,
                    vehicle.model, vehicle.isDisabled ? "disabled" : "in use",
                ] + (isDriver ? [drive] : [])
            },
            empty: isDealer
                ? "You look after no machine yet. Ask for one by its id under Dealers: you see it when its owner has confirmed."
                : "You see no vehicle yet. Who runs the fleet says which ones are yours.", narrow: .cards)
        return table
            + (count > vehicles.count && vehicles.count == Int(FirstPage.vehiclesMax)
                ? "\n<p>There are more: <a href=\"/map\">search them on the map</a>.</p>" : "")
    }

    // MARK: What one can do

    private var doings: String {
        let pages = PageShell.pages(for: caller.roles).map { page in
            "<dt><a href=\"\(page.path)\">\(page.name)</a></dt><dd>\(page.about)</dd>"
        }
        let words = FirstPage.elsewhere.filter { has([$0.role]) }.map { "<p>\($0.text)</p>" }
        let none =
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

    /// Who works with an app in the first place.
    private static let elsewhere: [(role: Role, text: String)] = [
        (.rider, "You ask for rides in your campus's app; its office gives you the code that lets it in."),
        (.rideDriver, "You drive by your campus's app: it has your stops and tells when they change."),
        (.surveyor, "You record walks in the surveyors' app and hand them in from there; it says what became of each."),
        (
            .researcher,
            "You query and export what surveyors saw with <code>drover sightings</code>, or by a SELECT of your own at <a href=\"/query\">/query</a>."
        ),
    ]
}

private struct VehicleRow {
    let vehicle, kind: String
    let name, model: String?
    let isDisabled: Bool
    let lastMs: Int64?
    let openAlerts: Int

    init(_ row: Row) throws {
        (vehicle, kind, model) = (try row.text("vehicle")!, try row.text("kind")!, try row.text("model"))
        (name, isDisabled) = (try row.text("name"), try row.bool("is_disabled")!)
        (lastMs, openAlerts) = (try row.timestampMs("last_reading_at"), try row.int("open_alerts")!)
    }
}
