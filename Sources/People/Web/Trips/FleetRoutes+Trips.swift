internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry
internal import Trips

/// Trips by date, with a map of the chosen one and its way along a slider; and what fleets did by day and week.
extension FleetRoutes {
    /// The roles that see trips. Farmers and dealers have machines, which have none.
    static let drivers: Set<Role> = [
        .driver, .fleetManager, .developer, .dispatcher, .analyst, .operator, .administrator,
    ]
    /// A browser draws no more.
    private static let trackMax = 5_000

    func addTripPages(to router: inout Router) {
        router.add("GET", "/trips") { [self] request in
            access.page(request, for: FleetRoutes.drivers) { caller, connection in
                guard let date = date(request, caller) else { return FleetRoutes.badDate }
                return try trips(request, date, caller, connection)
            }
        }
        router.add("GET", "/v1/tracks/{vehicle}/{start}") { [self] request in
            access.call(request, for: FleetRoutes.drivers) { _, connection in
                guard let start = Int64(request.parameters["start"]!), UTC.plausible.contains(start) else {
                    return FleetRoutes.noTrip
                }
                return try track(request.parameters["vehicle"]!, start, connection)
            }
        }
        router.add("GET", "/fleet") { [self] request in
            access.page(request, for: FleetRoutes.drivers) { caller, connection in
                guard let date = date(request, caller) else { return FleetRoutes.badDate }
                return try overview(date, isWeek: request.query["span"] == "week", caller, connection)
            }
        }
    }

    private static let badDate = Response.problem(
        400, type: "day", detail: "date must be like 2026-11-21, and your account's time zone one that there is.")
    private static let noTrip = Response.problem(
        404, type: "not-found", detail: "There is no such trip that you may see.")

    /// The date in the address; else today.
    private func date(_ request: Request, _ caller: PageCaller) -> CivilDate? {
        guard let text = request.query["date"], !text.isEmpty else {
            return CivilDate(ofMs: Clock.nowMs(), zone: caller.clock.zone)
        }
        return CivilDate(text, zone: caller.clock.zone)
    }

    private func trips(
        _ request: Request, _ date: CivilDate, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let vehicle = VehicleForm.trimmed(request.query["vehicle"] ?? "")
        guard try vehicle.isEmpty || isCar(vehicle, connection) else {
            var response = shell(caller).page(
                "trips of \(date.text)", at: "/trips", scripts: ["names.js"],
                main: TripListView.noVehicle(vehicle, date))
            response.status = 404
            return response
        }
        let reads = try TripRead.day(
            date.span(days: 1), vehicle: vehicle, queries, price: price, on: connection)
        let chosen = reads.first { String($0.trip.startMs) == request.query["trip"] }
        let page = TripListView(date: date, vehicle: vehicle, trips: reads, chosen: chosen, caller: caller)
        var charts: HTML = ""
        if let chosen {
            charts =
                CarCharts(
                    try TripSamples.read(chosen, queries, on: connection), chosen, caller,
                    try rules.ofTrip(of: chosen.vehicle, atMs: chosen.trip.startMs, on: connection)
                ).html
        }
        return shell(caller).page(
            "trips of \(date.text)", at: "/trips", styles: BaseMap.styles,
            scripts: ["names.js"] + (chosen == nil ? [] : BaseMap.scripts + ["replay.js"]),
            main: page.html(base, charts: charts))
    }

    /// Among the vehicles that the caller sees.
    private func isCar(_ vehicle: String, _ connection: Connection) throws -> Bool {
        guard VehicleID(vehicle) != nil else { return false }
        return try connection.query(queries["vehicle_kinds"], [.text(vehicle)]).contains {
            try $0.word("kind") == VehicleKind.car
        }
    }

    /// Positions with times and speeds, for the script.
    private func track(_ vehicle: String, _ start: Int64, _ connection: Connection) throws -> Response {
        let rows = try connection.query(queries["trip_samples"], [.text(vehicle), .timestampMs(start)])
        let readings = try rows.flatMap {
            try PackedSamples.decode($0.bytes("samples")!, minuteMs: $0.timestampMs("minute_at")!)
        }
        var speed: Int32?
        var points: [(ms: Int64, position: Position, speed: Int32?)] = []
        for reading in readings {
            speed = reading[.speed] ?? speed
            if let position = Position(reading) { points.append((reading.ts, position, speed)) }
        }
        guard !readings.isEmpty else { return FleetRoutes.noTrip }
        let step = max(1, (points.count + FleetRoutes.trackMax - 1) / FleetRoutes.trackMax)
        let kept = points.enumerated().filter { $0.offset % step == 0 || $0.offset == points.count - 1 }.map(\.element)
        func degrees(_ stored: Int32) -> JSONValue { .number(Decimal.text(Int64(stored), decimals: 7)) }
        return Response.json(
            JSONValue.object([
                ("vehicle", .text(vehicle)), ("start", .text(UTC.text(start))),
                ("ts", .list(kept.map { .integer($0.ms) })),
                ("latitude_deg", .list(kept.map { degrees($0.position.latitude) })),
                ("longitude_deg", .list(kept.map { degrees($0.position.longitude) })),
                (
                    "speed_kmh",
                    .list(kept.map { .number($0.speed.map { Decimal.text(Int64($0), decimals: 3) }) })
                ),
            ]).rendered()
        ).with("Cache-Control", "no-store")
    }

    private func overview(
        _ date: CivilDate, isWeek: Bool, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let first = isWeek ? date.monday : date
        let count: Int64 = isWeek ? 7 : 1
        let now = try TripRead.day(first.span(days: count), queries, price: price, on: connection)
        let before = try TripRead.day(
            first.moved(by: -count).span(days: count), queries, price: price, on: connection)
        let nowMs = Clock.nowMs()
        let map = try FleetMap.read(
            search: "", group: "", role: caller.audience, tripGapMs: rules.tripGapMs, nowMs: nowMs, queries,
            on: connection)
        let page = OverviewView(
            first: first, isWeek: isWeek, now: now, before: before, map: map, caller: caller, nowMs: nowMs)
        return shell(caller).page("fleet overview", at: "/fleet", main: page.html)
    }
}
