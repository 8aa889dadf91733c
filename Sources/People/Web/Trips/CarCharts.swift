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
        // A car without an owner has no limits to draw.
        let settings = trip.settings
        let voltages = settings.map { [$0.number(.voltageLowV), $0.number(.voltageHighV)] }
        let charts: [(Signal, String, [Int64])] = [
            (.speed, t("Speed"), settings.map { [$0.speedLimitMilliKmh] } ?? []), (.rpm, t("Engine speed"), []),
            (.coolant, t("Coolant temperature"), settings.map { [$0.coolantLimitMilliC] } ?? []),
            (.voltage, t("Control module voltage"), voltages ?? []),
        ]
        let figures = charts.compactMap { signal, name, limits -> HTML? in
            let title = "\(name), \(ShownValue(0, unit: signal.row.unit, in: caller.units).unit)"
            return picture(signal, title, limits.map { shown(Double($0) / 1_000, signal) }).map {
                "<figure><figcaption>\(title)</figcaption>\($0)</figure>"
            }
        }
        return "<div class=\"charts\">\n\(figures.joined(separator: "\n"))\n</div>"
    }

    /// One signal over the trip; nil: it was not read.
    /// - Parameter limits: in the reader's units.
    func picture(_ signal: Signal, _ title: String, _ limits: [Double]) -> HTML? {
        let span = trip.trip.startMs..<max(trip.trip.endMs, trip.trip.startMs + 1)
        return LineChart(
            title: title, points: points(signal, span), limits: limits.map { LineChart.Limit($0, .warning) },
            span: span,
            gapMs: max(rules.gapMs, 3 * pieceMs(span)), clock: caller.clock.second
        ).svg
    }

    private func pieceMs(_ span: Range<Int64>) -> Int64 {
        max(1, (span.upperBound - span.lowerBound) / CarCharts.points)
    }

    private func shown(_ value: Double, _ signal: Signal) -> Double {
        ShownValue(value, unit: signal.row.unit, in: caller.units).value
    }

    /// The least and the greatest of each piece.
    private func points(_ signal: Signal, _ span: Range<Int64>) -> [LineChart.Point] {
        let (piece, signals) = (pieceMs(span), TripSignals(units: caller.units, settings: nil))
        var points: [LineChart.Point] = []
        for reading in readings {
            guard let stored = reading[signal] else { continue }
            let ms = span.lowerBound + (reading.ts - span.lowerBound) / piece * piece
            let value = signals.value(stored, signal)
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
