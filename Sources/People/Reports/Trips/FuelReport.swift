internal import Alerts
internal import Basics
internal import Postgres
internal import Presentation
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
        let cars = Dictionary(grouping: trips, by: \.vehicle)
        let names = try names(cars.keys.sorted(), source)
        let open = trips.count(where: \.isOpen)
        let revised = trips.filter { $0.revisedMs != nil }.count
        return ReportRows(
            report, ask, columns: columns,
            rows: days.keys.sorted().map { key in
                [.text(key.day), .text(key.vehicle)] + Use(days[key]!).fields
            }, adds: ["trips"],
            others: Dictionary(uniqueKeysWithValues: zip(columns.dropFirst(2), all.fields)),
            drawn: isByDay ? [ReportFigure(by: "day", of: "fuel_l"), ReportFigure(by: "day", of: "distance_km")] : [],
            said: (open == 0 ? [] : ["\(open) of the trips may still go on: their figures are those so far."])
                + (revised == 0 ? [] : ["\(revised) of the trips were corrected by data that came late."]),
            named: names,
            // Of one car the sums say it all, and of a day the rows.
            leading: trips.isEmpty
                ? []
                : [.figures(all.figures(ask.units, cars: cars.count))]
                    + (cars.count > 1 && days.count > cars.count
                        ? [.table(try byCar(cars, names, ask.units))] : []))
    }

    /// What cars are called, where they have a name of their own.
    private static func names(_ vehicles: [String], _ source: Report.Source) throws -> [String: String] {
        let rows = try source.connection.query(source.queries["car_names"], [.textArray(vehicles)])
        let names = try rows.map { (vehicle: try $0.text("vehicle")!, name: try $0.text("name")!) }
        return Dictionary(grouping: names, by: \.name).values.filter { $0.count == 1 }.reduce(into: [:]) {
            $0[$1[0].vehicle] = $1[0].name
        }
    }

    /// A row for each car, the thirstiest first: it is what people look for.
    private static func byCar(
        _ cars: [String: [TripRead]], _ names: [String: String], _ units: DriverSettings.Units
    ) throws -> ReportTable {
        let isUS = units == .us
        let uses = cars.map { (vehicle: $0, use: Use($1)) }.sorted { a, b in
            let (x, y) = (a.use.litres ?? -1, b.use.litres ?? -1)
            return x == y ? a.vehicle < b.vehicle : x > y
        }
        return ReportTable(
            caption: "By car",
            headers: [
                .text("Car"), .number("Trips"), .number(isUS ? "Distance, mi" : "Distance, km"),
                .number("Driving, h"), .number("Idle, %"), .number(isUS ? "Fuel, US gal" : "Fuel, L"),
                .number(isUS ? "MPG" : "L/100 km"), .number("Cost"),
            ],
            rows: uses.map { one in
                [names[one.vehicle] ?? one.vehicle] + one.use.cells(units)
            }, empty: "")
    }

    private struct Key: Hashable, Comparable {
        let day, vehicle: String
        static func < (a: Key, b: Key) -> Bool { (a.day, a.vehicle) < (b.day, b.vehicle) }
    }

    private struct Use {
        let fields: [FieldValue]
        private let trips: Int
        private let km, hours: Double
        private let idle: Double?
        /// Nil: of no trip the fuel is known.
        let litres: Double?
        /// Of the trips whose fuel is known.
        private let fuelKm: Double
        private let cost: (sum: Double, currency: String)?

        /// Trips, distance, hours, idling, fuel, consumption, cost, as people read them.
        func cells(_ units: DriverSettings.Units) -> [String?] {
            let isUS = units == .us
            func shown(_ value: Double?, _ decimals: Int) -> String? {
                value.flatMap { Decimal.scaled($0, decimals: decimals) }.flatMap {
                    short(Decimal.text($0, decimals: decimals), decimals)
                }
            }
            let consumption = litres.flatMap { litres -> Double? in
                guard litres > 0, fuelKm > 0 else { return nil }
                return isUS
                    ? fuelKm / Fuel.kilometresPerMile / (litres / Fuel.litresPerUSGallon) : litres / fuelKm * 100
            }
            return [
                String(trips), shown(isUS ? km / Fuel.kilometresPerMile : km, 1), shown(hours, 1), shown(idle, 1),
                shown(litres.map { isUS ? $0 / Fuel.litresPerUSGallon : $0 }, 1), shown(consumption, 1),
                cost.flatMap { cost in shown(cost.sum, 2).map { "\($0) \(cost.currency)" } },
            ]
        }

        func figures(_ units: DriverSettings.Units, cars: Int) -> [(name: String, text: String)] {
            let isUS = units == .us
            let cells = cells(units)
            func with(_ cell: String?, _ unit: String) -> String { cell.map { "\($0) \(unit)" } ?? "–" }
            return [
                ("Cars", String(cars)), ("Trips", cells[0] ?? "–"), ("Distance", with(cells[1], isUS ? "mi" : "km")),
                ("Fuel", with(cells[4], isUS ? "US gal" : "L")),
                (isUS ? "Mileage" : "Consumption", with(cells[5], isUS ? "MPG" : "L/100 km")),
                ("Cost", cells[6] ?? "–"),
            ]
        }

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
            self.trips = trips.count
            km = Double(totals.distanceMm) / 1e6
            hours = Double(totals.integratedMs) / 3_600_000
            idle = totals.integratedMs > 0 ? Double(totals.idleMs) / Double(totals.integratedMs) * 100 : nil
            self.litres = fuelled.isEmpty ? nil : litres
            self.fuelKm = fuelKm
            self.cost = currency.map { (cost, $0) }
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
