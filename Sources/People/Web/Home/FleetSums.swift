internal import Alerts
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// What cars did together, in whole numbers, so that any split of it adds up to the same. Fuel and consumption cover the trips whose fuel is
/// known.
struct FleetSums {
    var trips = 0
    var harsh = 0
    var distanceMm: Int64 = 0
    var integratedMs: Int64 = 0
    var idleMs: Int64 = 0
    var litres: Double?
    var fuelDistanceMm: Int64 = 0

    init() {}

    /// A row of home_days.
    init(_ row: Row) throws {
        trips = try row.int("trips") ?? 0
        harsh = try row.int("harsh") ?? 0
        distanceMm = Int64(try row.int("distance_mm") ?? 0)
        integratedMs = Int64(try row.int("integrated_ms") ?? 0)
        idleMs = Int64(try row.int("idle_ms") ?? 0)
        litres = try row.double("fuel_l")
        fuelDistanceMm = Int64(try row.int("fuel_distance_mm") ?? 0)
    }

    init(_ reads: some Sequence<TripRead>) { self = reads.reduce(FleetSums()) { $0 + FleetSums($1) } }

    private init(_ read: TripRead) {
        let totals = read.trip.totals
        trips = 1
        harsh = Int(totals.sharpAccelerations) + Int(totals.sharpBrakings)
        (distanceMm, integratedMs, idleMs) = (totals.distanceMm, totals.integratedMs, totals.idleMs)
        litres = read.figures.litres
        fuelDistanceMm = litres == nil ? 0 : totals.distanceMm
    }

    static func + (left: FleetSums, right: FleetSums) -> FleetSums {
        var sum = left
        sum.trips += right.trips
        sum.harsh += right.harsh
        sum.distanceMm += right.distanceMm
        sum.integratedMs += right.integratedMs
        sum.idleMs += right.idleMs
        sum.litres = left.litres == nil && right.litres == nil ? nil : (left.litres ?? 0) + (right.litres ?? 0)
        sum.fuelDistanceMm += right.fuelDistanceMm
        return sum
    }

    enum Figure: CaseIterable { case distance, consumption, idling, harsh }

    /// In the unit that `unit` names; nil: not known.
    func value(_ figure: Figure, _ units: DriverSettings.Units) -> Double? {
        let isUS = units == .us
        let (distance, fuelDistance) = (FleetSums.distance(distanceMm, isUS), FleetSums.distance(fuelDistanceMm, isUS))
        switch figure {
        case .distance: return trips == 0 ? nil : distance
        case .consumption:
            guard let litres, litres > 0, fuelDistance > 0 else { return nil }
            return isUS ? fuelDistance / (litres / Fuel.litresPerUSGallon) : litres / fuelDistance * 100
        case .idling: return integratedMs > 0 ? Double(idleMs) / Double(integratedMs) * 100 : nil
        case .harsh: return distance > 0 ? Double(harsh) / distance * 100 : nil
        }
    }

    private static func distance(_ mm: Int64, _ isUS: Bool) -> Double {
        Double(mm) / 1e6 / (isUS ? Fuel.kilometresPerMile : 1)
    }
}

extension FleetSums.Figure {
    func unit(_ units: DriverSettings.Units) -> String {
        switch (self, units) {
        case (.distance, .metric): "km"
        case (.distance, .us): "mi"
        case (.consumption, .metric): "L/100 km"
        case (.consumption, .us): "MPG"
        case (.idling, _): t("% of time")
        case (.harsh, .metric): t("per 100 km")
        case (.harsh, .us): t("per 100 mi")
        }
    }

    var name: String {
        switch self {
        case .distance: t("Distance")
        case .consumption: t("Fuel")
        case .idling: t("Idling")
        case .harsh: t("Harsh events")
        }
    }

    /// Whether more of it is good; nil: neither.
    func isMoreBetter(_ units: DriverSettings.Units) -> Bool? {
        switch self {
        case .distance: nil
        case .consumption: units == .us
        case .idling, .harsh: false
        }
    }

    /// `1,284`, `7.9`
    func text(_ value: Double) -> String { GroupedNumber.short(value, self == .distance && value >= 100 ? 0 : 1) }
}

extension FleetSums {
    /// The change of a figure in words and colour; nil: one of the two is not known.
    static func change(
        _ figure: Figure, _ now: Double?, _ before: Double?, _ units: DriverSettings.Units
    ) -> (mark: String, tone: String)? {
        guard let now, let before else { return nil }
        let text: String
        switch figure {
        case .distance, .consumption:
            guard before > 0 else { return nil }
            text = GroupedNumber.short(abs(now - before) / before * 100, 0) + " %"
        case .idling: text = t("\(GroupedNumber.short(abs(now - before), 1)) points")
        case .harsh: text = GroupedNumber.short(abs(now - before), 1)
        }
        if text.prefix(while: { $0 != " " }).allSatisfy({ "0.".contains($0) }) { return (t("no change"), "flat") }
        let isMore = now > before
        let tone = figure.isMoreBetter(units).map { $0 == isMore ? "up" : "down" } ?? "flat"
        return ("\(isMore ? "↑" : "↓") \(text)", tone)
    }
}
