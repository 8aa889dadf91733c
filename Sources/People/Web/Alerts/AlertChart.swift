internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports

/// The value of an alert over the time around it, with what it is judged by.
struct AlertChart {
    private static let aroundMs: Int64 = 12 * 3_600_000
    private static let points: Int64 = 300

    let story: AlertDetail
    let series: [MachineDetail.Series]
    let span: Range<Int64>
    let caller: PageCaller

    static func span(_ story: AlertDetail, nowMs: Int64) -> Range<Int64> {
        let endMs = max(story.alert.resolvedMs ?? nowMs, story.alert.worstAtMs)
        let (from, until) = (
            min(story.alert.sinceMs, story.alert.openedMs), min(endMs, story.alert.worstAtMs + 7 * UTC.msPerDay)
        )
        // As much as its length: a short one would be a line at the edge of half a day.
        let around = min(max(until - from, 3_600_000), aroundMs)
        // Not into the future; an alert that opens now has some width, too.
        return from - around..<max(min(until + around, nowMs), from)
    }

    static func pieceS(_ span: Range<Int64>) -> Int64 {
        max(1, (span.upperBound - span.lowerBound) / 1_000 / points)
    }

    var html: HTML {
        guard let series = series.first(where: { $0.name == story.parameter }) else {
            return ofCar.map {
                figure("\($0.row.name), \(ShownValue(0, unit: $0.row.unit, in: caller.units).unit)", $0, "")
            } ?? ""
        }
        let unit = ShownValue(0, unit: series.unit, in: caller.units).unit
        func shown(_ value: Double) -> Double { ShownValue(value, unit: series.unit, in: caller.units).value }
        let chart = LineChart(
            title: "\(series.name), \(unit)",
            points: series.points.map { LineChart.Point(ms: $0.ms, least: shown($0.least), most: shown($0.most)) },
            limits: story.limits.map { LineChart.Limit(shown($0.value), $0.kind) }, span: span,
            gapMs: max(3 * 3_600_000, 3_000 * AlertChart.pieceS(span)), clock: caller.clock.minute)
        guard let svg = chart.svg, let parameter = story.machineParameter else { return "" }
        return figure(chart.title, parameter, svg)
    }

    /// A car's value that is drawn: what counts hours or codes is not.
    private var ofCar: MachineParameter? {
        guard story.alert.kind == .car, let parameter = story.machineParameter else { return nil }
        return [.carSpeed, .carCoolant, .voltageLow, .voltageHigh].contains(parameter) ? parameter : nil
    }

    var isDrawn: Bool { !html.isEmpty }

    private func figure(_ title: String, _ parameter: MachineParameter, _ fallback: HTML) -> HTML {
        let key = parameter.row.key
        var chart = ChartView(
            title, of: SeriesSource(ofAlert: story.id), [key], span, caller, fallback: fallback)
        chart.height = 260
        chart.alert = story.id
        return chart.html
    }

    // MARK: Its values, for the script that draws them

    /// As `GET /v1/vehicles/{vehicle}/series` answers, with the limits that it was opened with.
    static func series(
        _ request: Request, _ caller: PageCaller, gapMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> Response {
        guard let span = FleetRoutes.seriesSpan(request) else { return FleetRoutes.noSeriesSpan }
        guard
            let story = try AlertDetail.read(
                request.parameters["alert"]!, audiences: caller.audience.seen, queries, on: connection),
            let parameter = story.machineParameter, let id = VehicleID(story.vehicle),
            let found = try SignalSeries.read(
                id, story.alert.kind, span, [parameter.row.key], caller, gapMs: gapMs, queries, on: connection)
        else { return AlertSaying.noAlert }
        return Response.json(found.judged(by: story).json(caller.units)).with("Cache-Control", "no-store")
    }
}

extension SeriesSource {
    fileprivate init(ofAlert alert: String) { address = "/alerts/\(URLText.escaped(alert))/series" }
}
