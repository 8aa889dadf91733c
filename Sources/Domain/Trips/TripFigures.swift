internal import Basics
public import Fleet

/// A trip in the units that people and programs read. Figures are made from the trip's integers in one way only,
/// so that the offline command, the report and the page agree to the last digit.
public struct TripFigures: Equatable, Sendable {
    /// Decimal text, rounded half away from zero; nil is unknown.
    public typealias Figure = String?

    public let trip: Trip
    public let fuel: FuelUse
    /// In force at the trip's end; nil where the price or the fuel is not known.
    public let price: FuelPrice?

    /// `car` as registered at the trip's time; nil: nothing is known of it, and it is taken for one that burns gasoline.
    public init(_ trip: Trip, car: Action.Car? = nil, price: FuelPrice?) {
        self.trip = trip
        fuel = FuelUse(trip.totals, car: car)
        if case .litres = fuel { self.price = price } else { self.price = nil }
    }

    private var totals: DriveTotals { trip.totals }

    public var durationS: String { Decimal.text(trip.endMs - trip.startMs, decimals: 3) }
    public var integratedS: String { Decimal.text(totals.integratedMs, decimals: 3) }
    public var idleS: String { Decimal.text(totals.idleMs, decimals: 3) }
    /// Distance in kilometres; nil when no speed was ever read.
    public var distanceKm: Figure { hasSpeed ? Decimal.text(totals.distanceMm, decimals: 6) : nil }
    public var averageSpeedKmh: Figure {
        guard totals.integratedMs > 0 else { return nil }
        return rounded(Double(totals.distanceMm) * 3.6 / Double(totals.integratedMs), 3)
    }
    public var maxSpeedKmh: Figure { milli(totals.maxSpeedMetresPerHour) }
    public var averageRpm: Figure {
        guard totals.rpmMs > 0 else { return nil }
        return rounded(Double(totals.milliTurns) * 60 / Double(totals.rpmMs), 1)
    }
    public var maxRpm: Figure { milli(totals.maxRpmMilli) }
    public var maxCoolantC: Figure { milli(totals.maxCoolantMilliC) }
    public var minVoltageV: Figure { milli(totals.minVoltageMv) }
    public var maxVoltageV: Figure { milli(totals.maxVoltageMv) }

    // MARK: Sharp events

    /// Greatest change of speed over one second, m/s², sharp or not.
    public var maxAccelerationMPerS2: Figure { milli(totals.maxAccelerationMmPerS2) }
    public var maxBrakingMPerS2: Figure { milli(totals.maxBrakingMmPerS2) }
    /// m²/s³: the integral of the squared smoothed acceleration.
    public var accelerationSeverity: Figure { totals.accelerationMm2PerS3.flatMap { rounded(Double($0) / 1e6, 3) } }
    public var brakingSeverity: Figure { totals.brakingMm2PerS3.flatMap { rounded(Double($0) / 1e6, 3) } }

    // MARK: Fuel

    public var fuelMethod: FuelMethod? { if case .litres(_, let method) = fuel { method } else { nil } }
    /// Why there is no fuel figure.
    public var fuelUnknown: FuelUnknown? { if case .unknown(let why) = fuel { why } else { nil } }
    /// Litres, unrounded: for sums.
    public var litres: Double? { if case .litres(let litres, _) = fuel { litres } else { nil } }
    private var gallons: Double? { litres.map { $0 / Fuel.litresPerUSGallon } }
    public var fuelL: Figure { litres.flatMap { rounded($0, 6) } }
    public var fuelUSGal: Figure { gallons.flatMap { rounded($0, 6) } }
    public var averageMpg: Figure {
        guard let gallons, gallons > 0, totals.distanceMm > 0 else { return nil }
        return rounded(Double(totals.distanceMm) / 1e6 / Fuel.kilometresPerMile / gallons, 3)
    }
    public var fuelCost: Figure {
        guard let gallons, let price else { return nil }
        return rounded(gallons * price.perUSGallon, 4)
    }
    public var fuelCutS: Figure { totals.fuelCutMs.map { Decimal.text($0, decimals: 3) } }

    private var hasSpeed: Bool { totals.speedReadings > 0 }
    private func milli(_ value: Int32?) -> Figure { value.map { Decimal.text(Int64($0), decimals: 3) } }
    private func rounded(_ value: Double, _ decimals: Int) -> String? {
        Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }
    }
}
