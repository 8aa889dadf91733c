internal import Postgres
internal import Trips

/// Fuel of each car by day, or over all days when days would make too many rows. Fuel and cost cover the trips whose fuel is known;
/// `fuel_trips` says how many.
enum FuelReport {
    private static let columns = [
        "day", "vehicle", "trips", "fuel_trips", "distance_km", "driving_h", "idle_pct", "fuel_l",
        "consumption_l_per_100km", "cost", "currency",
    ]

    /// A month of some thousand cars.
    private static let tripsMax: Int64 = 200_000

    static func read(_ report: Report, _ ask: ReportParameters, _ source: Report.Source) throws -> ReportRows {
        let trips = try FleetDay.trips(ask, source, most: tripsMax).filter { !$0.isDiscarded }
        var days = Dictionary(grouping: trips) { read in
            Key(day: String(ask.span.minute(read.trip.startMs).prefix(10)), vehicle: read.vehicle)
        }
        let isByDay = days.count <= Report.rowsMax
        if !isByDay { days = Dictionary(grouping: trips) { Key(day: ask.span.date, vehicle: $0.vehicle) } }
        try Report.check(days.count)
        let all = Use(trips)
        let revised = trips.filter { $0.revisedMs != nil }.count
        return ReportRows(
            report, ask, columns: columns,
            rows: days.keys.sorted().map { key in
                [.text(key.day), .text(key.vehicle)] + Use(days[key]!).fields
            }, adds: ["trips"],
            others: Dictionary(uniqueKeysWithValues: zip(columns.dropFirst(2), all.fields)),
            drawn: isByDay ? [ReportFigure(by: "day", of: "fuel_l"), ReportFigure(by: "day", of: "distance_km")] : [],
            said: revised == 0 ? [] : ["\(revised) of the trips were corrected by data that came late."])
    }

    private struct Key: Hashable, Comparable {
        let day, vehicle: String
        static func < (a: Key, b: Key) -> Bool { (a.day, a.vehicle) < (b.day, b.vehicle) }
    }

    private struct Use {
        let fields: [FieldValue]

        init(_ trips: [TripRead]) {
            let totals = trips.reduce(DriveTotals()) { $0 + $1.trip.totals }
            let fuelled = trips.filter { $0.figures.litres != nil }
            let litres = fuelled.reduce(0) { $0 + $1.figures.litres! }
            let fuelKm = Double(fuelled.reduce(0) { $0 + $1.trip.totals.distanceMm }) / 1e6
            let prices = fuelled.map(\.figures.price)
            let currencies = Set(prices.map { $0?.currency })
            // Two currencies are not added up, and one unknown price makes the sum unknown.
            let currency = currencies.count == 1 ? currencies.first! : nil
            let cost = fuelled.reduce(0) {
                $0 + $1.figures.litres! / Fuel.litresPerUSGallon * ($1.figures.price?.perUSGallon ?? 0)
            }
            fields = [
                .integer(trips.count), .integer(fuelled.count), .number(Double(totals.distanceMm) / 1e6),
                .number(Double(totals.integratedMs) / 3_600_000),
                totals.integratedMs > 0
                    ? .number(Double(totals.idleMs) / Double(totals.integratedMs) * 100) : .null,
                fuelled.isEmpty ? .null : .number(litres),
                litres > 0 && fuelKm > 0 ? .number(litres / fuelKm * 100) : .null,
                currency == nil ? .null : .number(cost), currency.map { .text($0) } ?? .null,
            ]
        }
    }
}
