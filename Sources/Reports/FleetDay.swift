public import Fleet
public import Postgres
public import Trips
internal import Wire

/// The report of a day of a fleet, or of one vehicle: its trips (by their start), what they add up to, and alerts.
public struct FleetDay: Sendable {
    private let day: ZonedDay
    private let trips: [TripRead]
    private let readings: [[CarReading]]
    private let alerts: [AlertRow]
    private let rules: TripRules
    private let content: Content
    /// Trips that their drivers do not want counted.
    private let discarded: Int

    public enum Content: String, Sendable { case tripsAndAlerts = "fleet-day", trips }

    /// - Parameters:
    ///   - vehicle: nil: of all.
    ///   - price: where an account has none of its own.
    public static func read(
        _ day: ZonedDay, _ content: Content = .tripsAndAlerts, vehicle: VehicleID? = nil, rules: TripRules,
        price: FuelPrice?, queries: ReportQueries, on connection: Connection
    ) throws -> FleetDay {
        // One snapshot for all three questions: the totals must be those of the trips listed.
        try connection.snapshot {
            let span: [Parameter] = [.timestampMs(day.fromMs), .timestampMs(day.toMs)]
            let all = try connection.query(queries["day_trips"], span + [.text(vehicle?.text ?? "")])
                .map { try TripRead($0, price: price) }
            let trips = all.filter { !$0.isDiscarded }
            let alerts =
                content == .trips ? [] : try connection.query(queries["fleet_day_alerts"], span).map(AlertRow.init)
            let readings = try trips.map { try TripSamples.read($0, queries, on: connection) }
            return FleetDay(
                day: day, trips: trips, readings: readings, alerts: alerts, rules: rules, content: content,
                discarded: all.count - trips.count)
        }
    }

    private var rows: TripsOutput { TripsOutput(trips) }

    private var totals: FleetTotals {
        FleetTotals(trips.map(\.figures), vehicles: Set(trips.map(\.vehicle)).count)
    }

    /// A vehicle that was filled between or during these trips.
    private struct Filling {
        let vehicle: String
        let refuelling: Refuelling
        let tankMl: Int32?

        func text(_ milliPct: Int64) -> String { Decimal.text(milliPct, decimals: 3) }
        var litres: String? {
            refuelling.litres(tankMl: tankMl).flatMap { Decimal.scaled($0, decimals: 1) }.map {
                Decimal.text($0, decimals: 1)
            }
        }
        var json: JSONValue {
            .object([
                ("vehicle", .text(vehicle)), ("from", .text(UTC.text(refuelling.fromMs))),
                ("until", .text(UTC.text(refuelling.untilMs))),
                ("before_pct", .number(text(refuelling.beforeMilliPct))),
                ("after_pct", .number(text(refuelling.afterMilliPct))), ("litres", .number(litres)),
            ])
        }
    }

    private var fillings: [Filling] {
        let byVehicle = Dictionary(grouping: zip(trips, readings), by: \.0.vehicle)
        return byVehicle.keys.sorted().flatMap { vehicle in
            let days = byVehicle[vehicle]!
            return Refuelling.all(in: days.flatMap(\.1)).map {
                Filling(vehicle: vehicle, refuelling: $0, tankMl: days[0].0.tankMl)
            }
        }
    }

    // MARK: Formats

    public func json() -> String {
        var fields: [(String, JSONValue)] = [
            ("report", .text(content.rawValue)), ("date", .text(day.date)), ("zone", .text(day.zone)),
            ("from", .text(UTC.text(day.fromMs))), ("to", .text(UTC.text(day.toMs))),
            ("trips", .list(rows.trips.map(rows.json))), ("discarded", .integer(Int64(discarded))),
            ("totals", totals.json), ("refuellings", .list(fillings.map(\.json))),
        ]
        if content == .tripsAndAlerts { fields.append(("alerts", .list(alerts.map(\.json)))) }
        return JSONValue.object(fields).rendered(indent: true)
    }

