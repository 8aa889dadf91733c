internal import Fleet
internal import Postgres
internal import Reports
internal import Trips

/// The page at `/`: vehicles, last trips, open alerts, as they stand in the database. No script.
struct FirstPage {
    static let rowsMax: Int32 = 50

    let queries: ReportQueries
    let price: FuelPrice?

    /// `nowMs` is only shown: the page says how fresh it is.
    func html(_ connection: Connection, nowMs: Int64) throws -> String {
        let limit: [Parameter] = [.int4(FirstPage.rowsMax)]
        let (vehicles, trips, alerts) = try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
            (
                try connection.query(queries["page_vehicles"], limit).map(VehicleRow.init),
                try connection.query(queries["page_trips"], limit).map(TripRead.init),
                try connection.query(queries["page_alerts"], limit).map(AlertRow.init)
            )
        }
        let body = """
            <header><h1>Drover</h1>
            <p class="soft">Last updated \(UTC.text(nowMs / 1_000 * 1_000)). Times are UTC.</p></header>
            <main>
            \(alertTable(alerts))
            \(vehicleTable(vehicles))
            \(tripTable(trips))
            </main>
            """
        return HTMLText.page(title: "Drover: fleet", body: body)
    }

    private func alertTable(_ alerts: [AlertRow]) -> String {
        HTMLText.table(
            caption: "Open alerts",
            headers: [
                .html("Severity"), .word("Vehicle"), .text("Parameter"), .number("Worst"), .text("Alert when"),
                .number("Recommended"), .word("Open since"), .text("Model"), .prose("What to do"),
            ],
            rows: alerts.map { alert in
                [
                    "<span class=\"\(alert.severity)\">\(alert.severity)</span>", alert.vehicle, alert.parameter,
                    alert.worstValue, alert.rule, alert.recommended, shown(alert.openedMs), alert.model, alert.advice,
                ]
            }, empty: "No alert is open.")
    }

    private func vehicleTable(_ vehicles: [VehicleRow]) -> String {
        HTMLText.table(
            caption: "Vehicles",
            headers: [.word("Vehicle"), .word("Last reading"), .number("Open alerts"), .text("Kind"), .text("Model")],
            rows: vehicles.map { [$0.vehicle, shown($0.lastMs), String($0.openAlerts), $0.kind, $0.model] },
            empty: "No vehicle has reported yet. `drover import cars FILE` brings recordings in.")
    }

    private func tripTable(_ trips: [TripRead]) -> String {
        HTMLText.table(
            caption: "Last trips",
            headers: [
                .word("Vehicle"), .html("Start"), .number("Duration min"), .number("Distance km"),
                .number("Average km/h"),
                .number("Max km/h"), .number("Sharp"), .number("Fuel US gal"), .number("MPG"), .text("State"),
            ],
            rows: trips.map { read in
                let (figures, totals) = (TripFigures(read.trip, price: price), read.trip.totals)
                let day = UTC.dateText(read.trip.startMs)
                return [
                    read.vehicle,
                    "<a href=\"/reports/fleet-day?date=\(day)&amp;zone=UTC\">\(shown(read.trip.startMs))</a>",
                    short(Decimal.text((read.trip.endMs - read.trip.startMs) / 60, decimals: 3), 1),
                    short(figures.distanceKm, 1), short(figures.averageSpeedKmh, 1), short(figures.maxSpeedKmh, 0),
                    String(totals.sharpAccelerations + totals.sharpBrakings), short(figures.fuelUSGal, 2),
                    short(figures.averageMpg, 1), read.isOpen ? "under way" : "ended",
                ]
            }, empty: "No trip yet.")
    }

    /// `2018-02-20 19:23`
    private func shown(_ ms: Int64) -> String { UTC.dateText(ms) + " " + UTC.text(ms).dropFirst(11).prefix(5) }
}

private struct VehicleRow {
    let vehicle, kind: String
    let model: String?
    let lastMs: Int64
    let openAlerts: Int

    init(_ row: Row) throws {
        (vehicle, kind, model) = (try row.text("vehicle")!, try row.text("kind")!, try row.text("model"))
        (lastMs, openAlerts) = (try row.timestampMs("last_reading_at")!, try row.int("open_alerts")!)
    }
}
