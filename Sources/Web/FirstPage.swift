internal import Alerts
internal import Fleet
internal import Postgres
internal import Reports
internal import Trips

/// The page at `/`: vehicles, last trips, open alerts, as they stand in the database, as far as the reader sees them. No script.
struct FirstPage {
    static let rowsMax: Int32 = 50

    let queries: ReportQueries
    let price: FuelPrice?

    /// `nowMs` is only shown: the page says how fresh it is.
    func html(_ connection: Connection, nowMs: Int64) throws -> String {
        let limit: [Parameter] = [.int4(FirstPage.rowsMax)]
        let vehicles = try connection.query(queries["page_vehicles"], limit).map(VehicleRow.init)
        let trips = try connection.query(queries["page_trips"], limit).map { try TripRead($0, price: price) }
        // Whoever reads: alerts that are not for them the database keeps back.
        let alerts = try OpenAlert.read(
            role: .developer, limit: Int64(FirstPage.rowsMax), queries, on: connection)
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

    private func alertTable(_ alerts: [OpenAlert]) -> String {
        HTMLText.table(
            caption: "Open alerts",
            headers: [
                .html("Severity"), .html("Vehicle"), .text("Parameter"), .number("Worst"), .html("Alert when"),
                .htmlProse("Open since"), .prose("What to do"),
            ],
            rows: alerts.map { open in
                let alert = open.alert
                let (kind, severity) =
                    alert.state == "due_soon" ? ("soon", "due soon") : (alert.severity, alert.severity)
                let seen = open.acknowledgedBy.map {
                    "seen by \(HTMLText.escaped($0)), \(unbroken(open.acknowledgedMs!))"
                }
                let silenced = open.silencedUntilMs.map { "silenced until \(unbroken($0))" }
                return [
                    "<span class=\"\(kind)\">\(severity)</span>", twoLines(open.vehicleName, alert.vehicle),
                    alert.parameter, alert.worstValue,
                    twoLines(alert.rule, alert.recommended.map { "recommended \($0)" }),
                    [shown(alert.openedMs), seen, silenced].compactMap { $0 }.joined(separator: "<br>"), alert.advice,
                ]
            }, empty: "No alert is open.")
    }

    private func vehicleTable(_ vehicles: [VehicleRow]) -> String {
        HTMLText.table(
            caption: "Vehicles",
            headers: [
                .html("Vehicle"), .word("Last reading"), .number("Open alerts"), .text("Kind"), .text("Model"),
                .word("State"),
            ],
            rows: vehicles.map { vehicle in
                [
                    twoLines(vehicle.name, vehicle.vehicle), vehicle.lastMs.map(shown), String(vehicle.openAlerts),
                    vehicle.kind, vehicle.model, vehicle.isDisabled ? "disabled" : "in use",
                ]
            },
            empty: "No vehicle has reported yet. `drover import cars FILE` brings recordings in.")
    }

    private func tripTable(_ trips: [TripRead]) -> String {
        HTMLText.table(
            caption: "Last trips",
            headers: [
                .word("Vehicle"), .html("Start"), .number("Duration min"), .number("Distance km"),
                .number("Average km/h"),
                .number("Max km/h"), .number("Sharp"), .number("Fuel US gal"), .number("MPG"),
                .text("Weather at start"), .text("State"),
            ],
            rows: trips.map { read in
                let (figures, totals) = (read.figures, read.trip.totals)
                let day = UTC.dateText(read.trip.startMs)
                return [
                    read.vehicle,
                    "<a href=\"/reports/fleet-day?date=\(day)&amp;zone=UTC\">\(shown(read.trip.startMs))</a>",
                    short(Decimal.text((read.trip.endMs - read.trip.startMs) / 60, decimals: 3), 1),
                    short(figures.distanceKm, 1), short(figures.averageSpeedKmh, 1), short(figures.maxSpeedKmh, 0),
                    String(totals.sharpAccelerations + totals.sharpBrakings), short(figures.fuelUSGal, 2),
                    short(figures.averageMpg, 1), read.weatherText,
                    read.isOpen ? "under way" : "ended",
                ]
            }, empty: "No trip yet.")
    }

    /// The second one stands back where there is a first one.
    private func twoLines(_ first: String?, _ second: String?) -> String {
        guard let first, let second else { return HTMLText.escaped(first ?? second ?? "") }
        return "\(HTMLText.escaped(first))<br><span class=\"soft\">\(HTMLText.escaped(second))</span>"
    }

    /// A time within a text that wraps.
    private func unbroken(_ ms: Int64) -> String { "<span class=\"t\">\(shown(ms))</span>" }

    /// `2018-02-20 19:23`
    private func shown(_ ms: Int64) -> String { UTC.dateText(ms) + " " + UTC.text(ms).dropFirst(11).prefix(5) }
}

private struct VehicleRow {
    let vehicle, kind: String
    let name, model: String?
    let isDisabled: Bool
    let lastMs: Int64?
    let openAlerts: Int

    init(_ row: Row) throws {
        (vehicle, kind, model) = (try row.text("vehicle")!, try row.text("kind")!, try row.text("model"))
        (name, isDisabled) = (try row.text("name"), try row.bool("is_disabled")!)
        (lastMs, openAlerts) = (try row.timestampMs("last_reading_at"), try row.int("open_alerts")!)
    }
}
