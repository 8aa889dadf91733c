internal import Fleet
internal import Trips
internal import Wire

/// What several trips add up to. Fuel, its cost and MPG cover the trips whose fuel is known; `fuelTrips` says how many.
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
        (self.trips, self.vehicles) = (trips.count, vehicles)
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

    var tiles: [(name: String, text: String)] {
        [
            ("Trips", String(trips)), ("Vehicles", String(vehicles)),
            ("Distance", (short(distanceKm, 1) ?? "–") + " km"),
            ("Driving time", (short(Decimal.text(sum.integratedMs / 36, decimals: 5), 1) ?? "–") + " h"),
            ("Fuel", short(fuelUSGal, 2).map { $0 + " US gal" } ?? "–"), ("MPG", short(mpg, 1) ?? "–"),
            ("Fuel cost", short(cost, 2).map { $0 + " " + (costs?.currency ?? "") } ?? "–"),
            ("Sharp events", String(sum.sharpAccelerations + sum.sharpBrakings)),
        ]
    }

    private func rounded(_ value: Double, _ decimals: Int) -> String? {
        Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }
    }
}
