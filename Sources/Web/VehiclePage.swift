internal import Alerts
internal import Fleet
internal import Postgres
internal import Reports
internal import Trips
internal import Wire

/// One vehicle: what it says now, over time with its limits, its alerts, trips, codes and services.
struct VehiclePage {
    static let spans = [1, 7, 30]
    private static let rowsMax: Int64 = 20
    /// A chart has about this many points.
    private static let points: Int64 = 300

    let about: About
    let caller: PageCaller
    let days: Int
    let nowMs: Int64
    let rules: TripRules
    let price: FuelPrice?
    let queries: ReportQueries
    /// What trouble codes mean; nil: it cannot be said.
    var meanings: TroubleCodeMeanings?
    /// What was before is its owner's alone; nil: all is shown.
    var seenSinceMs: Int64?

    /// What is registered under an id.
    struct About {
        let kind, vehicle: String
        let name, model, make: String?
        let tags: [String]
        let isDisabled: Bool
        /// Nil: something judges it.
        let notMonitored: NotMonitored?
        /// It has said something, whoever may see what.
        let hasReported: Bool

        init(_ row: Row) throws {
            (kind, vehicle) = (try row.text("kind")!, try row.text("vehicle")!)
            (name, model, make) = (try row.text("name"), try row.text("model"), try row.text("make"))
            tags = try row.textArray("tags")!.compactMap { $0 }
            isDisabled = try row.bool("is_disabled")!
            notMonitored = try NotMonitored(row)
            hasReported = try row.bool("has_reported")!
        }
    }

    /// - Parameters:
    ///   - top: what stands below its name, `below` at the end; HTML already.
    func html(top: String, below: String, _ connection: Connection) throws -> String {
        let facts =
            [about.kind, about.name == nil ? nil : about.vehicle, about.model].compactMap { $0 }
            + about.tags.map { "group \($0)" } + (about.isDisabled ? ["disabled"] : [])
        return """
            <h1>\(HTMLText.escaped(about.name ?? about.vehicle))</h1>
            <p class="soft">\(HTMLText.escaped(facts.joined(separator: ", "))). Times are \(HTMLText.escaped(caller.clock.zone)).</p>
            \(top)\(past)
            <div id="story">
            \(unmonitored)\(try alerts(connection))
            \(about.kind == "car" ? try car(connection) : try machine(connection))
            </div>
            \(below)
            """
    }

    private var past: String {
        guard let seenSinceMs else { return "" }
        return
            "\n<p class=\"soft\">You see what it said since \(caller.clock.html(seenSinceMs)), when you were confirmed: "
            + "its owner did not share what was before, nor the alerts that were open then.</p>"
    }

    private var unmonitored: String {
        about.notMonitored.map {
            "<p id=\"not-monitored\" class=\"warning\">Not monitored. \(HTMLText.escaped($0.why))</p>\n"
        } ?? ""
    }

    private var noAlert: String {
        if about.notMonitored != nil { return "Not monitored: nothing judges what it says." }
        return seenSinceMs == nil ? "No alert is open." : "No alert was opened since and is open."
    }

    private func alerts(_ connection: Connection) throws -> String {
        let alerts = try OpenAlert.read(
            ofKind: about.kind, about.vehicle, role: caller.audience, limit: VehiclePage.rowsMax, queries,
            on: connection)
        return HTMLText.table(
            caption: "Open alerts",
            headers: [.html("Severity"), .html("Parameter"), .number("Worst"), .word("Alert when"), .html("Since")],
            rows: alerts.map { open in
                [
                    severity(open.alert),
                    "<a href=\"/alerts/\(Address.escaped(open.id))\">\(HTMLText.escaped(open.alert.parameter))</a>",
                    open.alert.shown(open.alert.worstValue, caller.shownUnits),
                    open.alert.shownRule(caller.shownUnits), caller.clock.html(open.alert.openedMs),
                ]
            }, empty: noAlert,
            narrow: .cards)
    }

    private func severity(_ alert: AlertRow) -> String {
        alert.state == "due_soon"
            ? "<span class=\"soon\">due soon</span>" : "<span class=\"\(alert.severity)\">\(alert.severity)</span>"
    }

