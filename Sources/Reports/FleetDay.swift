internal import Fleet
public import Postgres
public import Trips
internal import Wire

/// The report of a fleet's day: its trips (by their start), what they add up to, and its alerts.
public struct FleetDay: Sendable {
    private let day: ZonedDay
    private let trips: [TripRead]
    private let readings: [[CarReading]]
    private let alerts: [AlertRow]
    private let rules: TripRules
    private let price: FuelPrice?

    public static func read(
        _ day: ZonedDay, rules: TripRules, price: FuelPrice?, queries: ReportQueries, on connection: Connection
    ) throws -> FleetDay {
        // One snapshot for all three questions: the totals must be those of the trips listed.
        try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
            let span: [Parameter] = [.timestampMs(day.fromMs), .timestampMs(day.toMs)]
            let trips = try connection.query(queries["fleet_day_trips"], span).map(TripRead.init)
            let alerts = try connection.query(queries["fleet_day_alerts"], span).map(AlertRow.init)
            let readings = try trips.map { try samples($0, queries, connection) }
            return FleetDay(day: day, trips: trips, readings: readings, alerts: alerts, rules: rules, price: price)
        }
    }

    private static func samples(_ trip: TripRead, _ queries: ReportQueries, _ connection: Connection) throws
        -> [CarReading]
    {
        let key: [Parameter] = [.text(trip.vehicle), .timestampMs(trip.trip.startMs)]
        return try connection.query(queries["trip_samples"], key).flatMap { row in
            try PackedSamples.decode(row.bytes("samples")!, minuteMs: row.timestampMs("minute_at")!)
        }
    }

    private var rows: TripsOutput {
        var output = TripsOutput(nameKey: "vehicle")
        for trip in trips { output.add(trip.vehicle, TripFigures(trip.trip, price: price)) }
        return output
    }

    private var totals: FleetTotals {
        FleetTotals(trips.map(\.trip), vehicles: Set(trips.map(\.vehicle)).count, price: price)
    }

    // MARK: Formats

    public func json() -> String {
        JSONValue.object([
            ("report", .text("fleet-day")), ("date", .text(day.date)), ("zone", .text(day.zone)),
            ("from", .text(UTC.text(day.fromMs))), ("to", .text(UTC.text(day.toMs))),
            ("trips", .list(rows.trips.map(rows.json))), ("totals", totals.json), ("alerts", .list(alerts.map(\.json))),
        ]).rendered(indent: true)
    }

    /// The trips; a second table with the alerts follows an empty line.
    public func csv() -> String {
        var table = Table(AlertRow.columns)
        table.rows = alerts.map(\.cells)
        return rows.table().csv() + "\r\n" + table.csv()
    }

    public func html() -> String {
        let hours = (day.toMs - day.fromMs) / 3_600_000
        var body = """
            <header><h1>Fleet day \(day.date)</h1>
            <p class="soft">\(HTMLText.escaped(day.zone)), \(hours) hours. Trips count on the day they begin.</p></header>
            <main>
            <ul class="tiles">
            """
        for tile in totals.tiles { body += "<li>\(tile.name)<b>\(tile.text)</b></li>" }
        body += "</ul>\n" + tripTable + "\n" + alertTable + "\n<h2>Speed</h2>\n"
        for (trip, readings) in zip(trips, readings) { body += chart(trip, readings) }
        if trips.isEmpty { body += "<p class=\"empty\">No trip, no chart.</p>" }
        return HTMLText.page(title: "Fleet day \(day.date)", body: body + "\n</main>")
    }

    private var tripTable: String {
        HTMLText.table(
            caption: "Trips",
            headers: [
                .word("Vehicle"), .word("Start"), .word("End"), .number("Distance km"), .number("Average km/h"),
                .number("Max km/h"), .number("Idle min"), .number("Sharp acc."), .number("Sharp brk."),
                .number("Fuel US gal"),
                .number("MPG"), .number("Holes"),
            ],
            rows: trips.map { read in
                let figures = TripFigures(read.trip, price: price)
                return [
                    read.vehicle, day.clock(read.trip.startMs), read.isOpen ? "under way" : day.clock(read.trip.endMs),
                    short(figures.distanceKm, 1), short(figures.averageSpeedKmh, 1), short(figures.maxSpeedKmh, 0),
                    short(Decimal.text(read.trip.totals.idleMs / 60, decimals: 3), 1),
                    String(read.trip.totals.sharpAccelerations), String(read.trip.totals.sharpBrakings),
                    short(figures.fuelUSGal, 2), short(figures.averageMpg, 1), String(read.trip.totals.holes),
                ]
            }, empty: "No trip began on this day.")
    }

    private var alertTable: String {
        HTMLText.table(
            caption: "Alerts",
            headers: [
                .word("Vehicle"), .text("Model"), .text("Parameter"), .html("Severity"), .text("State"),
                .text("Alert when"),
                .word("Opened"), .word("Resolved"), .number("Worst"), .prose("What to do"),
            ],
            rows: alerts.map { alert in
                [
                    alert.vehicle, alert.model, alert.parameter,
                    "<span class=\"\(alert.severity)\">\(alert.severity)</span>", alert.state, alert.rule,
                    day.minute(alert.openedMs), alert.resolvedMs.map(day.minute), alert.worstValue, alert.advice,
                ]
            }, empty: "No alert on this day.")
    }

    private func chart(_ trip: TripRead, _ readings: [CarReading]) -> String {
        let title =
            "\(trip.vehicle), \(day.clock(trip.trip.startMs)) to \(day.clock(trip.trip.endMs)): speed in km/h over minutes"
        let svg = SpeedChart.svg(readings, gapMs: rules.gapMs, label: title)
        return "<h3>\(HTMLText.escaped(title))</h3>\n"
            + (svg ?? "<p class=\"empty\">No speed was read on this trip.</p>") + "\n"
    }
}

/// A figure with a fixed number of decimals, for readers: columns of numbers line up.
package func short(_ figure: String?, _ decimals: Int) -> String? {
    guard let figure, let scaled = Decimal.scaled(figure.utf8, decimals: decimals) else { return nil }
    let text = Decimal.text(scaled, decimals: decimals)
    guard decimals > 0 else { return text }
    let given = text.firstIndex(of: ".").map { text.distance(from: $0, to: text.endIndex) - 1 } ?? 0
    return text + (given == 0 ? "." : "") + String(repeating: "0", count: decimals - given)
}
