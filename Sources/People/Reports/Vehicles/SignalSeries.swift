package import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
package import Postgres
internal import Presentation
internal import Storage

/// What a vehicle said over a span of time, for charts: of each signal at most `pointsMax` pieces with mean, least and greatest value, its
/// limits, and the alerts about it. Values are in the stored unit.
package struct SignalSeries: Sendable {
    package static let pointsMax: Int64 = 600
    private static let alertsMax: Int64 = 100
    /// A line is broken where a machine says nothing for longer, whatever its pace.
    private static let machineGapS: Int64 = 3 * 3_600

    package struct Point: Sendable {
        /// The number of the piece in the span.
        let piece: Int64
        let mean: Double
        /// Nil: only minutes' greatest values are kept for so long a span.
        let least: Double?
        let most: Double
    }

    package struct Limit: Sendable {
        package let value: Double
        package let kind: LineChart.Limit.Kind
        package let isLeast: Bool

        /// Worse than what it allows; what is recommended is no limit.
        package func isBroken(by other: Double) -> Bool {
            kind != .recommended && (isLeast ? other < value : other > value)
        }
    }

    package struct Mark: Sendable {
        let id, parameter: String
        let severity: Episode.Severity
        let sinceMs, openedMs: Int64
        let resolvedMs: Int64?
    }

    package struct Place: Sendable {
        let piece: Int64
        package let latitudeDeg, longitudeDeg: Double
    }

    package struct Signal: Sendable {
        package let key, name, unit: String
        let points: [Point]
        package let limits: [Limit]
        var alerts: [Mark] = []

        /// `Coolant temperature, °C`
        package func title(_ units: DriverSettings.Units) -> String {
            let unit = ShownValue(0, unit: unit, in: units).unit
            return unit.isEmpty ? name : "\(name), \(unit)"
        }
    }

    let kind: VehicleKind
    let vehicle: String
    /// From the beginning of the first piece.
    package let span: Range<Int64>
    let pieceS: Int64
    /// Without values for longer the line is broken.
    package let gapS: Int64
    package let signals: [Signal]
    /// Where it was, as far as it told; of cars not for long spans.
    package let places: [Place]

    /// What charts of the server draw, in a reader's units.
    package func chart(_ signal: Signal, _ units: DriverSettings.Units, clock: @escaping (Int64) -> String) -> LineChart
    {
        func shown(_ value: Double) -> Double { ShownValue(value, unit: signal.unit, in: units).value }
        return LineChart(
            title: signal.title(units),
            points: signal.points.map {
                LineChart.Point(
                    ms: span.lowerBound + $0.piece * pieceS * 1_000, least: shown($0.least ?? $0.mean),
                    most: shown($0.most),
                    mean: shown($0.mean))
            },
            limits: signal.limits.map { LineChart.Limit(shown($0.value), $0.kind) }, span: span, gapMs: gapS * 1_000,
            clock: clock)
    }

    fileprivate static func marks(
        _ kind: VehicleKind, _ vehicle: String, _ role: Audience, _ span: Range<Int64>, _ queries: ReportQueries,
        _ connection: Connection
    ) throws -> [Mark] {
        try connection.query(
            queries["series_alerts"],
            [
                .text(kind.rawValue), .text(vehicle), .textArray(role.seen.map(\.rawValue)),
                .timestampMs(span.lowerBound), .timestampMs(span.upperBound), .int8(alertsMax),
            ]
        ).map { row in
            Mark(
                id: try row.text("alert_id")!, parameter: try row.text("parameter")!,
                severity: try row.word("severity")!, sinceMs: try row.timestampMs("since_at")!,
                openedMs: try row.timestampMs("opened_at")!, resolvedMs: try row.timestampMs("resolved_at"))
        }
    }

    /// Three times the usual pause between values, so that one that is missing breaks no line.
    private static func gapS(_ signals: [Signal], pieceS: Int64, most: Int64) -> Int64 {
        let steps = signals.flatMap { signal in
            zip(signal.points, signal.points.dropFirst()).map { $1.piece - $0.piece }
        }
        .sorted()
        let usual = steps.isEmpty ? 1 : steps[steps.count / 2]
        return max(3 * pieceS, min(most, 3 * usual * pieceS))
    }
}

