internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Postgres
internal import Presentation
internal import Trips

/// The report of some days of a fleet, or of one vehicle: its trips (by their start), what they add up to, and alerts.
struct FleetDay: ReportOutput {
    private let day: ReportSpan
    private let ask: ReportParameters
    private let trips: [TripRead]
    /// Per trip, for one day only: longer spans have no charts, so that memory stays bounded.
    private let readings: [[CarReading]]
    private let alerts: [AlertRow]
    /// The present state of vehicles that were heard of since the span began.
    private let unmonitored: [UnmonitoredVehicle]
    /// Per item of `readings`: points further apart are not joined.
    private let gapsMs: [Int64]
    private let content: Content
    /// Trips that their drivers do not want counted.
    private let discarded: Int

    enum Content: String, Sendable { case tripsAndAlerts = "fleet-day", trips }

    /// Precondition: the connection is in a snapshot: the totals must be those of the trips listed.
    static func read(_ ask: ReportParameters, _ content: Content, _ source: Report.Source) throws -> FleetDay {
        let all = try trips(ask, source)
        let trips = all.filter { !$0.isDiscarded }
        var alerts: [AlertRow] = []
        var unmonitored: [UnmonitoredVehicle] = []
        if content == .tripsAndAlerts {
            alerts = try source.connection.query(
                source.queries["fleet_day_alerts"], parameters(ask)
            ).map(AlertRow.init)
            try Report.check(alerts.count)
            unmonitored = try UnmonitoredVehicle.read(
                of: ask.of, fleet: ask.fleet, sinceMs: ask.span.fromMs, source.queries, on: source.connection)
        }
        let readings =
            ask.span.isOneDay
            ? try trips.map { try TripSamples.read($0, source.queries, on: source.connection) } : []
        let gapsMs =
            ask.span.isOneDay
            ? try trips.map {
                try source.rules.ofTrip(of: $0.vehicle, atMs: $0.trip.startMs, on: source.connection).gapMs
            } : []
        return FleetDay(
            day: ask.span, ask: ask, trips: trips, readings: readings, alerts: alerts, unmonitored: unmonitored,
            gapsMs: gapsMs,
            content: content, discarded: all.count - trips.count)
    }

    /// All that began in the span, discarded ones, too.
    static func trips(
        _ ask: ReportParameters, _ source: Report.Source, most: Int64 = Report.rowsMax
    ) throws -> [TripRead] {
        let rows = try source.connection.query(source.queries["day_trips"], parameters(ask, most: most))
        try Report.check(rows.count, most: most)
        return try rows.map { try TripRead($0, price: source.price) }
    }

    private static func parameters(_ ask: ReportParameters, most: Int64 = Report.rowsMax) -> [Parameter] {
        [
            .timestampMs(ask.span.fromMs), .timestampMs(ask.span.toMs), .text(ask.of), .text(ask.fleet),
            .int8(most + 1),
        ]
    }

