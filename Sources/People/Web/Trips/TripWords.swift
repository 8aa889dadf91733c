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
            (TripWords.number($0, isUS || $0 < 1 ? 2 : 1), isUS ? "US gal" : "L")
        }
    }

    /// Consumption, or mileage.
    func mileage(_ figures: TripFigures) -> Figure? {
        (isUS ? figures.averageMpg : figures.litresPer100km).flatMap { Double($0) }.map {
            (TripWords.number($0, 1), isUS ? "mpg" : "L/100 km")
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
        return "\(TripWords.money(per, figures.price?.currency ?? "")) a \(isUS ? "mile" : "km")"
    }

    /// As people buy it: by the litre or the gallon.
    func price(_ price: FuelPrice) -> String {
        isUS
            ? "\(TripWords.money(price.perUSGallon, price.currency)) a gallon"
            : "\(TripWords.money(price.perUSGallon / Fuel.litresPerUSGallon, price.currency)) a litre"
    }

    private func shown(_ value: Double?, _ unit: String, _ decimals: Int) -> Figure? {
        value.map { value in
            let shown = ShownValue(value, unit: unit, in: caller.units)
            return (TripWords.number(shown.value, decimals), shown.unit)
        }
    }

    /// `€ 3.10`, `$2.39`, `12.40 CHF`
    static func money(_ value: Double, _ currency: String) -> String {
        let text = number(value, 2)
        if let sign = ["EUR": "€ ", "USD": "$", "GBP": "£"][currency] { return sign + text }
        return currency.isEmpty ? text : "\(text) \(currency)"
    }

    /// `1,284.5`: all decimals, so that columns stand under each other.
    static func number(_ value: Double, _ decimals: Int) -> String {
        guard let scaled = Decimal.scaled(value, decimals: decimals) else { return "–" }
        let power = (0..<decimals).reduce(Int64(1)) { power, _ in power * 10 }
        var whole = String(scaled.magnitude / UInt64(power))
        var at = whole.count - 3
        while at > 0 {
            whole.insert(",", at: whole.index(whole.startIndex, offsetBy: at))
            at -= 3
        }
        let sign = scaled < 0 ? "−" : ""
        guard decimals > 0 else { return sign + whole }
        let rest = String(scaled.magnitude % UInt64(power))
        return "\(sign)\(whole).\(String(repeating: "0", count: decimals - rest.count))\(rest)"
    }

    /// `1 trip`, `2 trips`
    static func count(_ count: Int, _ noun: String) -> String {
        "\(number(Double(count), 0)) \(noun)\(count == 1 ? "" : "s")"
    }

    // MARK: Addresses

    static func path(_ read: TripRead) -> String { path(read.vehicle, read.trip.startMs) }

    static func path(_ vehicle: String, _ startMs: Int64) -> String { "/trips/\(URLText.escaped(vehicle))/\(startMs)" }
}
