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
        guard let span = FleetRoutes.seriesSpan(request) else { return FleetRoutes.noSeriesSpan }
        let keys = Set((request.query["signals"] ?? "").split(separator: ",").prefix(20).map(String.init))
        guard let about = try about(request, connection), let id = VehicleID(about.vehicle),
            let found = try SignalSeries.read(
                id, about.kind, span, keys, caller, gapMs: rules.gapMs, queries, on: connection)
        else { return FleetRoutes.noVehicle }
        return Response.json(found.json(caller.units)).with("Cache-Control", "no-store")
    }

    /// The time that a chart's script asks for, in whole seconds; nil: it is none, or too long.
    static func seriesSpan(_ request: Request) -> Range<Int64>? {
        func time(_ name: String) -> Int64? {
            request.query[name].flatMap { Int64($0) }.flatMap { UTC.plausible.contains($0) ? $0 / 1_000 * 1_000 : nil }
        }
        guard let fromMs = time("from"), let untilMs = time("until"), fromMs < untilMs, untilMs - fromMs <= seriesMax
        else { return nil }
        return fromMs..<untilMs
    }

    static let noSeriesSpan = Response.problem(
        400, type: "span",
        detail: "from and until must be epoch milliseconds, the second after the first and at most 400 days later.")
}

extension SignalSeries {
    /// Nil: there is no such vehicle that they may see.
    static func read(
        _ id: VehicleID, _ kind: VehicleKind, _ span: Range<Int64>, _ keys: Set<String>, _ caller: PageCaller,
        gapMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> SignalSeries? {
        switch kind {
        case .machine:
            try MachineDetail(id, role: caller.audience, queries, on: connection).map {
                try SignalSeries($0, span, keys: keys, queries, on: connection)
            }
        case .car:
            try SignalSeries(
                car: id.text, span, keys: keys, role: caller.audience, gapMs: gapMs, queries, on: connection)
        }
    }
}