    var untilMs: Int64 { day.toMs }
    var count: Int { trips.count + alerts.count }
    var title: String {
        (content == .trips ? "Trips of \(day.text)" : "Fleet day \(day.text)")
            + (ask.narrowed.isEmpty ? "" : ", \(ask.narrowed)")
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

    func json() -> String {
        var fields: [JSONValue.Field] = [
            ("report", .text(content.rawValue)), ("date", .text(day.date)), ("zone", .text(day.zone)),
            ("from", .text(UTC.text(day.fromMs))), ("to", .text(UTC.text(day.toMs))),
            ("trips", .list(rows.trips.map(rows.json))), ("discarded", .integer(Int64(discarded))),
            ("totals", totals.json), ("refuellings", .list(fillings.map(\.json))),
        ]
        if content == .tripsAndAlerts {
            fields += [
                ("alerts", .list(alerts.map(\.json))), ("not_monitored", .list(unmonitored.map(\.json))),
            ]
        }
        return JSONValue.object(fields).rendered(indent: true)
    }

    /// For a terminal: the trips, and a line with what they add up to.
    func text() -> String {
        let sums = totals.tiles(ask.units).map { name, text in
            // The name of this one is its unit.
            ["MPG", "L/100 km"].contains(name) ? "\(text) \(name)" : "\(name.lowercased()) \(text)"
        }
        let notCounted = discarded == 0 ? [] : ["discarded \(discarded)"]
        let filled = fillings.map {
            "\n\($0.vehicle): refuelled from \($0.text($0.refuelling.beforeMilliPct)) to "
                + "\($0.text($0.refuelling.afterMilliPct)) %\($0.litres.map { ", about \($0) L" } ?? "") at "
                + day.minute($0.refuelling.untilMs)
        }
        return rows.shortTable(ask.units).text() + "\n" + (sums + notCounted).joined(separator: ", ") + filled.joined()
    }

    /// The trips; with alerts, a second table with them follows an empty line.
    func csv() -> String {
        guard content == .tripsAndAlerts else { return rows.table().csv() }
        return rows.table().csv() + "\r\n" + alertRows.csv()
            + (unmonitored.isEmpty ? "" : "\r\n" + unmonitoredRows.csv())
    }

    var sheets: [ReportSheet] {
        let texts: Set = TripsOutput.texts
        let sheet = ReportSheet.of(rows.table(), name: "Trips", texts: texts)
        guard content == .tripsAndAlerts else { return [sheet] }
        let sheets = [sheet, ReportSheet.of(alertRows, name: "Alerts", texts: AlertRow.texts)]
        guard !unmonitored.isEmpty else { return sheets }
        return sheets + [
            ReportSheet.of(unmonitoredRows, name: "Not monitored", texts: Set(FleetDay.unmonitoredColumns))
        ]
    }

    private static let unmonitoredColumns = ["kind", "vehicle", "not_monitored", "why"]

    private var unmonitoredRows: Table {
        var table = Table(FleetDay.unmonitoredColumns)
        table.rows = unmonitored.map { [$0.kind.rawValue, $0.vehicle, $0.reason.rawValue, $0.reason.why] }
        return table
    }

    private var alertRows: Table {
        var table = Table(AlertRow.columns)
        table.rows = alerts.map(\.cells)
        return table
    }

    var blocks: [ReportBlock] {
        var blocks: [ReportBlock] = [
            .note(t("\(day.zone), \(day.hours) hours. Trips count on the day they begin.")),
            .figures(totals.tiles(ask.units)), .table(tripTable),
        ]
        let weathers = trips.compactMap(\.weather)
        if let fetched = weathers.map(\.fetched).max() {
            let sources = Set(weathers.map(\.source)).sorted().joined(separator: ", ")
            blocks.append(.note(t("Weather of the hour a trip began in: \(sources), last fetched \(fetched).")))
        }
        if discarded > 0 { blocks.append(.note(t("\(discarded) discarded by the driver, not counted."))) }
        let revised = trips.filter { $0.revisedMs != nil }.count
        if revised > 0 { blocks.append(.note(t("\(revised) of the trips were corrected by data that came late."))) }
        for filling in fillings {
            let from = short(filling.text(filling.refuelling.beforeMilliPct), 0) ?? ""
            let to = short(filling.text(filling.refuelling.afterMilliPct), 0) ?? ""
            let (car, until) = (filling.vehicle, day.clock(filling.refuelling.untilMs))
            let words =
                filling.litres.map { litres in
                    t("\(car) was refuelled from \(from) to \(to) %, about \(litres) L, by \(until).")
                } ?? t("\(car) was refuelled from \(from) to \(to) %, by \(until).")
            blocks.append(.sentence(words))
        }
        if content == .tripsAndAlerts { blocks.append(.table(alertTable)) }
        if !unmonitored.isEmpty { blocks.append(.table(unmonitoredTable)) }
        if !day.isOneDay, !trips.isEmpty { blocks.append(.bars(distances)) }
        if readings.isEmpty { return blocks }
        return blocks + [.heading(t("Speed"))]
            + readings.indices.map {
                .speed(line(trips[$0], readings[$0], gapMs: gapsMs[$0]))
            }
    }

    private var distances: ReportBars {
        let unit = ask.units == .us ? "mi" : "km"
        var byDay: [String: Double] = [:]
        for trip in trips {
            let km = Double(trip.trip.totals.distanceMm) / 1e6
            byDay[String(day.minute(trip.trip.startMs).prefix(10)), default: 0] +=
                ShownValue(km, unit: "km", in: ask.units).value
        }
        return ReportBars(title: t("Distance by day, \(unit)"), bars: day.bars(byDay))
    }

    private var tripTable: ReportTable {
        let isUS = ask.units == .us
        func shown(_ figure: String?, _ unit: String, _ decimals: Int) -> String? {
            figure.flatMap { Double($0) }.flatMap {
                Decimal.scaled(ShownValue($0, unit: unit, in: ask.units).value, decimals: decimals)
            }.flatMap { short(Decimal.text($0, decimals: decimals), decimals) }
        }
        let (distance, speed) = isUS ? ("mi", "mph") : ("km", "km/h")
        return ReportTable(
            caption: t("Trips"),
            headers: [
                .word(t("Vehicle")), .text(t("Driver")), .text(t("Tag")), .word(t("Start")), .word(t("End")),
                .number(t("Distance, \(distance)")), .number(t("Average, \(speed)")), .number(t("Max, \(speed)")),
                .number(t("Idle, min")), .number(t("Harsh acc.")), .number(t("Harsh brk.")),
                .number(isUS ? t("Fuel, US gal") : t("Fuel, L")), .number(isUS ? "MPG" : "L/100 km"),
                .number(t("Cost")), .number(t("Holes")), .text(t("Weather at start")), .text(t("Revised")),
            ],
            rows: trips.map { read in
                let figures = read.figures
                let cost = short(figures.fuelCost, 2).map { "\($0) \(figures.price?.currency ?? "")" }
                return [
                    read.vehicle, read.driver, read.tag, day.clock(read.trip.startMs),
                    read.isOpen ? t("under way") : read.trip.goesOn ? t("goes on") : day.clock(read.trip.endMs),
                    shown(figures.distanceKm, "km", 1), shown(figures.averageSpeedKmh, "km/h", 1),
                    shown(figures.maxSpeedKmh, "km/h", 0),
                    short(Decimal.text(read.trip.totals.idleMs / 60, decimals: 3), 1),
                    String(read.trip.totals.sharpAccelerations), String(read.trip.totals.sharpBrakings),
                    short(isUS ? figures.fuelUSGal : figures.fuelL, 2),
                    isUS ? short(figures.averageMpg, 1) : figures.litresPer100km, cost,
                    String(read.trip.totals.holes), read.weatherText, read.revisedMs.map(day.minute),
                ]
            }, empty: t("No trip began in this time."))
    }

    private var alertTable: ReportTable {
        ReportTable(
            caption: t("Alerts"),
            headers: [
                .word(t("Vehicle")), .text(t("Model")), .text(t("Parameter")), .word(t("Severity")),
                .text(t("State")), .text(t("Alert when")), .word(t("Opened")), .word(t("Resolved")),
                .number(t("Worst")), .prose(t("What to do")),
            ],
            rows: alerts.map { alert in
                [
                    alert.vehicle, alert.model, alert.parameter,
                    alert.severity.rawValue, alert.state.rawValue, alert.shownRule(ask.units),
                    day.minute(alert.openedMs), alert.resolvedMs.map(day.minute),
                    alert.shown(alert.worstValue, ask.units), alert.advice,
                ]
            },
            empty: unmonitored.isEmpty
                ? t("No alert was open in this time.")
                : t("No alert was open in this time of what is monitored."), classes: 3
        )
    }

    private var unmonitoredTable: ReportTable {
        ReportTable(
            caption: t("Not monitored now"),
            headers: [.word(t("Vehicle")), .text(t("Kind")), .prose(t("Why"))],
            rows: unmonitored.map { [$0.vehicle, $0.kind.rawValue, $0.reason.why] }, empty: "")
    }

    private func line(_ trip: TripRead, _ readings: [CarReading], gapMs: Int64) -> SpeedLine {
        SpeedLine(
            readings, gapMs: gapMs,
            title: t(
                "\(trip.vehicle), \(day.clock(trip.trip.startMs)) to \(day.clock(trip.trip.endMs)): speed in km/h over minutes"
            )
        )
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

extension TripFigures {
    /// With one decimal.
    package var litresPer100km: String? {
        guard let litres, let km = distanceKm.flatMap({ Double($0) }), km > 0 else { return nil }
        return short(Decimal.scaled(litres / km * 100, decimals: 1).map { Decimal.text($0, decimals: 1) }, 1)
    }
}