// MARK: Machines

extension SignalSeries {
    /// - Parameters:
    ///   - keys: of the signals that are wanted; empty: all.
    ///   - pieces: at most.
    package init(
        _ machine: MachineDetail, _ span: Range<Int64>, keys: Set<String> = [], pieces: Int64 = pointsMax,
        _ queries: ReportQueries, on connection: Connection
    ) throws {
        let aligned = SpanPieces(span, max: pieces)
        let (pieceS, span) = (aligned.lengthS, aligned.span)
        let marks = try SignalSeries.marks(.machine, machine.vehicle, machine.role, span, queries, connection)
        let rows = try machine.pieces(span, pieceS: pieceS, queries, connection)
        let found = try machine.series(rows)
        let places = try machine.places(rows).map {
            Place(
                piece: ($0.ms - span.lowerBound) / 1_000 / pieceS, latitudeDeg: $0.latitudeDeg,
                longitudeDeg: $0.longitudeDeg)
        }
        let signals = found.filter { keys.isEmpty || keys.contains($0.key) }.map { series in
            Signal(
                key: series.key, name: series.name, unit: series.unit,
                points: series.points.map {
                    Point(
                        piece: ($0.ms - span.lowerBound) / 1_000 / pieceS, mean: $0.mean, least: $0.least, most: $0.most
                    )
                },
                limits: series.limits.map { Limit(value: $0.value, kind: $0.kind, isLeast: series.isLeast) },
                alerts: marks.filter { $0.parameter == series.name })
        }
        self.init(
            kind: .machine, vehicle: machine.vehicle, span: span, pieceS: pieceS,
            gapS: SignalSeries.gapS(signals, pieceS: pieceS, most: max(SignalSeries.machineGapS, 3 * pieceS)),
            signals: signals,
            places: places)
    }
}

// MARK: Cars

extension SignalSeries {
    /// Second by second of so much; of more by what the minutes keep of themselves.
    private static let samplesMs: Int64 = 26 * 3_600_000

    private typealias Charted = (signal: Fleet.Signal, name: String, columns: String)
    private static var charted: [Charted] {
        [
            (.speed, t("Speed"), "speed_kmh"), (.rpm, t("Engine speed"), "rpm"),
            (.coolant, t("Coolant temperature"), "coolant_c"), (.voltage, t("Voltage"), "voltage_v"),
            (.engineLoad, t("Engine load"), ""), (.fuelLevel, t("Fuel level"), ""),
        ]
    }

    /// What alerts of cars are about.
    private static let judged: [String: [MachineParameter]] = [
        Fleet.Signal.speed.row.key: [.carSpeed], Fleet.Signal.coolant.row.key: [.carCoolant],
        Fleet.Signal.voltage.row.key: [.voltageLow, .voltageHigh],
    ]

