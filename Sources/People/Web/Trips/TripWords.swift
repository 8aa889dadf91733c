internal import Alerts
internal import Basics
internal import Presentation
internal import Reports
internal import Trips

/// Times and figures of trips as people of an account read them.
struct TripWords {
    let caller: PageCaller

    var isUS: Bool { caller.units == .us }

    // MARK: Times

    /// `09:14`
    func time(_ ms: Int64) -> String { String(caller.clock.second(ms).prefix(5)) }

    func timeHTML(_ ms: Int64) -> HTML {
        "<time datetime=\"\(UTC.text(ms))\" title=\"\(caller.clock.minute(ms))\">\(time(ms))</time>"
    }

    /// `Tue 24 Nov 2026`
    func day(_ ms: Int64) -> String { caller.words.fullDate(CivilDate(ofMs: ms, zone: caller.clock.zone)) }

    /// `25 min`, `1 h 05 min`, `40 s`: rounded, unlike `Words.span`.
    static func length(_ ms: Int64) -> String {
        let seconds = (ms + 500) / 1_000
        guard seconds >= 60 else { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        guard minutes >= 60 else { return "\(minutes) min" }
        let rest = minutes % 60
        return "\(minutes / 60) h \(rest < 10 ? "0" : "")\(rest) min"
    }

    // MARK: Figures

    /// A number and its unit.
    typealias Figure = (number: String, unit: String)

    func distance(_ km: String?) -> Figure? { shown(km.flatMap { Double($0) }, "km", 1) }

    func speed(_ kmh: String?) -> Figure? { shown(kmh.flatMap { Double($0) }, "km/h", 0) }

    func fuel(_ figures: TripFigures) -> Figure? {
        (isUS ? figures.fuelUSGal : figures.fuelL).flatMap { Double($0) }.map {
            (GroupedNumber.text($0, isUS || $0 < 1 ? 2 : 1), isUS ? "US gal" : "L")
        }
    }

    /// Consumption, or mileage.
    func mileage(_ figures: TripFigures) -> Figure? {
        (isUS ? figures.averageMpg : figures.litresPer100km).flatMap { Double($0) }.map {
            (GroupedNumber.text($0, 1), isUS ? "MPG" : "L/100 km")
        }
    }

    func cost(_ figures: TripFigures) -> String? {
        figures.fuelCost.flatMap { Double($0) }.map { TripWords.money($0, figures.price?.currency ?? "") }
    }

    /// `$0.12 a mile`; nil: the way or the cost is not known.
    func costOfDistance(_ figures: TripFigures) -> String? {
        guard let cost = figures.fuelCost.flatMap({ Double($0) }),
            let km = figures.distanceKm.flatMap({ Double($0) }), km > 0.1
        else { return nil }
        let per = isUS ? cost / km * Fuel.kilometresPerMile : cost / km
        let money = TripWords.money(per, figures.price?.currency ?? "")
        return isUS ? t("\(money) a mile") : t("\(money) a km")
    }

    /// Why a trip has no figure of fuel.
    static func why(_ unknown: FuelUnknown) -> String {
        switch unknown {
        case .electric: t("electric car")
        case .dieselWithoutRate: t("diesel without PID 5E")
        case .displacementUnknown: t("displacement is not registered")
        case .nothingRead: t("neither fuel rate nor air flow was read")
        }
    }

    /// As people buy it: by the litre or the gallon.
    func price(_ price: FuelPrice) -> String {
        isUS
            ? t("\(TripWords.money(price.perUSGallon, price.currency)) a gallon")
            : t("\(TripWords.money(price.perUSGallon / Fuel.litresPerUSGallon, price.currency)) a litre")
    }

    private func shown(_ value: Double?, _ unit: String, _ decimals: Int) -> Figure? {
        value.map { value in
            let shown = ShownValue(value, unit: unit, in: caller.units)
            return (GroupedNumber.text(shown.value, decimals), shown.unit)
        }
    }

    /// `€ 3.10`, `$2.39`, `12.40 CHF`
    static func money(_ value: Double, _ currency: String) -> String {
        let text = GroupedNumber.text(value, 2)
        if let sign = ["EUR": "€ ", "USD": "$", "GBP": "£"][currency] { return sign + text }
        return currency.isEmpty ? text : "\(text) \(currency)"
    }

    // MARK: Addresses

    static func path(_ read: TripRead) -> String { path(read.vehicle, read.trip.startMs) }

    static func path(_ vehicle: String, _ startMs: Int64) -> String { "/trips/\(URLText.escaped(vehicle))/\(startMs)" }
}
