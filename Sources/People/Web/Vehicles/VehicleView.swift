internal import Alerts
internal import Codecs
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// One vehicle: what it says now, over time with its limits, its alerts, trips, codes and services.
struct VehicleView {
    static let spans = [1, 7, 30]

    let about: About
    let caller: PageCaller
    let days: Int
    let alerts: [OpenAlert]
    let story: Story
    /// Meanings of trouble codes; nil: not available.
    var meanings: TroubleCodeMeanings?
    /// Older data belongs to the previous owner alone; nil: all is shown.
    var seenSinceMs: Int64?

    /// - Parameters:
    ///   - top: what stands below its name, `below` at the end.
    func html(top: HTML, below: HTML) -> HTML {
        let facts =
            [about.kind.rawValue, about.name == nil ? nil : about.vehicle, about.model].compactMap { $0 }
            + about.tags.map { "group \($0)" } + (about.isDisabled ? ["disabled"] : [])
        return """
            <h1>\(about.name ?? about.vehicle)</h1>
            <p class="soft">\(facts.joined(separator: ", ")). Times are \(caller.clock.zone).</p>
            \(top)\(past)
            <div id="story">
            \(unmonitored)\(alertTable)
            \(told)
            </div>
            \(below)
            """
    }

    private var past: HTML {
        guard let seenSinceMs else { return "" }
        return
            "\n<p class=\"soft\">You see what it said since \(caller.clock.html(seenSinceMs)), when you were confirmed: its owner did not share what was before, nor the alerts that were open then.</p>"
    }

    private var unmonitored: HTML {
        about.notMonitored.map {
            "<p id=\"not-monitored\" class=\"warning\">Not monitored. \($0.why)</p>\n"
        } ?? ""
    }

    private var noAlert: String {
        if about.notMonitored != nil { return "Not monitored: nothing judges what it says." }
        return seenSinceMs == nil ? "No alert is open." : "No alert was opened since and is open."
    }

    private var told: HTML {
        switch story {
        case .car(let told): car(told)
        case .machine(let told): told.map(machine) ?? ""
        }
    }

    private var alertTable: HTML {
        HTML.table(
            caption: "Open alerts",
            headers: [.word("Severity"), .word("Parameter"), .number("Worst"), .word("Alert when"), .word("Since")],
            rows: alerts.map { open in
                [
                    severity(open.alert),
                    "<a href=\"/alerts/\(encoded: open.id)\">\(open.alert.parameter)</a>",
                    .text(open.alert.shown(open.alert.worstValue, caller.units)),
                    .text(open.alert.shownRule(caller.units)), caller.clock.html(open.alert.openedMs),
                ]
            }, empty: noAlert,
            narrow: .cards)
    }

    private func severity(_ alert: AlertRow) -> HTML {
        alert.state == .dueSoon
            ? "<span class=\"soon\">due soon</span>"
            : "<span class=\"\(alert.severity.rawValue)\">\(alert.severity.rawValue)</span>"
    }

    /// A table of a few short columns: wide screens do not pull it apart.
    private func facts(
        caption: String, headers: [HTML.Header], rows: [[HTML?]], empty: String
    ) -> HTML {
        "<div class=\"facts\">\n\(HTML.table(caption: caption, headers: headers, rows: rows, empty: empty))\n</div>"
    }

    // MARK: A machine

    private func machine(_ told: Machine) -> HTML {
        // A box that is polled each hour draws a line, too.
        let gapMs = max(3 * 3_600_000, 3 * told.pieceS * 1_000)
        return "\(table(told.latest))\n\(charts(told.series, told.span, gapMs: gapMs))\n\(services(told.services))"
    }

    private func table(_ latest: [MachineDetail.Value]) -> HTML {
        let readAt = latest.first.map { " of \(caller.clock.minute($0.readMs))" } ?? ""
        return facts(
            caption: "Latest reading" + readAt,
            headers: [.text("Parameter"), .number("Value")],
            rows: latest.map { [.text($0.name), .text(ShownField.text($0.value, unit: $0.unit, caller))] },
            empty: seenSinceMs == nil ? "It has not said anything yet." : "It has not said anything since.")
    }