    /// - Parameters:
    ///   - keys: of the signals that are wanted; empty: all.
    ///   - gapMs: without readings for longer a car's line is broken.
    ///   - pieces: at most.
    package init(
        car vehicle: String, _ span: Range<Int64>, keys: Set<String> = [], pieces: Int64 = pointsMax, role: Audience,
        gapMs: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws {
        let isFine = span.upperBound - span.lowerBound <= SignalSeries.samplesMs
        let aligned = SpanPieces(span, max: pieces)
        let (pieceS, span) = (aligned.lengthS, aligned.span)
        let wanted = SignalSeries.charted.filter { keys.isEmpty || keys.contains($0.signal.row.key) }
        let (points, places) =
            isFine
            ? try SignalSeries.samples(vehicle, span, pieceS, wanted.map(\.signal), queries, connection)
            : (try SignalSeries.minutes(vehicle, span, pieceS, wanted, queries, connection), [])
        let marks = try SignalSeries.marks(.car, vehicle, role, span, queries, connection)
        let settings = try connection.query(queries["vehicle_trips"], [.text(vehicle), .int8(1)]).first.flatMap {
            try TripRead($0, price: nil).settings
        }
        let signals = wanted.map { signal, name, _ in
            let names = SignalSeries.judged[signal.row.key, default: []].map(\.row.name)
            return Signal(
                key: signal.row.key, name: name, unit: signal.row.unit, points: points[signal] ?? [],
                limits: settings.map { SignalSeries.limits(signal, $0) } ?? [],
                alerts: marks.filter { names.contains($0.parameter) })
        }.filter { !$0.points.isEmpty || !keys.isEmpty }
        self.init(
            kind: .car, vehicle: vehicle, span: span, pieceS: pieceS,
            gapS: max(gapMs / 1_000, 3 * pieceS, isFine ? 0 : 180),
            signals: signals, places: places)
    }

    static func limits(_ signal: Fleet.Signal, _ settings: DriverSettings) -> [Limit] {
        func limit(_ value: Int64, isLeast: Bool = false) -> Limit {
            Limit(value: Double(value) / 1_000, kind: .warning, isLeast: isLeast)
        }
        switch signal {
        case .speed: return [limit(settings.speedLimitMilliKmh)]
        case .coolant: return [limit(settings.coolantLimitMilliC)]
        case .voltage:
            return [limit(settings.number(.voltageLowV), isLeast: true), limit(settings.number(.voltageHighV))]
        case .rpm, .maf, .mafCalculated, .fuelRate, .manifoldPressure, .intakeAir, .engineLoad, .throttle, .fuelLevel,
            .ambientAir, .latitude, .longitude, .fuelSystemStatus, .lambda, .shortFuelTrim, .longFuelTrim,
            .engineRunTime, .distanceSinceClear:
            return []
        }
    }

    /// A piece while it is summed up.
    private struct Sum {
        let piece: Int64
        var sum: Double
        var count = 1.0
        var least, most: Double

        init(_ piece: Int64, _ value: Double) { (self.piece, sum, least, most) = (piece, value, value, value) }

        mutating func add(_ value: Double) {
            sum += value
            count += 1
            (least, most) = (min(least, value), max(most, value))
        }
    }

    private static func samples(
        _ vehicle: String, _ span: Range<Int64>, _ pieceS: Int64, _ wanted: [Fleet.Signal], _ queries: ReportQueries,
        _ connection: Connection
    ) throws -> ([Fleet.Signal: [Point]], [Place]) {
        let rows = try connection.query(
            queries["car_samples"],
            [
                .text(vehicle), .timestampMs(span.lowerBound), .timestampMs(span.upperBound),
                .int8((span.upperBound - span.lowerBound) / UTC.msPerMinute + 2),
            ])
        var (sums, places): ([Fleet.Signal: [Sum]], [Place]) = ([:], [])
        // The newest minute comes first.
        for row in rows.reversed() {
            for reading in try PackedSamples.decode(row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!)
            where span.contains(reading.ts) {
                let piece = (reading.ts - span.lowerBound) / 1_000 / pieceS
                if let position = Position(reading), places.last?.piece != piece {
                    places.append(
                        Place(
                            piece: piece, latitudeDeg: Double(position.latitude) / 1e7,
                            longitudeDeg: Double(position.longitude) / 1e7))
                }
                for signal in wanted {
                    guard let stored = reading[signal] else { continue }
                    let value = Double(stored) / Double(signal.row.scale)
                    if let last = sums[signal]?.last, last.piece == piece {
                        sums[signal]![sums[signal]!.count - 1].add(value)
                    } else {
                        sums[signal, default: []].append(Sum(piece, value))
                    }
                }
            }
        }
        let points = sums.mapValues {
            $0.map { Point(piece: $0.piece, mean: $0.sum / $0.count, least: $0.least, most: $0.most) }
        }
        return (points, places)
    }

    private static func minutes(
        _ vehicle: String, _ span: Range<Int64>, _ pieceS: Int64, _ wanted: [Charted], _ queries: ReportQueries,
        _ connection: Connection
    ) throws -> [Fleet.Signal: [Point]] {
        let rows = try connection.query(
            queries["car_history"],
            [.text(vehicle), .timestampMs(span.lowerBound), .timestampMs(span.upperBound), .int8(pieceS)])
        var points: [Fleet.Signal: [Point]] = [:]
        for row in rows {
            let piece = (try row.timestampMs("piece_at")! - span.lowerBound) / 1_000 / pieceS
            for (signal, _, column) in wanted where !column.isEmpty {
                guard let mean = try row.double(column + "_mean"), let most = try row.double(column + "_most") else {
                    continue
                }
                let hasLeast = signal == .coolant || signal == .voltage
                let least = hasLeast ? try row.double(column + "_least") : nil
                points[signal, default: []].append(Point(piece: piece, mean: mean, least: least, most: most))
            }
        }
        return points
    }
}

// MARK: For scripts

extension SignalSeries {
    /// - Parameter units: of the values that are told.
    package func json(_ units: DriverSettings.Units) -> String {
        JSONValue.object([
            ("vehicle", .text(vehicle)), ("kind", .text(kind.rawValue)), ("from", .integer(span.lowerBound / 1_000)),
            ("until", .integer(span.upperBound / 1_000)), ("piece_s", .integer(pieceS)), ("gap_s", .integer(gapS)),
            ("signals", .list(signals.map { SignalSeries.json($0, units) })),
            ("places", SignalSeries.json(places)),
        ]).rendered()
    }

