package import Alerts
package import Fleet
package import Postgres
package import Trips

/// The parameters of a report: days, subject, units.
package struct ReportParameters {
    package let span: ReportSpan
    /// One vehicle, campus, site or tour, as the report has them; empty: all.
    package var of = ""
    /// A fleet; empty: all.
    package var fleet = ""
    package var units: DriverSettings.Units = .metric

    package init(span: ReportSpan) { self.span = span }

    /// For titles.
    var narrowed: String { [of, fleet.isEmpty ? "" : "fleet \(fleet)"].filter { !$0.isEmpty }.joined(separator: ", ") }
}

/// A report by date: `drover report` and the page of reports have the same list, and make the same files of it.
package struct Report: Sendable {
    /// More rows than a person reads; a span that has more is refused.
    package static let rowsMax: Int64 = 20_000

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
        /// True when the asker's subject does not exist.
        package var isMissing = false
    }

    /// The subjects that a report can be narrowed to, beside a fleet.
    package enum Subject: String, Sendable { case vehicle, campus, site, tour }

    /// The sources that a report reads.
    package struct Source {
        let rules: TripRules
        let price: FuelPrice?
        let queries: ReportQueries
        let connection: Connection

        package init(rules: TripRules, price: FuelPrice?, queries: ReportQueries, connection: Connection) {
            self.rules = rules
            self.price = price
            self.queries = queries
            self.connection = connection
        }
    }

    package let name, title, summary: String
    package let of: Subject
    package let hasFleets: Bool
    /// The roles that may ask for it. The database decides what they see: reports for people are made on a connection with the account's
    /// row security, whichever report it is and however it leaves.
    package let roles: Set<Role>
    /// The text for no rows.
    package let empty: String
    private let make: @Sendable (Report, ReportParameters, Source) throws -> any ReportOutput

    private init(
        _ name: String, _ title: String, _ summary: String, of: Subject, hasFleets: Bool = false, roles: Set<Role>,
        empty: String, make: @escaping @Sendable (Report, ReportParameters, Source) throws -> any ReportOutput
    ) {
        self.name = name
        self.title = title
        self.summary = summary
        self.of = of
        self.hasFleets = hasFleets
        self.roles = roles
        self.empty = empty
        self.make = make
    }

    /// Whether a text can name what a report is narrowed to.
    package static func isID(_ text: String, _ of: Subject) -> Bool {
        switch of {
        case .vehicle, .campus: VehicleID.isValid(text.utf8)
        case .site, .tour: (1...200).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        }
    }

    package static func named(_ name: String) -> Report? { all.first { $0.name == name } }

    /// Everything of it is of one moment of the database.
    package func run(_ ask: ReportParameters, _ source: Source) throws -> any ReportOutput {
        try source.connection.snapshot { try make(self, ask, source) }
    }

    /// Refuses subjects that do not exist: their report would be empty, as if nothing had happened. Scheduled reports go on: their subject
    /// may have existed, and may come back.
    package func requireThere(_ ask: ReportParameters, _ source: Source) throws {
        let vehicle = of == .vehicle ? ask.of : ""
        guard !(vehicle + ask.fleet).isEmpty,
            let found = try source.connection.query(source.queries["report_of"], [.text(vehicle), .text(ask.fleet)])
                .first
        else { return }
        if try found.bool("has_vehicle") == false {
            throw Fault(description: "there is no vehicle \(vehicle) that you may see", isMissing: true)
        }
        if try found.bool("has_fleet") == false {
            throw Fault(description: "there is no fleet \(ask.fleet) with vehicles that you may see", isMissing: true)
        }
    }

    package static let all: [Report] = [
        Report(
            "fleet-day", "Fleet day", "trips with what they add up to, alerts, and the speed of each trip of a day",
            of: .vehicle, hasFleets: true, roles: vehicleReaders, empty: "No trip began in this time."
        ) { _, ask, source in try FleetDay.read(ask, .tripsAndAlerts, source) },
        Report(
            "trips", "Trips", "each trip with its driver, distance, speed, fuel and cost", of: .vehicle,
            hasFleets: true,
            roles: tripReaders, empty: "No trip began in this time."
        ) { _, ask, source in try FleetDay.read(ask, .trips, source) },
        Report(
            "fuel", "Fuel", "distance, driving time, fuel, consumption and cost of each car by day", of: .vehicle,
            hasFleets: true, roles: tripReaders, empty: "No trip began in this time."
        ) { report, ask, source in try FuelReport.read(report, ask, source) },
        Report(
            "alerts", "Alerts", "alerts that were open at any time of the span, by which rule, and who has seen them",
            of: .vehicle, hasFleets: true, roles: vehicleReaders, empty: "No alert was open in this time."
        ) { report, ask, source in
            try report.rows(
                "report_alerts", ask, source, drawn: [ReportFigure(by: "opened", title: "Alerts opened by day")],
                said: try UnmonitoredVehicle.read(
                    of: ask.of, fleet: ask.fleet, sinceMs: ask.span.fromMs, source.queries, on: source.connection
                ).map { "\($0.vehicle) is not monitored now. \($0.reason.why)" })
        },
        Report(
            "maintenance", "Machine maintenance",
            "of each machine its engine hours, services, and what was due at the end of the span", of: .vehicle,
            hasFleets: true, roles: vehicleReaders, empty: "There is no machine that you may see."
        ) { report, ask, source in try report.rows("report_maintenance", ask, source, adds: ["run_h", "services"]) },
        Report(
            "dispatch-day", "Dispatch", "rides asked for, served, cancelled; waiting and riding, by hour of the day",
            of: .campus, roles: [.dispatcher, .operator, .administrator],
            empty: "Nobody asked for a ride in this time."
        ) { report, ask, source in
            try report.rows(
                "dispatch_day", ask, source, blanks: ["hour": "whole day"],
                drawn: [ReportFigure(by: "hour", of: "requests"), ReportFigure(by: "hour", of: "served")])
        },
        Report(
            "survey-day", "Surveys", "walks, sightings and individuals of each site by day", of: .site,
            roles: [.researcher, .operator, .administrator],
            empty: "No walk began in this time."
        ) { report, ask, source in
            try report.rows(
                "report_surveys", ask, source, adds: ["walks", "sightings", "individuals", "distance_km", "walking_h"],
                drawn: [ReportFigure(by: "day", of: "sightings"), ReportFigure(by: "day", of: "walks")])
        },
        Report(
            "tour-visits", "Tour visits", "downloads of each tour and visits of its waypoints by day", of: .tour,
            roles: [.ranger, .administrator], empty: "Nobody told of a visit in this time."
        ) { report, ask, source in
            try report.rows(
                "report_tours", ask, source, adds: ["downloads", "visits"],
                drawn: [ReportFigure(by: "day", of: "visits"), ReportFigure(by: "day", of: "downloads")])
        },
    ]

    private static let vehicleReaders: Set<Role> = [
        .farmer, .dealer, .developer, .driver, .fleetManager, .dispatcher, .analyst, .operator, .administrator,
    ]
    private static let tripReaders = vehicleReaders.subtracting([.farmer, .dealer])

    /// One question with the parameters that all of them have: the fifth is the fleet, or the zone where there are no fleets.
    private func rows(
        _ query: String, _ ask: ReportParameters, _ source: Source, adds: Set<String> = [],
        blanks: [String: String] = [:], drawn: [ReportFigure] = [], said: [String] = []
    ) throws -> ReportRows {
        let rows = try source.connection.query(
            source.queries[query],
            [
                .timestampMs(ask.span.fromMs), .timestampMs(ask.span.toMs), .text(ask.of), .int8(Report.rowsMax + 1),
                .text(hasFleets ? ask.fleet : ask.span.zone),
            ])
        try Report.check(rows.count)
        return ReportRows(
            self, ask, columns: rows.columns,
            rows: try rows.map { row in try rows.columns.indices.map { try row.value($0) } }, adds: adds,
            blanks: blanks, drawn: drawn, said: said)
    }

    static func check(_ rows: Int, most: Int64 = rowsMax) throws(Fault) {
        guard rows > most else { return }
        throw Fault(
            description: "this is more than \(most) rows: ask for fewer days, or for one vehicle, fleet or site")
    }
}