    /// A table of a few short columns: wide screens do not pull it apart.
    private func facts(
        caption: String, headers: [HTMLText.Header], rows: [[String?]], empty: String
    ) -> String {
        "<div class=\"facts\">\n"
            + HTMLText.table(caption: caption, headers: headers, rows: rows, empty: empty) + "\n</div>"
    }

    // MARK: A machine

    private func machine(_ connection: Connection) throws -> String {
        guard let id = VehicleID(about.vehicle),
            let view = try MachineView(id, role: caller.audience, queries, on: connection)
        else { return "" }
        let latest = try view.latest(queries, on: connection)
        let untilMs = view.lastMs.map { $0 + 1 } ?? nowMs
        let span = untilMs - Int64(days) * UTC.msPerDay..<untilMs
        let pieceS = max(1, (span.upperBound - span.lowerBound) / 1_000 / VehiclePage.points)
        let series = try view.series(span, pieceS: pieceS, queries, on: connection)
        // A box that is polled each hour draws a line, too.
        let gapMs = max(3 * 3_600_000, 3 * pieceS * 1_000)
        return table(latest) + "\n" + charts(series, span, gapMs: gapMs) + "\n" + (try services(connection))
    }

    private func table(_ latest: [MachineView.Value]) -> String {
        let readAt = latest.first.map { " of \(caller.clock.minute($0.readMs))" } ?? ""
        return facts(
            caption: "Latest reading" + readAt,
            headers: [.text("Parameter"), .number("Value")],
            rows: latest.map { [$0.name, ShownField.text($0.value, unit: $0.unit, caller)] },
            empty: seenSinceMs == nil ? "It has not said anything yet." : "It has not said anything since.")
    }

    private func charts(_ series: [MachineView.Series], _ span: Range<Int64>, gapMs: Int64) -> String {
        let links = VehiclePage.spans.map { count -> String in
            let text = count == 1 ? "1 day" : "\(count) days"
            return count == days
                ? "<b aria-current=\"true\">\(text)</b>"
                : "<a href=\"?kind=machine&amp;days=\(count)\">\(text)</a>"
        }
        let drawn = series.map { series -> String in
            let unit = ShownValue(0, unit: series.unit, in: caller.shownUnits).unit
            func shown(_ value: Double) -> Double {
                ShownValue(value, unit: series.unit, in: caller.shownUnits).value
            }
            return figure(
                LineChart(
                    title: "\(series.name), \(unit)",
                    points: series.points.map {
                        LineChart.Point(ms: $0.ms, least: shown($0.least), most: shown($0.most))
                    },
                    limits: series.limits.map { LineChart.Limit(shown($0.value), $0.kind) }, span: span, gapMs: gapMs,
                    clock: caller.clock.minute))
        }
        return
            "<h2>History</h2>\n<p>Up to its last reading: \(links.joined(separator: ", ")).</p>\n<div class=\"charts\">\n"
            + drawn.joined(separator: "\n") + "\n</div>"
    }

    private func figure(_ chart: LineChart) -> String {
        "<figure><figcaption>\(HTMLText.escaped(chart.title))</figcaption>"
            + (chart.svg ?? "<p class=\"empty\">Nothing was read.</p>") + "</figure>"
    }

    private func services(_ connection: Connection) throws -> String {
        let rows = try connection.query(
            queries["services"], [.text(about.vehicle), .int8(VehiclePage.rowsMax)])
        return HTMLText.table(
            caption: "Services",
            headers: [.html("Done"), .number("Engine hours"), .text("By"), .prose("Note")],
            rows: try rows.map { row in
                [
                    caller.clock.html(try row.timestampMs("done_at")!),
                    ShownValue(try row.double("engine_hours_h")!, unit: "h", in: caller.shownUnits).text,
                    try row.text("recorded_by"), try row.text("note"),
                ]
            }, empty: "No service is recorded.")
    }

    // MARK: A car

