package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres
internal import Presentation
package import Trips

/// The drives of one route before and after something was done to the car: what changed, and whether chance explains it.
package struct RouteComparison: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// How drives are matched to one route.
    package enum Matching: Sendable {
        /// They go the way of the trip that this time lies in.
        case routeOf(ms: Int64)
        /// They bear this tag.
        case tag(String)
    }

    private let vehicle: String
    private let changedMs: Int64
    private let before: [TripRead]
    private let after: [TripRead]

    /// - Parameter span: drives that begin in it.
    package static func read(
        _ vehicle: VehicleID, by: Matching, changedMs: Int64, span: Range<Int64>, price: FuelPrice?,
        queries: ReportQueries,
        on connection: Connection
    ) throws -> RouteComparison {
        try connection.snapshot {
            var tag = ""
            if case .tag(let wanted) = by { tag = wanted }
            var trips = try connection.query(
                queries["compare_trips"],
                [.text(vehicle.text), .timestampMs(span.lowerBound), .timestampMs(span.upperBound), .text(tag)]
            ).map { try TripRead($0, price: price) }
            if case .routeOf(let ms) = by {
                func route(_ startMs: Int64) throws -> RouteSignature? {
                    RouteSignature(try TripExport.readings(vehicle, startMs: startMs, queries, on: connection))
                }
                guard let model = trips.first(where: { $0.trip.startMs <= ms && ms <= $0.trip.endMs }) else {
                    throw Fault(
                        description: "\(vehicle) has no ended trip at \(UTC.text(ms)) in the span that is compared")
                }
                guard let wanted = try route(model.trip.startMs) else {
                    throw Fault(
                        description: "the trip at \(UTC.text(ms)) has no positions, or hardly moves: tag the drives of "
                            + "the route (`drover trip tag`) and compare by --tag")
                }
                trips = try trips.filter { try route($0.trip.startMs)?.isSameRoute(as: wanted) ?? false }
            }
            return RouteComparison(
                vehicle: vehicle.text, changedMs: changedMs, before: trips.filter { $0.trip.startMs < changedMs },
                after: trips.filter { $0.trip.startMs >= changedMs })
        }
    }

    private static let figures: [(key: String, value: @Sendable (TripFigures) -> String?)] = [
        ("average_mpg", \.averageMpg), ("consumption_l_per_100km", { consumption($0) }), ("fuel_l", \.fuelL),
        ("distance_km", \.distanceKm), ("duration_s", \.durationS),
        ("average_speed_kmh", \.averageSpeedKmh), ("idle_s", \.idleS),
        ("acceleration_severity_m2ps3", \.accelerationSeverity),
        ("braking_severity_m2ps3", \.brakingSeverity),
    ]

    private static func consumption(_ figures: TripFigures) -> String? {
        guard let litres = figures.litres, let km = figures.distanceKm.flatMap({ Double($0) }), km > 0 else {
            return nil
        }
        return Decimal.scaled(litres / km * 100, decimals: 6).map { Decimal.text($0, decimals: 6) }
    }

    private struct Line {
        let key: String
        let before: Comparison.Sample?
        let after: Comparison.Sample?
        var comparison: Comparison? { before.flatMap { before in after.map { Comparison(before: before, after: $0) } } }
    }

    private var lines: [Line] {
        RouteComparison.figures.map { figure in
            func sample(_ trips: [TripRead]) -> Comparison.Sample? {
                Comparison.Sample(trips.compactMap { figure.value($0.figures).flatMap(Double.init) })
            }
            return Line(key: figure.key, before: sample(before), after: sample(after))
        }
    }

    private func text(_ value: Double?) -> String? {
        value.flatMap { Decimal.scaled($0, decimals: 3) }.map { Decimal.text($0, decimals: 3) }
    }

    private static let columns = [
        "figure", "before_n", "before_mean", "before_sd", "after_n", "after_mean", "after_sd", "difference",
        "margin_95",
        "clear",
    ]

    private func cells(_ line: Line) -> [String?] {
        let comparison = line.comparison
        return [
            line.key, String(line.before?.count ?? 0), text(line.before?.mean), text(line.before?.standardDeviation),
            String(line.after?.count ?? 0), text(line.after?.mean), text(line.after?.standardDeviation),
            text(comparison?.difference), text(comparison?.margin), comparison?.isClear.map { $0 ? "yes" : "no" },
        ]
    }

    private var table: Table {
        var table = Table(RouteComparison.columns)
        table.rows = lines.map(cells)
        return table
    }

    package func csv() -> String { table.csv() }

    /// For a terminal.
    package func text() -> String {
        "\(vehicle): \(before.count) drives before \(UTC.text(changedMs)), \(after.count) from then on\n\(table.text())\n"
            + "A difference is clear when it is larger than its margin: chance alone makes so much in 5 of 100 comparisons."
    }

    package func json() -> String {
        func starts(_ trips: [TripRead]) -> JSONValue { .list(trips.map { .text(UTC.text($0.trip.startMs)) }) }
        let figures = lines.map { line in
            let cells = cells(line)
            return JSONValue.object(
                zip(RouteComparison.columns, cells).map { key, cell in
                    switch key {
                    case "figure": (key, .optional(cell))
                    case "clear": (key, cell.map { .bool($0 == "yes") } ?? .null)
                    default: (key, .number(cell))
                    }
                })
        }
        return JSONValue.object([
            ("report", .text("compare")), ("vehicle", .text(vehicle)), ("change", .text(UTC.text(changedMs))),
            ("before", starts(before)), ("after", starts(after)), ("figures", .list(figures)),
        ]).rendered(indent: true)
    }
}

extension RouteComparison {
    /// A figure as people of an account read it: in their units, which are straight multiples of the stored ones.
    package struct Shown: Sendable {
        package let name, unit: String
        package let before, after: Comparison.Sample?
        package let difference, margin: Double?
        package let isClear: Bool?
        let scale: Double

        package func text(_ value: Double?) -> String? {
            value.flatMap { Decimal.scaled($0 * scale, decimals: 2) }.flatMap {
                short(Decimal.text($0, decimals: 2), 2)
            }
        }
    }

    package var counts: (before: Int, after: Int) { (before.count, after.count) }
    /// When the drives began.
    package var startsMs: (before: [Int64], after: [Int64]) {
        (before.map(\.trip.startMs), after.map(\.trip.startMs))
    }

    package func shown(_ units: DriverSettings.Units) -> [Shown] {
        let isUS = units == .us
        let names: [String: (name: String, unit: String, scale: Double)] = [
            isUS ? "average_mpg" : "consumption_l_per_100km": isUS
                ? (t("Mileage"), "MPG", 1) : (t("Consumption"), "L/100 km", 1),
            "fuel_l": isUS ? (t("Fuel"), "US gal", 1 / Fuel.litresPerUSGallon) : (t("Fuel"), "L", 1),
            "distance_km": isUS ? (t("Distance"), "mi", 1 / Fuel.kilometresPerMile) : (t("Distance"), "km", 1),
            "duration_s": (t("Time"), "min", 1.0 / 60),
            "average_speed_kmh": isUS
                ? (t("Average speed"), "mph", 1 / Fuel.kilometresPerMile) : (t("Average speed"), "km/h", 1),
            "idle_s": (t("Idle"), "min", 1.0 / 60),
        ]
        return lines.compactMap { line in
            guard let (name, unit, scale) = names[line.key] else { return nil }
            return Shown(
                name: name, unit: unit, before: line.before, after: line.after, difference: line.comparison?.difference,
                margin: line.comparison?.margin, isClear: line.comparison?.isClear, scale: scale)
        }
    }
}
