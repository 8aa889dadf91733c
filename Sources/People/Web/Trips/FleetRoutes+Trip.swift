internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Telemetry
internal import Trips

/// The page of one trip, and its files.
extension FleetRoutes {
    /// The trips before it that its consumption is seen beside.
    private static let beforeMax: Int64 = 14

    func trip(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.drivers) { [self] caller, connection in
            guard let (vehicle, startMs) = FleetRoutes.tripAsked(request) else { return FleetRoutes.noTrip }
            let reads = try tripAndBefore(vehicle, startMs, count: FleetRoutes.beforeMax + 1, connection)
            guard let read = reads.first, read.trip.startMs == startMs || startMs <= read.trip.endMs else {
                return FleetRoutes.noTrip
            }
            // Late readings may have moved its start: old links lead on.
            guard read.trip.startMs == startMs else { return .seeOther(TripWords.path(read)) }
            if let format = request.query["format"] { return try file(read, format, connection) }
            let caller = try caller.knowing([read.driver], queries, on: connection)
            let next = try connection.query(queries["trip_after"], [.text(vehicle), .timestampMs(startMs)])
            var view = TripView(
                read: read, name: try carNames([vehicle], connection)[vehicle] ?? vehicle,
                before: reads.dropFirst().filter { !$0.isDiscarded },
                nextMs: try next.first.flatMap { try $0.timestampMs("start_at") },
                readings: try TripSamples.read(read, queries, on: connection),
                rules: try rules.ofTrip(of: vehicle, atMs: startMs, on: connection), caller: caller,
                nowMs: Clock.nowMs(), streets: base.streets)
            view.ends = view.streetNames(at: [read.trip.startMs, read.trip.endMs])
            return shell(caller).page(
                view.title, at: "/trips", heading: view.heading, styles: BaseMap.styles + ["uplot/uPlot.min.css"],
                scripts: BaseMap.scripts + ["uplot/uPlot.iife.min.js", "chart.js", "trip.js"], main: view.html(base))
        }
    }

    /// The trip as a file, as `drover trip export` writes it.
    private func file(_ read: TripRead, _ format: String, _ connection: Connection) throws -> Response {
        let types = [
            "gpx": "application/gpx+xml; charset=utf-8", "csv": "text/csv; charset=utf-8", "json": "application/json",
        ]
        guard let render = TripExport.formats[format], let type = types[format] else {
            return .problem(400, type: "format", detail: "format must be gpx, csv or json")
        }
        let rules = try rules.ofTrip(of: read.vehicle, atMs: read.trip.startMs, on: connection)
        let export = TripExport(
            vehicle: read.vehicle, readings: try TripSamples.read(read, queries, on: connection), gapMs: rules.gapMs)
        do {
            return Response.text(try render(export), type: type)
                .with("Content-Disposition", "attachment; filename=\"\(read.vehicle)-\(read.trip.startMs).\(format)\"")
        } catch {
            return .problem(404, type: "no-track", detail: "\(error).")
        }
    }

    /// What those of these cars are called that have a name.
    func carNames(_ vehicles: Set<String>, _ connection: Connection) throws -> [String: String] {
        guard !vehicles.isEmpty else { return [:] }
        let rows = try connection.query(queries["car_names"], [.textArray(vehicles.sorted())])
        return Dictionary(
            try rows.map { (try $0.text("vehicle")!, try $0.text("name")!) }, uniquingKeysWith: { first, _ in first })
    }
}
