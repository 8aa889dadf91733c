public import Fleet

/// The properties of a fuel.
public struct FuelRow: Equatable, Sendable {
    /// Grams of air that a gram of fuel burns with, none left over.
    public let stoichiometricAir: Double
    /// The density of the liquid; a litre of CNG is that of the gasoline gallon equivalent in which it is sold.
    public let gramsPerLitre: Double

    /// Nil where fuel cannot be told from air: diesels run lean by as much as the load asks, and a battery burns none.
    ///
    /// Gasoline: 14.7 as in Lightner's formula (fuelly.com: MPG = 710.7 · km/h ÷ (100 · g/s), at 739.3 g/L), 745 g/L.
    /// Ratios of the others follow from their formulas (C2H5OH, CH3OH, CH4; C3H8 and C4H10 as 60:40): Heywood, Internal Combustion Engine
    /// Fundamentals, table D.4. Densities at 20 °C: CRC Handbook of Chemistry and Physics; LPG at 15 °C: EN 589;
    /// CNG: 2.567 kg for each gallon equivalent, NIST Handbook 44, appendix D.
    public static func of(_ fuel: Action.Car.Fuel) -> FuelRow? {
        switch fuel {
        case .gasoline: FuelRow(stoichiometricAir: 14.7, gramsPerLitre: 745)
        case .ethanol: FuelRow(stoichiometricAir: 9.0, gramsPerLitre: 789)
        case .methanol: FuelRow(stoichiometricAir: 6.47, gramsPerLitre: 791)
        case .lpg: FuelRow(stoichiometricAir: 15.6, gramsPerLitre: 538)
        case .cng: FuelRow(stoichiometricAir: 17.2, gramsPerLitre: 2_567 / Fuel.litresPerUSGallon)
        case .diesel, .electric: nil
        }
    }
}

public enum Fuel {
    public static let litresPerUSGallon = 3.785411784
    public static let kilometresPerMile = 1.609344

    /// From air that met fuel at the stoichiometric ratio.
    static func litres(burntAirMg: Double, _ fuel: FuelRow) -> Double {
        burntAirMg / 1_000 / fuel.stoichiometricAir / fuel.gramsPerLitre
    }
}

/// The source of a trip's fuel figure.
public enum FuelMethod: String, CaseIterable, Sendable {
    /// The engine's own fuel rate, PID 5E.
    case fuelRate = "fuel_rate"
    /// Air flow from the car's own sensor.
    case maf
    /// Air flow that the logger worked out from manifold pressure, rpm and intake temperature.
    case mafCalculated = "maf_calculated"
    /// The same worked out here, with the car's displacement and volumetric efficiency.
    case speedDensity = "speed_density"
}

/// Why a trip has no fuel figure, as people read it.
public enum FuelUnknown: String, Sendable {
    case electric = "electric car"
    case dieselWithoutRate = "diesel without PID 5E"
    case displacementUnknown = "displacement is not registered"
    case nothingRead = "neither fuel rate nor air flow was read"
}

/// The fuel of a stretch of driving, by the best of the methods that cover it.
public enum FuelUse: Equatable, Sendable {
    case litres(Double, FuelMethod)
    case unknown(FuelUnknown)

    /// A better method wins over one that covers more, as long as it covers nine tenths of that: a signal that came late or is polled
    /// seldom must not represent the whole trip.
    private static let leastShare = 0.9

    /// `car` as registered; nil, and a fuel that is not said, are taken for gasoline.
    public init(_ totals: DriveTotals, car: Action.Car?) {
        let known = FuelUse.methods(totals, car)
        let longest = known.map(\.ms).max() ?? 0
        if let best = known.first(where: { Double($0.ms) >= FuelUse.leastShare * Double(longest) }) {
            self = .litres(best.litres, best.method)
            return
        }
        switch car?.fuel {
        case .electric: self = .unknown(.electric)
        case .diesel: self = .unknown(.dieselWithoutRate)
        case nil, .gasoline, .ethanol, .methanol, .lpg, .cng:
            self = .unknown(totals.burntAirPerLitreMg == nil ? .nothingRead : .displacementUnknown)
        }
    }

    /// The available methods, best first.
    private static func methods(
        _ totals: DriveTotals, _ car: Action.Car?
    ) -> [(method: FuelMethod, ms: Int64, litres: Double)] {
        var methods: [(FuelMethod, ms: Int64, litres: Double)] = []
        let kind = car?.fuel ?? .gasoline
        if let fuel = totals.fuelRateUl, kind != .electric {
            methods.append((.fuelRate, totals.fuelRateMs ?? 0, Double(fuel) / 1e6))
        }
        guard let row = FuelRow.of(kind) else { return methods }
        func add(_ method: FuelMethod, _ airMg: Double?, _ ms: Int64?) {
            guard let airMg else { return }
            methods.append((method, ms ?? 0, Fuel.litres(burntAirMg: airMg, row)))
        }
        // Rows of an older program tell neither what was burnt nor for how long.
        add(.maf, (totals.burntAirMg ?? totals.airMg).map { Double($0) }, totals.airMs)
        let calculated = totals.burntAirCalculatedMg ?? totals.airCalculatedMg
        add(.mafCalculated, calculated.map { Double($0) }, totals.airCalculatedMs)
        if let displacementCc = car?.displacementCc {
            let efficiency = car?.volumetricEfficiencyMilliPct.map { Double($0) / 100_000 }
            let litres = Double(displacementCc) / 1_000 * (efficiency ?? SpeedDensity.volumetricEfficiency)
            add(.speedDensity, totals.burntAirPerLitreMg.map { Double($0) * litres }, totals.airPerLitreMs)
        }
        return methods
    }
}

/// A price of fuel; an unknown price is nil where one is asked for.
public struct FuelPrice: Equatable, Sendable {
    public var perUSGallon: Double
    public var currency: String
    public init(perUSGallon: Double, currency: String) {
        self.perUSGallon = perUSGallon
        self.currency = currency
    }
    /// The default of the specification.
    public static let standard = FuelPrice(perUSGallon: 2.39, currency: "USD")
}