    private static func json(_ places: [Place]) -> JSONValue {
        func degrees(_ value: Double) -> JSONValue {
            .number(Decimal.scaled(value, decimals: 6).map { Decimal.text($0, decimals: 6) })
        }
        return .object([
            ("at", .list(places.map { .integer($0.piece) })),
            ("latitude_deg", .list(places.map { degrees($0.latitudeDeg) })),
            ("longitude_deg", .list(places.map { degrees($0.longitudeDeg) })),
        ])
    }

    private static func json(_ signal: Signal, _ units: DriverSettings.Units) -> JSONValue {
        func shown(_ value: Double) -> JSONValue {
            let converted = ShownValue(value, unit: signal.unit, in: units).value
            // As exact as what is stored: charts round to what they show, and once only, as pages do.
            return .number(Decimal.scaled(converted, decimals: 3).map { Decimal.text($0, decimals: 3) })
        }
        // Single readings have no range to be told.
        let isPlain = signal.points.allSatisfy { $0.least == $0.most }
        return .object([
            ("key", .text(signal.key)), ("name", .text(signal.name)),
            ("unit", .text(ShownValue(0, unit: signal.unit, in: units).unit)),
            ("at", .list(signal.points.map { .integer($0.piece) })),
            ("mean", .list(signal.points.map { shown($0.mean) })),
            ("least", isPlain ? .null : .list(signal.points.map { $0.least.map(shown) ?? .null })),
            ("most", isPlain ? .null : .list(signal.points.map { shown($0.most) })),
            (
                "limits",
                .list(
                    signal.limits.map { limit in
                        .object([
                            ("value", shown(limit.value)), ("kind", .text(limit.kind.rawValue)),
                            ("test", .text(limit.isLeast ? "below" : "above")),
                        ])
                    })
            ),
            ("alerts", .list(signal.alerts.map(json))),
        ])
    }

    private static func json(_ mark: Mark) -> JSONValue {
        .object([
            ("id", .text(mark.id)), ("severity", .text(mark.severity.rawValue)),
            ("since", .integer(mark.sinceMs / 1_000)),
            ("opened", .integer(mark.openedMs / 1_000)),
            ("resolved", mark.resolvedMs.map { .integer($0 / 1_000) } ?? .null),
        ])
    }
}