    private func car(_ connection: Connection) throws -> String {
        let rows = try connection.query(queries["vehicle_trips"], [.text(about.vehicle), .int8(VehiclePage.rowsMax)])
        let trips = try rows.map { try TripRead($0, price: price) }
        let path = "/cars/\(Address.escaped(about.vehicle))"
        var parts = [
            "<p><a href=\"\(path)/live\">Live</a>, <a href=\"\(path)/scan\">health scan</a>, "
                + "<a href=\"/trips/compare?vehicle=\(Address.escaped(about.vehicle))\">compare its drives</a></p>"
        ]
        if let last = trips.first {
            let readings = try TripSamples.read(last, queries, on: connection)
            let rules = try rules.ofTrip(of: last.vehicle, atMs: last.trip.startMs, on: connection)
            parts += [latest(readings), "<h2>Last trip</h2>", CarCharts(readings, last, caller, rules).html]
        }
        parts.append(TripTable(trips, caller).html(caption: "Last trips", empty: noTrip))
        parts.append(try codes(connection))
        return parts.joined(separator: "\n")
    }

    private var noTrip: String {
        about.hasReported
            ? "No trip of it is yours to see: its last one began before the car was yours to drive."
            : "It has not been on a trip yet."
    }

    private func latest(_ readings: [CarReading]) -> String {
        let values = Signal.allCases.compactMap { signal -> [String?]? in
            guard let reading = readings.last(where: { $0[signal] != nil }), let stored = reading[signal],
                let name = VehiclePage.names[signal]
            else { return nil }
            let value = Double(stored) / Double(signal.row.scale)
            return [
                name, ShownValue(value, unit: signal.row.unit, in: caller.shownUnits).text,
                caller.clock.html(reading.ts),
            ]
        }
        return facts(
            caption: "Latest values", headers: [.text("Value"), .number("Read"), .html("At")], rows: values,
            empty: "Nothing was read.")
    }

    private static let names: [Signal: String] = [
        .speed: "Speed", .rpm: "Engine speed", .maf: "Air flow", .fuelRate: "Fuel rate",
        .coolant: "Coolant temperature",
        .voltage: "Control module voltage", .manifoldPressure: "Manifold pressure",
        .intakeAir: "Intake air temperature",
        .engineLoad: "Engine load", .throttle: "Throttle", .fuelLevel: "Fuel level", .ambientAir: "Outside temperature",
        .engineRunTime: "Engine running for",
    ]

    private func codes(_ connection: Connection) throws -> String {
        let rows = try connection.query(queries["health_scans"], [.text(about.vehicle), .int8(VehiclePage.rowsMax)])
        func list(_ row: Row, _ column: String) throws -> String? {
            try row.textArray(column).map { codes in
                codes.isEmpty ? "none" : codes.compactMap { $0 }.map(shown).joined(separator: "<br>")
            }
        }
        func shown(_ code: String) -> String {
            let meaning = TroubleCode(text: code.utf8).flatMap { meanings?.meaning(of: $0) }
            return "<b>\(HTMLText.escaped(code))</b>" + (meaning.map { " \(HTMLText.escaped($0))" } ?? "")
        }
        return HTMLText.table(
            caption: "Trouble codes",
            headers: [
                .html("Scanned"), .htmlProse("Stored"), .htmlProse("Pending"), .htmlProse("Permanent"),
                .text("Warning lamp"),
                .prose("Answer"),
            ],
            rows: try rows.map { row in
                [
                    try row.timestampMs("scanned_at").map(caller.clock.html) ?? "not yet", try list(row, "stored"),
                    try list(row, "pending"), try list(row, "permanent"),
                    try row.bool("is_lamp_on").map { $0 ? "on" : "off" }, try row.text("answer"),
                ]
            }, empty: "Its codes were not read yet.")
    }
}

extension AlertRow {
    /// A value of the alert as an account reads it.
    func shown(_ value: String?, _ units: DriverSettings.Units) -> String? {
        value.flatMap { Double($0) }.map { ShownValue($0, unit: unit, in: units).text }
    }

    /// `above 85 °C`
    func shownRule(_ units: DriverSettings.Units) -> String {
        guard !unit.allSatisfy(\.isWhitespace), let limit = shown(threshold, units) else { return rule }
        return "\(test) \(limit)"
    }
}
