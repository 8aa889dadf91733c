internal import Alerts
internal import Basics
internal import Presentation
internal import Reports
internal import Trips

/// Trips as an account reads them.
struct TripTableView {
    private let trips: [TripRead]
    private let caller: PageCaller
    private let hasVehicles: Bool

    /// - Parameter hasVehicles: they are of several vehicles, which are named.
    init(_ trips: [TripRead], _ caller: PageCaller, hasVehicles: Bool = false) {
        self.trips = trips
        self.caller = caller
        self.hasVehicles = hasVehicles
    }

    /// Each trip leads to its page.
    func html(caption: String, empty: String) -> HTML {
        let isUS = caller.units == .us
        let vehicle: [HTML.Header] = hasVehicles ? [.word(t("Vehicle"))] : []
        return HTML.table(
            caption: caption,
            headers: vehicle + [
                .word(t("Start")), .number(t("Duration, min")), .number(isUS ? t("Distance, mi") : t("Distance, km")),
                .number(isUS ? t("Average speed, mph") : t("Average speed, km/h")),
                .number(isUS ? t("Max speed, mph") : t("Max speed, km/h")),
                .number(t("Idle, min")), .number(t("Harsh events")), .number(isUS ? t("Fuel, US gal") : t("Fuel, L")),
                .number(isUS ? "MPG" : "L/100 km"), .number(t("Cost")), .text(t("Driver")), .text(t("State")),
            ],
            rows: trips.map { read in (hasVehicles ? [vehicleLink(read)] : []) + cells(read) }, empty: empty)
    }

    private func vehicleLink(_ read: TripRead) -> HTML {
        "<a href=\"/vehicles/\(encoded: read.vehicle)?kind=car\">\(read.vehicle)</a>"
    }

    private func cells(_ read: TripRead) -> [HTML?] {
        let (figures, trip) = (read.figures, read.trip)
        let isUS = caller.units == .us
        func speed(_ figure: String?) -> String? { shown(figure, "km/h") }
        return [
            "<a href=\"\(TripWords.path(read))\">\(caller.clock.minute(trip.startMs))</a>",
            .text(decimal(Double(trip.endMs - trip.startMs) / 60_000, 1)), .text(shown(figures.distanceKm, "km")),
            .text(speed(figures.averageSpeedKmh)), .text(speed(figures.maxSpeedKmh)),
            .text(decimal(Double(trip.totals.idleMs) / 60_000, 1)),
            "\(trip.totals.sharpAccelerations + trip.totals.sharpBrakings)",
            .text(isUS ? short(figures.fuelUSGal, 2) : short(figures.fuelL, 2)),
            .text(isUS ? short(figures.averageMpg, 1) : figures.litresPer100km),
            figures.fuelCost.flatMap { cost in
                short(cost, 2).map { "\($0) \(figures.price?.currency ?? "")" }
            },
            .text(read.driver.map(caller.person)),
            .text(read.isOpen ? t("under way") : read.trip.goesOn ? t("goes on") : t("ended")),
        ]
    }

    private func shown(_ figure: String?, _ unit: String) -> String? {
        figure.flatMap { Double($0) }.flatMap {
            decimal(ShownValue($0, unit: unit, in: caller.units).value, 1)
        }
    }

    private func decimal(_ value: Double, _ decimals: Int) -> String? {
        short(Decimal.scaled(value, decimals: decimals).map { Decimal.text($0, decimals: decimals) }, decimals)
    }
}
