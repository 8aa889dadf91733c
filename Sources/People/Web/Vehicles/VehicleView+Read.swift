internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// Reads the content of a vehicle's page: for each tab what it shows, and no more.
extension VehicleView {
    private static let rowsMax: Int64 = 20
    /// So many values of a chart are drawn by the server; the script asks for more.
    private static let drawnPieces: Int64 = 120
    private static let liveMs: Int64 = 2 * 3_600_000

    /// The registration of an id.
    struct About {
        let kind: VehicleKind
        let vehicle: String
        let name, model, make, owner, fuel: String?
        let year: Int?
        let tankL: Double?
        let tags: [String]
        /// A dealer's own, which nobody else is shown.
        let ownClass: String?
        let ownTags: [String]
        let isDisabled: Bool
        /// Nil: something judges it.
        let notMonitored: UnmonitoredReason?
        /// True when it has ever reported, whoever may see what.
        let hasReported: Bool

        init(_ row: Row) throws {
            kind = try row.word("kind")!
            vehicle = try row.text("vehicle")!
            name = try row.text("name")
            model = try row.text("model")
            make = try row.text("make")
            owner = try row.text("owner")
            fuel = try row.text("fuel")
            year = try row.int("year")
            tankL = try row.double("tank_l")
            tags = try row.textArray("tags")!.compactMap { $0 }
            ownClass = try row.text("own_class")
            ownTags = try row.textArray("own_tags")!.compactMap { $0 }
            isDisabled = try row.bool("is_disabled")!
            notMonitored = try UnmonitoredReason(row)
            hasReported = try row.bool("has_reported")!
        }

        /// `Dodge Caliber, 2010`
        var described: String? {
            let called = [make, model].compactMap { $0 }.joined(separator: " ")
            let parts = [called, year.map { "\($0)" } ?? ""].filter { !$0.isEmpty }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }

        var icon: IconName { kind == .machine ? .tractor : .car }
    }

    /// What a vehicle says and said, as far as the chosen tab shows it.
    struct Story {
        typealias Value = (name: String, text: String)

        /// When it was heard of last.
        var lastMs: Int64?
        /// What its box calls a machine; nil also where that is not for the reader.
        var machineID: String?
        var values: [Value] = []
        var valuesMs: Int64?
        var gauges: [VehicleGauge] = []
        var series: SignalSeries?
        var past: [PastAlert] = []
        var facts: [(IconName, String)] = []

        var trips: [TripRead] = []
        var scans: [Scan] = []
        var services: [Service] = []
        var engineHours: Double?
        var due: MachineDetail.ServiceDue?

        func value(_ name: String) -> String? { values.first { $0.name == name }?.text }
    }

    struct PastAlert {
        let id: String
        let alert: AlertRow
    }

    struct Service {
        let doneMs: Int64
        let engineHours: Double
        let by, note: String?
    }

    struct Scan {
        let scannedMs: Int64?
        let stored, pending, permanent: [String]?
        let isLampOn: Bool?
        let answer: String?
    }

    static func alerts(
        _ about: About, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection
    ) throws -> [OpenAlert] {
        try OpenAlert.read(
            ofKind: about.kind, about.vehicle, role: caller.audience, limit: rowsMax, queries, on: connection)
    }

    private static func past(
        _ about: About, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection
    ) throws -> [PastAlert] {
        try connection.query(
            queries["vehicle_alerts"],
            [
                .text(about.kind.rawValue), .text(about.vehicle), .textArray(caller.audience.seen.map(\.rawValue)),
                .int8(50),
            ]
        ).map { PastAlert(id: try $0.text("alert_id")!, alert: try AlertRow($0)) }
    }

    /// How far charts go back from the last reading, or the span that the reader asked for.
    enum Back {
        case days(Int)
        case span(Range<Int64>)
    }

    /// What charts of a tab show at first; nil: it has none.
    private static func span(_ tab: Tab, _ back: Back, lastMs: Int64?, nowMs: Int64) -> Range<Int64>? {
        let endMs = ((lastMs ?? nowMs) / 1_000 + 1) * 1_000
        switch tab {
        case .live:
            let untilMs = nowMs - endMs < VehicleState.machineMs ? nowMs / 1_000 * 1_000 : endMs
            return untilMs - liveMs..<untilMs
        case .charts:
            switch back {
            case .days(let days): return endMs - Int64(days) * UTC.msPerDay..<endMs
            case .span(let asked): return asked
            }
        case .trips, .alerts, .services, .codes, .details: return nil
        }
    }

    // MARK: A machine

