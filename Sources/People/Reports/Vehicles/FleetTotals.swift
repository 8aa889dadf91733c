internal import Alerts
internal import Basics
internal import Codecs
internal import Formats
internal import Presentation
internal import Trips

/// The sums of several trips. Fuel, its cost and MPG cover the trips whose fuel is known; `fuelTrips` says how many.
struct FleetTotals {
    let trips: Int
    let vehicles: Int
    let fuelTrips: Int
    private let sum: DriveTotals
    private let litres: Double
    private let fuelDistanceMm: Int64
    /// Nil as soon as one price is not known, or two are in different currencies.
    private let costs: (sum: Double, currency: String)?

    init(_ trips: [TripFigures], vehicles: Int) {
        self.trips = trips.count
        self.vehicles = vehicles
        sum = trips.reduce(DriveTotals()) { $0 + $1.trip.totals }
        let fuelled = trips.filter { $0.litres != nil }
        let currencies = Set(fuelled.map { $0.price?.currency })
        costs =
            currencies.count == 1
            ? currencies.first!.map {
                (fuelled.reduce(0) { $0 + $1.litres! * $1.price!.perUSGallon } / Fuel.litresPerUSGallon, $0)
            }
            : nil
        fuelTrips = fuelled.count
        litres = fuelled.reduce(0) { $0 + $1.litres! }
        fuelDistanceMm = fuelled.reduce(0) { $0 + $1.trip.totals.distanceMm }
    }

    private var gallons: Double? { fuelTrips == 0 ? nil : litres / Fuel.litresPerUSGallon }
    private var fuelUSGal: String? { gallons.flatMap { rounded($0, 6) } }
    private var cost: String? { costs.flatMap { rounded($0.sum, 4) } }
    /// Total distance over total fuel, never the mean of the trips' ratios.
    private var mpg: String? {
        guard let gallons, gallons > 0 else { return nil }
        return rounded(Double(fuelDistanceMm) / 1e6 / Fuel.kilometresPerMile / gallons, 3)
    }
    private var distanceKm: String { Decimal.text(sum.distanceMm, decimals: 6) }

    var json: JSONValue {
        .object([
            ("trips", .integer(Int64(trips))), ("vehicles", .integer(Int64(vehicles))),
            ("distance_km", .number(distanceKm)),
            ("integrated_s", .number(Decimal.text(sum.integratedMs, decimals: 3))),
            ("idle_s", .number(Decimal.text(sum.idleMs, decimals: 3))), ("holes", .integer(sum.holes)),
            ("sharp_accelerations", .integer(sum.sharpAccelerations)), ("sharp_brakings", .integer(sum.sharpBrakings)),
            ("fuel_trips", .integer(Int64(fuelTrips))), ("fuel_us_gal", .number(fuelUSGal)),
            ("average_mpg", .number(mpg)),
            ("fuel_cost", .number(cost)), ("currency", .optional(costs?.currency)),
        ])
    }

    func tiles(_ units: DriverSettings.Units) -> [(name: String, text: String)] {
        let isUS = units == .us
        func decimal(_ value: Double, _ decimals: Int) -> String { short(rounded(value, decimals), decimals) ?? "–" }
        let km = Double(sum.distanceMm) / 1e6
        let fuel =
            fuelTrips == 0
            ? "–" : isUS ? decimal(litres / Fuel.litresPerUSGallon, 2) + " US gal" : decimal(litres, 2) + " L"
        let fuelKm = Double(fuelDistanceMm) / 1e6
        let per100km = litres > 0 && fuelKm > 0 ? decimal(litres / fuelKm * 100, 1) : "–"
        return [
            (t("Trips"), String(trips)), (t("Vehicles"), String(vehicles)),
            (t("Distance"), isUS ? decimal(km / Fuel.kilometresPerMile, 1) + " mi" : decimal(km, 1) + " km"),
            (t("Driving time"), (short(Decimal.text(sum.integratedMs / 36, decimals: 5), 1) ?? "–") + " h"),
            (t("Fuel"), fuel), isUS ? ("MPG", short(mpg, 1) ?? "–") : ("L/100 km", per100km),
            (t("Fuel cost"), short(cost, 2).map { $0 + " " + (costs?.currency ?? "") } ?? "–"),
            (t("Harsh events"), String(sum.sharpAccelerations + sum.sharpBrakings)),
        ]
    }

    private func rounded(_ value: Double, _ decimals: Int) -> String? {
        Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }
    }
}
