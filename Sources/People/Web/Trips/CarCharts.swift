internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// A trip's signals over time, with the limits of its driver.
struct CarCharts {
    /// A chart has about this many points.
    private static let points: Int64 = 300

    private let readings: [CarReading]
    private let trip: TripRead
    private let caller: PageCaller
    private let rules: TripRules

    init(_ readings: [CarReading], _ trip: TripRead, _ caller: PageCaller, _ rules: TripRules) {
        self.readings = readings
        self.trip = trip
        self.caller = caller
        self.rules = rules
    }

    var html: HTML {
        let span = trip.trip.startMs..<max(trip.trip.endMs, trip.trip.startMs + 1)
        // A car without an owner has no limits to draw.
        let settings = trip.settings
        let voltages = settings.map { [$0.number(.voltageLowV), $0.number(.voltageHighV)] }
        let charts: [(Signal, String, [Int64])] = [
            (.speed, "Speed", settings.map { [$0.speedLimitMilliKmh] } ?? []), (.rpm, "Engine speed", []),
            (.coolant, "Coolant temperature", settings.map { [$0.coolantLimitMilliC] } ?? []),
            (.voltage, "Control module voltage", voltages ?? []),
        ]
        let figures = charts.compactMap { signal, name, limits -> HTML? in
            let unit = ShownValue(0, unit: signal.row.unit, in: caller.units).unit
            let chart = LineChart(
                title: "\(name), \(unit)", points: points(signal, span),
                limits: limits.map { LineChart.Limit(shown(Double($0) / 1_000, signal), .warning) }, span: span,
                gapMs: max(rules.gapMs, 3 * pieceMs(span)), clock: caller.clock.second)
            return chart.svg.map {
                "<figure><figcaption>\(chart.title)</figcaption>\($0)</figure>"
            }
        }
        return "<div class=\"charts\">\n\(figures.joined(separator: "\n"))\n</div>"
    }

    private func pieceMs(_ span: Range<Int64>) -> Int64 {
        max(1, (span.upperBound - span.lowerBound) / CarCharts.points)
    }

    private func shown(_ value: Double, _ signal: Signal) -> Double {
        ShownValue(value, unit: signal.row.unit, in: caller.units).value
    }

    /// The least and the greatest of each piece.
    private func points(_ signal: Signal, _ span: Range<Int64>) -> [LineChart.Point] {
        let piece = pieceMs(span)
        var points: [LineChart.Point] = []
        for reading in readings {
            guard let stored = reading[signal] else { continue }
            let ms = span.lowerBound + (reading.ts - span.lowerBound) / piece * piece
            let value = shown(Double(stored) / Double(signal.row.scale), signal)
            if let last = points.last, last.ms == ms {
                points[points.count - 1] = LineChart.Point(
                    ms: ms, least: min(last.least, value), most: max(last.most, value))
            } else {
                points.append(LineChart.Point(ms: ms, least: value, most: value))
            }
        }
        return points
    }
}