    static func machine(
        _ about: About, _ tab: Tab, _ back: Back, nowMs: Int64, _ caller: PageCaller, _ queries: ReportQueries,
        on connection: Connection
    ) throws -> Story {
        var story = Story()
        if tab == .alerts { story.past = try past(about, caller, queries, on: connection) }
        guard let id = VehicleID(about.vehicle),
            let detail = try MachineDetail(id, role: caller.audience, queries, on: connection)
        else { return story }
        let latest = try detail.latest(queries, on: connection)
        story.lastMs = detail.lastMs
        story.valuesMs = latest.first?.readMs
        story.values = latest.map { ($0.name, ShownField.text($0, caller)) }
        story.machineID = detail.machineID
        story.gauges = VehicleGauge.of(detail, latest, caller.units)
        if let span = span(tab, back, lastMs: detail.lastMs, nowMs: nowMs), detail.lastMs != nil {
            story.series = try SignalSeries(detail, span, pieces: drawnPieces, queries, on: connection)
        }
        story.services = try connection.query(queries["services"], [.text(about.vehicle), .int8(rowsMax)]).map { row in
            Service(
                doneMs: try row.timestampMs("done_at")!, engineHours: try row.double("engine_hours_h")!,
                by: try row.text("recorded_by"), note: try row.text("note"))
        }
        if case .number(let hours)? = latest.first(where: { $0.name == MachineParameter.engineHours.row.name })?.value {
            story.engineHours = hours
        }
        story.due = detail.serviceDue(hours: story.engineHours, servicedAt: story.services.first?.engineHours)
        story.facts = facts(story, rules: detail.rulesCount)
        return story
    }

    private static func facts(_ story: Story, rules: Int) -> [(IconName, String)] {
        let hours = story.engineHours.map { t("\(Int64($0)) engine hours") }
        let due = story.due.map {
            $0.leftH < 0 ? t("Service overdue by \(Int64(-$0.leftH)) h") : t("Service in \(Int64($0.leftH)) h")
        }
        let watched = rules == 0 ? nil : t(rules, one: "\(rules) rule watches it", many: "\(rules) rules watch it")
        let all: [(IconName, String?)] = [(.clock, hours), (.shield, watched), (.wrench, due)]
        return all.compactMap { icon, text in text.map { (icon, $0) } }
    }

    // MARK: A car

    /// - Parameter rules: where none are on record.
    static func car(
        _ about: About, _ tab: Tab, _ back: Back, nowMs: Int64, rules: TripRules, price: FuelPrice?,
        _ caller: PageCaller,
        _ queries: ReportQueries, on connection: Connection
    ) throws -> Story {
        var story = Story()
        let count = tab == .trips ? rowsMax : 1
        story.trips = try connection.query(queries["vehicle_trips"], [.text(about.vehicle), .int8(count)]).map {
            try TripRead($0, price: price)
        }
        let last = story.trips.first
        let caller = try caller.knowing([last?.driver], queries, on: connection)
        story.lastMs = last?.trip.endMs
        story.facts =
            last?.driver.map { driver in
                let name = caller.person(driver)
                return [(.person, last?.isOpen == true ? t("Driven by \(name)") : t("Last driven by \(name)"))]
            } ?? []
        if tab == .alerts { story.past = try past(about, caller, queries, on: connection) }
        if tab == .codes {
            story.scans = try connection.query(queries["health_scans"], [.text(about.vehicle), .int8(rowsMax)]).map(
                scan)
        }
        guard let last, tab == .live || tab == .charts else { return story }
        if let span = span(tab, back, lastMs: story.lastMs, nowMs: nowMs) {
            story.series = try SignalSeries(
                car: about.vehicle, span, pieces: drawnPieces, role: caller.audience, gapMs: rules.gapMs, queries,
                on: connection)
        }
        if tab == .live {
            let readings = try TripSamples.read(last, queries, on: connection)
            story.gauges = VehicleGauge.of(readings, last.settings, caller.units)
            story.valuesMs = readings.last?.ts
            story.values = values(readings, caller.units)
        }
        return story
    }

    private static var names: [(Signal, String)] {
        [
            (.speed, t("Speed")), (.rpm, t("Engine speed")), (.coolant, t("Coolant temperature")),
            (.voltage, t("Control module voltage")), (.engineLoad, t("Engine load")), (.throttle, t("Throttle")),
            (.fuelLevel, t("Fuel level")), (.fuelRate, t("Fuel rate")), (.maf, t("Air flow")),
            (.manifoldPressure, t("Manifold pressure")), (.intakeAir, t("Intake air temperature")),
            (.ambientAir, t("Outside temperature")), (.engineRunTime, t("Engine running for")),
        ]
    }

    private static func values(_ readings: [CarReading], _ units: DriverSettings.Units) -> [Story.Value] {
        names.compactMap { signal, name in
            guard let stored = readings.last(where: { $0[signal] != nil })?[signal] else { return nil }
            let value = Double(stored) / Double(signal.row.scale)
            return (name, ShownValue(value, unit: signal.row.unit, in: units).text)
        }
    }

    private static func scan(_ row: Row) throws -> Scan {
        func codes(_ column: String) throws -> [String]? { try row.textArray(column)?.compactMap { $0 } }
        return Scan(
            scannedMs: try row.timestampMs("scanned_at"), stored: try codes("stored"), pending: try codes("pending"),
            permanent: try codes("permanent"), isLampOn: try row.bool("is_lamp_on"), answer: try row.text("answer"))
    }
}
