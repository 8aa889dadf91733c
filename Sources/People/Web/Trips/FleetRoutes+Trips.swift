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
    func addTripPages(to router: inout Router) {
        router.add("GET", "/trips") { [self] request in
            access.page(request, for: FleetRoutes.drivers) { caller, connection in
                guard let filter = TripFilter(request, zone: caller.clock.zone, nowMs: Clock.nowMs()) else {
                    return FleetRoutes.badDate
                }
                // A trip had no page of its own once: links of then lead on.
                if let startMs = request.query["trip"].flatMap({ Int64($0) }), VehicleID(filter.vehicle) != nil {
                    return .seeOther(TripWords.path(filter.vehicle, startMs))
                }
                guard !filter.columns.isLoose else { return .seeOther(filter.path) }
                return try trips(request, filter, caller, connection)
            }
        }
        router.add("GET", "/trips/{vehicle}/{start}") { [self] in trip($0) }
        router.add("GET", "/v1/tracks/{vehicle}/{start}") { [self] in track($0) }
        router.add("GET", "/fleet") { [self] request in
            access.page(request, for: FleetRoutes.drivers) { caller, connection in
                guard let date = date(request, caller) else { return FleetRoutes.badDate }
                let span = request.query["span"].flatMap(OverviewView.Span.init) ?? .day
                return try overview(date, span, caller, connection)
            }
        }
    }

    private static let badDate = Response.problem(
        400, type: "day", detail: "date must be like 2026-11-21, and your account's time zone one that there is.")

    /// The date in the address; else today.
    private func date(_ request: Request, _ caller: PageCaller) -> CivilDate? {
        guard let text = request.query["date"], !text.isEmpty else {
            return CivilDate(ofMs: Clock.nowMs(), zone: caller.clock.zone)
        }
        return CivilDate(text, zone: caller.clock.zone)
    }

    private func trips(
        _ request: Request, _ filter: TripFilter, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        guard let car = try car(filter.vehicle, connection) else {
            var response = shell(caller).page(
                t("trips"), at: "/trips", heading: PageHeading(t("Trips")), scripts: ["names.js"],
                main: TripListView.noVehicle(filter.vehicle, filter))
            response.status = 404
            return response
        }
        guard car == filter.vehicle else {
            return .seeOther(filter.path(vehicle: car, format: request.query["format"]))
        }
        let nowMs = Clock.nowMs()
        func began(_ span: Range<Int64>) throws -> [TripRead] {
            try TripRead.day(span, vehicle: filter.vehicle, queries, price: price, on: connection)
        }
        let all = try began(filter.span)
        let names = try carNames(Set(all.map(\.vehicle) + (car.isEmpty ? [] : [car])), connection)
        let kept = filter.ordered(all.filter(filter.keeps), names: names)
        if let format = request.query["format"] {
            guard format == "csv" else {
                return .problem(400, type: "format", detail: "format must be csv")
            }
            // What the table does not show by itself is in the file of who has chosen nothing.
            let columns =
                filter.columns.isStandard
                ? nil : filter.columns.shown.flatMap { TripRowsView.files[$0.key, default: []] }
            return .text(TripsOutput(kept).csv(only: columns), type: "text/csv; charset=utf-8")
                .with("Content-Disposition", "attachment; filename=\"trips-\(filter.first.text).csv\"")
        }
        let caller = try caller.knowing(all.map(\.driver), queries, on: connection)
        let outlines = try TripOutlines.read(TripListView.page(kept, filter), queries, on: connection)
        let view = TripListView(
            filter: filter, trips: kept, all: all,
            before: try began(filter.spanBefore(nowMs: nowMs)).filter(filter.keeps), names: names,
            typed: try names[car].flatMap { try self.car($0, connection) == car ? $0 : nil } ?? car,
            outlines: outlines, streets: TripOutlines.streets(outlines, base.streets),
            lastMs: all.isEmpty ? try lastStart(filter.vehicle, connection) : nil,
            isCut: all.count >= Int(TripRead.dayMax), caller: caller, nowMs: nowMs, tripGapMs: rules.tripGapMs)
        return shell(caller).page(
            view.title, at: "/trips", heading: view.heading, scripts: ["names.js"], main: view.html)
    }

    private func lastStart(_ vehicle: String, _ connection: Connection) throws -> Int64? {
        let rows =
            vehicle.isEmpty
            ? try connection.query(queries["page_trips"], [.int8(1)])
            : try connection.query(queries["vehicle_trips"], [.text(vehicle), .int8(1)])
        return try rows.first.flatMap { try $0.timestampMs("start_at") }
    }

    private static let typedBytesMax = 256

    /// Which car somebody means: by its id, else by its name, where only one is called so; nil: none that the caller sees.
    private func car(_ typed: String, _ connection: Connection) throws -> String? {
        if try typed.isEmpty || isCar(typed, connection) { return typed }
        guard typed.utf8.count <= FleetRoutes.typedBytesMax, VehicleForm.isPlain(typed) else { return nil }
        let found = try connection.query(queries["car_named"], [.text(typed)])
        return found.count == 1 ? try found[0].text("vehicle") : nil
    }

    /// Among the vehicles that the caller sees.
    private func isCar(_ vehicle: String, _ connection: Connection) throws -> Bool {
        guard VehicleID(vehicle) != nil else { return false }
        return try connection.query(queries["vehicle_kinds"], [.text(vehicle)]).contains {
            try $0.word("kind") == VehicleKind.car
        }
    }

    private func overview(
        _ date: CivilDate, _ span: OverviewView.Span, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        let days = OverviewView.days(date, span)
        func trips(_ days: (first: CivilDate, count: Int64)) throws -> [TripRead] {
            try TripRead.day(days.first.span(days: days.count), queries, price: price, on: connection)
        }
        let nowMs = Clock.nowMs()
        let map = try FleetMap.read(
            search: "", group: "", role: caller.audience, tripGapMs: rules.tripGapMs, nowMs: nowMs, queries,
            on: connection)
        let page = OverviewView(
            first: days.now.first, span: span, now: try trips(days.now), before: try trips(days.before), map: map,
            caller: caller, nowMs: nowMs)
        return shell(caller).page(
            t("fleet overview"), at: "/fleet",
            heading: PageHeading(t("Overview"), status: "<span class=\"soft\">\(page.title)</span>"), main: page.html)
    }
}
