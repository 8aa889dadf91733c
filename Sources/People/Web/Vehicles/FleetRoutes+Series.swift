internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Reports
internal import Trips

/// The values that charts of pages draw.
extension FleetRoutes {
    /// More at once are no chart any more.
    private static let seriesMax: Int64 = 400 * UTC.msPerDay

    func addSeries(to router: inout Router) {
        router.add("GET", "/v1/vehicles/{vehicle}/series") { [self] request in
            access.call(request, for: FleetRoutes.viewers) { caller, connection in
                try series(request, caller, connection)
            }
        }
    }

    private func series(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        func time(_ name: String) -> Int64? {
            request.query[name].flatMap { Int64($0) }.flatMap { UTC.plausible.contains($0) ? $0 / 1_000 * 1_000 : nil }
        }
        guard let fromMs = time("from"), let untilMs = time("until"), fromMs < untilMs,
            untilMs - fromMs <= FleetRoutes.seriesMax
        else {
            return .problem(
                400, type: "span",
                detail:
                    "from and until must be epoch milliseconds, the second after the first and at most 400 days later.")
        }
        let keys = Set((request.query["signals"] ?? "").split(separator: ",").prefix(20).map(String.init))
        guard let about = try about(request, connection), let id = VehicleID(about.vehicle) else {
            return FleetRoutes.noVehicle
        }
        let found: SignalSeries
        switch about.kind {
        case .machine:
            guard let machine = try MachineDetail(id, role: caller.audience, queries, on: connection) else {
                return FleetRoutes.noVehicle
            }
            found = try SignalSeries(machine, fromMs..<untilMs, keys: keys, queries, on: connection)
        case .car:
            found = try SignalSeries(
                car: id.text, fromMs..<untilMs, keys: keys, role: caller.audience, gapMs: rules.gapMs, queries,
                on: connection)
        }
        return Response.json(found.json(caller.units)).with("Cache-Control", "no-store")
    }
}
