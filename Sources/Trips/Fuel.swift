internal import Fleet

/// How the fuel figure of a trip came about.
public enum FuelMethod: String, Sendable {
    /// Air flow from the car's own sensor.
    case maf
    /// Air flow that the logger worked out from manifold pressure, rpm and intake temperature.
    case mafCalculated = "maf_calculated"
}

/// Gasoline burnt with the measured air: fuel = air / 14.7 (stoichiometric), 745 g a litre.
/// Source: FACTS §3; the constants of the reference answers beside the recorded drives.
public enum Fuel {
    public static let stoichiometricAir = 14.7
    public static let gramsPerLitre = 745.0
    public static let litresPerUSGallon = 3.785411784
    public static let kilometresPerMile = 1.609344

    public static func usGallons(airMg: Int64) -> Double {
        Double(airMg) / 1_000 / stoichiometricAir / gramsPerLitre / litresPerUSGallon
    }
}

/// A price of fuel; an unknown price is nil where one is asked for.
public struct FuelPrice: Equatable, Sendable {
    public var perUSGallon: Double
    public var currency: String
    public init(perUSGallon: Double, currency: String) {
        (self.perUSGallon, self.currency) = (perUSGallon, currency)
    }
    /// The default of the specification.
    public static let standard = FuelPrice(perUSGallon: 2.39, currency: "USD")
}

/// A trip in the units that people and programs read. Figures are made from the trip's integers in one way only,
/// so that the offline command, the report and the page agree to the last digit.
public struct TripFigures: Equatable, Sendable {
    /// Decimal text, rounded half away from zero; nil is unknown.
    public typealias Figure = String?

    public let trip: Trip
    public let fuelMethod: FuelMethod?
    public let price: FuelPrice?
    private let gallons: Double?

    public init(_ trip: Trip, price: FuelPrice?) {
        self.trip = trip
        let air: Int64?
        switch (trip.totals.airMg, trip.totals.airCalculatedMg) {
        case (let measured?, _): (air, fuelMethod) = (measured, .maf)
        case (nil, let calculated?): (air, fuelMethod) = (calculated, .mafCalculated)
        case (nil, nil): (air, fuelMethod) = (nil, nil)
        }
        gallons = air.map(Fuel.usGallons)
        self.price = gallons == nil ? nil : price
    }

    public var durationS: String { Decimal.text(trip.endMs - trip.startMs, decimals: 3) }
    public var integratedS: String { Decimal.text(trip.totals.integratedMs, decimals: 3) }
    public var idleS: String { Decimal.text(trip.totals.idleMs, decimals: 3) }
    /// Distance in kilometres; nil when no speed was ever read.
    public var distanceKm: Figure { hasSpeed ? Decimal.text(trip.totals.distanceMm, decimals: 6) : nil }
    public var averageSpeedKmh: Figure {
        guard trip.totals.integratedMs > 0 else { return nil }
        return rounded(Double(trip.totals.distanceMm) * 3.6 / Double(trip.totals.integratedMs), 3)
    }
    public var maxSpeedKmh: Figure { trip.totals.maxSpeedMetresPerHour.map { Decimal.text(Int64($0), decimals: 3) } }
    public var averageRpm: Figure {
        guard trip.totals.rpmMs > 0 else { return nil }
        return rounded(Double(trip.totals.milliTurns) * 60 / Double(trip.totals.rpmMs), 1)
    }
    public var maxRpm: Figure { trip.totals.maxRpmMilli.map { Decimal.text(Int64($0), decimals: 3) } }
    public var fuelUSGal: Figure { gallons.flatMap { rounded($0, 6) } }
    public var averageMpg: Figure {
        guard let gallons, gallons > 0, trip.totals.distanceMm > 0 else { return nil }
        return rounded(Double(trip.totals.distanceMm) / 1e6 / Fuel.kilometresPerMile / gallons, 3)
    }
    public var fuelCost: Figure {
        guard let gallons, let price else { return nil }
        return rounded(gallons * price.perUSGallon, 4)
    }
    public var maxCoolantC: Figure { trip.totals.maxCoolantMilliC.map { Decimal.text(Int64($0), decimals: 3) } }
    public var minVoltageV: Figure { trip.totals.minVoltageMv.map { Decimal.text(Int64($0), decimals: 3) } }
    public var maxVoltageV: Figure { trip.totals.maxVoltageMv.map { Decimal.text(Int64($0), decimals: 3) } }

    private var hasSpeed: Bool { trip.totals.speedReadings > 0 }

    private func rounded(_ value: Double, _ decimals: Int) -> String? {
        Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }
    }
}