    /// For a terminal: the trips, and a line with what they add up to.
    public func text() -> String {
        let sums = totals.tiles.map { "\($0.name.lowercased()) \($0.text)" }
        let notCounted = discarded == 0 ? [] : ["discarded \(discarded)"]
        let filled = fillings.map {
            "\n\($0.vehicle): refuelled from \($0.text($0.refuelling.beforeMilliPct)) to "
                + "\($0.text($0.refuelling.afterMilliPct)) %\($0.litres.map { ", about \($0) L" } ?? "") at "
                + day.minute($0.refuelling.untilMs)
        }
        return rows.shortTable().text() + "\n" + (sums + notCounted).joined(separator: ", ") + filled.joined()
    }

    /// The trips; with alerts, a second table with them follows an empty line.
    public func csv() -> String {
        guard content == .tripsAndAlerts else { return rows.table().csv() }
        var table = Table(AlertRow.columns)
        table.rows = alerts.map(\.cells)
        return rows.table().csv() + "\r\n" + table.csv()
    }

    public func html() -> String {
        let hours = (day.toMs - day.fromMs) / 3_600_000
        let title = content == .trips ? "Trips of \(day.date)" : "Fleet day \(day.date)"
        var body = """
            <header><h1>\(title)</h1>
            <p class="soft">\(HTMLText.escaped(day.zone)), \(hours) hours. Trips count on the day they begin.</p></header>
            <main>
            <ul class="tiles">
            """
        for tile in totals.tiles { body += "<li>\(tile.name)<b>\(tile.text)</b></li>" }
        body += "</ul>\n" + tripTable + "\n"
        let weathers = trips.compactMap(\.weather)
        if let fetched = weathers.map(\.fetched).max() {
            let sources = Set(weathers.map(\.source)).sorted().joined(separator: ", ")
            body +=
                "<p class=\"soft\">Weather of the hour a trip began in: \(HTMLText.escaped(sources)), last fetched "
                + "\(fetched).</p>\n"
        }
        if discarded > 0 { body += "<p class=\"soft\">\(discarded) discarded by the driver, not counted.</p>\n" }
        for filling in fillings {
            body +=
                "<p>\(HTMLText.escaped(filling.vehicle)) was refuelled from "
                + "\(short(filling.text(filling.refuelling.beforeMilliPct), 0) ?? "") to "
                + "\(short(filling.text(filling.refuelling.afterMilliPct), 0) ?? "") %"
                + "\(filling.litres.map { ", about \($0) L" } ?? ""), by \(day.clock(filling.refuelling.untilMs)).</p>\n"
        }
        if content == .tripsAndAlerts { body += alertTable + "\n" }
        body += "<h2>Speed</h2>\n"
        for (trip, readings) in zip(trips, readings) { body += chart(trip, readings) }
        if trips.isEmpty { body += "<p class=\"empty\">No trip, no chart.</p>" }
        return HTMLText.page(title: title, body: body + "\n</main>")
    }

    private var tripTable: String {
        HTMLText.table(
            caption: "Trips",
            headers: [
                .word("Vehicle"), .text("Driver"), .text("Tag"), .word("Start"), .word("End"), .number("Distance km"),
                .number("Average km/h"),
                .number("Max km/h"), .number("Idle min"), .number("Sharp acc."), .number("Sharp brk."),
                .number("Fuel US gal"),
                .number("MPG"), .number("Cost"), .number("Holes"), .text("Weather at start"), .text("Revised"),
            ],
            rows: trips.map { read in
                let figures = read.figures
                let cost = short(figures.fuelCost, 2).map { "\($0) \(figures.price?.currency ?? "")" }
                return [
                    read.vehicle, read.driver, read.tag, day.clock(read.trip.startMs),
                    read.isOpen ? "under way" : day.clock(read.trip.endMs),
                    short(figures.distanceKm, 1), short(figures.averageSpeedKmh, 1), short(figures.maxSpeedKmh, 0),
                    short(Decimal.text(read.trip.totals.idleMs / 60, decimals: 3), 1),
                    String(read.trip.totals.sharpAccelerations), String(read.trip.totals.sharpBrakings),
                    short(figures.fuelUSGal, 2), short(figures.averageMpg, 1), cost, String(read.trip.totals.holes),
                    read.weatherText, read.revisedMs.map(day.minute),
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