    private func charts(_ series: [MachineDetail.Series], _ span: Range<Int64>, gapMs: Int64) -> HTML {
        let links = VehicleView.spans.map { count -> HTML in
            let text = count == 1 ? "1 day" : "\(count) days"
            return count == days
                ? "<b aria-current=\"true\">\(text)</b>"
                : "<a href=\"?kind=machine&amp;days=\(count)\">\(text)</a>"
        }
        let drawn = series.map { series -> HTML in
            let unit = ShownValue(0, unit: series.unit, in: caller.units).unit
            func shown(_ value: Double) -> Double {
                ShownValue(value, unit: series.unit, in: caller.units).value
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
        return """
            <h2>History</h2>
            <p>Up to its last reading: \(links.joined(separator: ", ")).</p>
            <div class="charts">
            \(drawn.joined(separator: "\n"))
            </div>
            """
    }

    private func figure(_ chart: LineChart) -> HTML {
        "<figure><figcaption>\(chart.title)</figcaption>\(chart.svg ?? "<p class=\"empty\">Nothing was read.</p>")</figure>"
    }

    private func services(_ services: [Service]) -> HTML {
        HTML.table(
            caption: "Services",
            headers: [.word("Done"), .number("Engine hours"), .text("By"), .prose("Note")],
            rows: services.map { service in
                [
                    caller.clock.html(service.doneMs),
                    .text(ShownValue(service.engineHours, unit: "h", in: caller.units).text), .text(service.by),
                    .text(service.note),
                ]
            }, empty: "No service is recorded.")
    }

    // MARK: A car

    private func car(_ told: Car) -> HTML {
        let path = "/cars/\(URLText.escaped(about.vehicle))"
        var parts: [HTML] = [
            "<p><a href=\"\(path)/live\">Live</a>, <a href=\"\(path)/scan\">health scan</a>, <a href=\"/trips/compare?vehicle=\(encoded: about.vehicle)\">compare its drives</a></p>"
        ]
        if let last = told.last {
            parts += [
                latest(last.readings), "<h2>Last trip</h2>",
                CarCharts(last.readings, last.trip, caller, last.rules).html,
            ]
        }
        parts.append(TripTableView(told.trips, caller).html(caption: "Last trips", empty: noTrip))
        parts.append(codes(told.scans))
        return parts.joined(separator: "\n")
    }

    private var noTrip: String {
        about.hasReported
            ? "No trip of it is yours to see: its last one began before the car was yours to drive."
            : "It has not been on a trip yet."
    }

    private func latest(_ readings: [CarReading]) -> HTML {
        let values = Signal.allCases.compactMap { signal -> [HTML?]? in
            guard let reading = readings.last(where: { $0[signal] != nil }), let stored = reading[signal],
                let name = VehicleView.names[signal]
            else { return nil }
            let value = Double(stored) / Double(signal.row.scale)
            return [
                .text(name), .text(ShownValue(value, unit: signal.row.unit, in: caller.units).text),
                caller.clock.html(reading.ts),
            ]
        }
        return facts(
            caption: "Latest values", headers: [.text("Value"), .number("Read"), .word("At")], rows: values,
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

    private func codes(_ scans: [Scan]) -> HTML {
        HTML.table(
            caption: "Trouble codes",
            headers: [
                .word("Scanned"), .prose("Stored"), .prose("Pending"), .prose("Permanent"), .text("Warning lamp"),
                .prose("Answer"),
            ],
            rows: scans.map { scan in
                [
                    scan.scannedMs.map(caller.clock.html) ?? "not yet", scan.stored.map(shown),
                    scan.pending.map(shown), scan.permanent.map(shown), scan.isLampOn.map { $0 ? "on" : "off" },
                    .text(scan.answer),
                ]
            }, empty: "Its codes were not read yet.")
    }

    private func shown(_ codes: [String]) -> HTML {
        let told = codes.map { code -> HTML in
            let meaning = TroubleCode(text: code.utf8).flatMap { meanings?.meaning(of: $0) }
            return "<b>\(code)</b>\(meaning.map { " \($0)" })"
        }
        return told.isEmpty ? "none" : told.joined(separator: "<br>")
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
        return "\(test.rawValue) \(limit)"
    }
}
