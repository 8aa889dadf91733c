internal import Alerts
internal import Basics
internal import Presentation
internal import Reports
internal import Trips

/// The sums of trips, as an account reads them. Fuel, cost and consumption cover the trips whose fuel is known.
struct TripTotalsView {
    let trips: Int
    let vehicles: Int
    private let distanceMm, integratedMs, idleMs: Int64
    private let litres: Double?
    private let fuelDistanceMm: Int64
    /// Nil: a price is not known, or there are two currencies.
    private let cost: (sum: Double, currency: String)?
    private let units: DriverSettings.Units

    init(_ reads: [TripRead], _ units: DriverSettings.Units) {
        self.units = units
        trips = reads.count
        vehicles = Set(reads.map(\.vehicle)).count
        distanceMm = reads.reduce(0) { $0 + $1.trip.totals.distanceMm }
        integratedMs = reads.reduce(0) { $0 + $1.trip.totals.integratedMs }
        idleMs = reads.reduce(0) { $0 + $1.trip.totals.idleMs }
        let fuelled = reads.filter { $0.figures.litres != nil }
        litres = fuelled.isEmpty ? nil : fuelled.reduce(0) { $0 + $1.figures.litres! }
        fuelDistanceMm = fuelled.reduce(0) { $0 + $1.trip.totals.distanceMm }
        let costs = fuelled.map { read in
            read.figures.fuelCost.flatMap { Double($0) }.flatMap { cost in
                read.figures.price.map { (cost, $0.currency) }
            }
        }
        let currencies = Set(costs.map { $0?.1 })
        cost = currencies.count == 1 ? currencies.first!.map { (costs.reduce(0) { $0 + $1!.0 }, $0) } : nil
    }

    enum Key: CaseIterable { case trips, vehicles, distance, driving, idle, fuel, consumption, cost }

    /// A figure, as a number to compare and as people read it.
    struct Figure {
        let key: Key
        let name: String
        let value: Double?
        let text: String
        /// Behind its number; empty: it has none, or is not known.
        var unit = ""
    }

    var figures: [Figure] {
        let isUS = units == .us
        let distance = ShownValue(Double(distanceMm) / 1e6, unit: "km", in: units)
        let fuel = litres.map { isUS ? $0 / Fuel.litresPerUSGallon : $0 }
        let km = Double(fuelDistanceMm) / 1e6
        let consumption: Double? = litres.flatMap { litres in
            guard litres > 0, km > 0 else { return nil }
            return isUS
                ? km / Fuel.kilometresPerMile / (litres / Fuel.litresPerUSGallon) : litres / km * 100
        }
        let idle = integratedMs > 0 ? Double(idleMs) / Double(integratedMs) * 100 : nil
        return [
            Figure(key: .trips, name: t("Trips"), value: Double(trips), text: String(trips)),
            Figure(key: .vehicles, name: t("Vehicles on trips"), value: Double(vehicles), text: String(vehicles)),
            figure(.distance, t("Distance"), distance.value, 1, distance.unit),
            figure(.driving, t("Driving time"), Double(integratedMs) / 3_600_000, 1, "h"),
            figure(.idle, t("Idle share"), idle, 1, "%"),
            figure(.fuel, t("Fuel"), fuel, 1, isUS ? "US gal" : "L"),
            figure(
                .consumption, isUS ? t("Mileage") : t("Consumption"), consumption, 1, isUS ? "MPG" : "L/100 km"),
            figure(.cost, t("Fuel cost"), cost?.sum, 2, cost?.currency ?? ""),
        ]
    }

    private func figure(_ key: Key, _ name: String, _ value: Double?, _ decimals: Int, _ unit: String) -> Figure {
        Figure(
            key: key, name: name, value: value,
            text: value.map { "\(TripTotalsView.text($0, decimals)) \(unit)" }
                ?? (trips == 0 ? "–" : t("not known")), unit: value == nil ? "" : unit)
    }

    static func text(_ value: Double, _ decimals: Int) -> String {
        short(Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }, decimals) ?? "–"
    }

    var tiles: HTML {
        "<ul class=\"tiles\">\(figures.map { "<li>\($0.name)<b>\($0.text)</b></li>" }.joined())</ul>"
    }
}
