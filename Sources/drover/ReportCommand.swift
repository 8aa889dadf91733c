import Fleet
import Foundation
import Observe
import Postgres
import Reports
import Settings
import Trips

extension Command {
    static let report = Command(
        name: "report", operands: "fleet-day | trips | compare | dispatch-day [options]",
        summary:
            "A day's trips and alerts in the reader's time zone; drives of one route before and after a change; rides of a day.",
        options: [
            .init("--date", "D", "the day, like 2018-02-20 (default: today)"),
            .init("--zone", "Z", "time zone, like Europe/Berlin (default UTC)"),
            .init("--vehicle", "V", "trips: of this vehicle only; compare: whose drives"),
            .init("--campus", "ID", "dispatch-day: of this campus only"),
            .init("--change", "TIME", "compare: when the car was changed (2026-11-21T08:00:00Z)"),
            .init("--trip", "TIME", "compare: a time within a drive of the route; needs positions"),
            .init("--tag", "TAG", "compare: drives with this tag, where there are no positions"),
            .init("--from", "TIME", "compare: drives from this time on (default: a year before the change)"),
            .init("--to", "TIME", "compare: drives before this time (default: a year after the change)"),
            .init(
                "--format", "F",
                "html (not compare), csv, json or table (default: fleet-day, dispatch-day html, else table)"),
        ] + SettingsSource.options,
        example: "drover report trips --date 2018-02-20 --zone Europe/Berlin --vehicle seat-leon",
        run: { arguments in
            if arguments.operands == ["compare"] { return try compare(arguments) }
            if arguments.operands == ["dispatch-day"] { return try dispatchDay(arguments) }
            let contents: [[String]: FleetDay.Content] = [["fleet-day"]: .tripsAndAlerts, ["trips"]: .trips]
            guard let content = contents[arguments.operands] else {
                throw UsageError("name one report: fleet-day, trips, compare or dispatch-day")
            }
            let day = try day(arguments)
            var vehicle: VehicleID?
            if let text = arguments.text("--vehicle") {
                guard content == .trips else { throw UsageError("--vehicle is for `report trips`") }
                vehicle = VehicleID(text)
                if vehicle == nil { throw UsageError("--vehicle \(text): is no vehicle's id") }
            }
            let render = try arguments.one("--format", of: formats, standard: content == .trips ? "table" : "html")
            let settings = try SettingsSource.load(arguments)
            Out.result(render(try fleetDay(day, content, vehicle, settings)))
            return .done
        })

    private static func day(_ arguments: Arguments) throws -> ZonedDay {
        let zone = arguments.text("--zone") ?? "UTC"
        let date = arguments.text("--date") ?? ZonedDay.date(ofMs: Clock.nowMs(), zone: zone)
        guard let day = ZonedDay(date: date, zone: zone) else {
            throw UsageError(
                "--date \(date) --zone \(zone): must be a day like 2018-02-20 and a zone like Europe/Berlin")
        }
        return day
    }

    private static func dispatchDay(_ arguments: Arguments) throws -> ExitCode {
        let day = try day(arguments)
        let campus = try arguments.text("--campus").map(campusID) ?? ""
        let render = try arguments.one(
            "--format",
            of: ["html": { $0.html() }, "csv": { $0.csv() }, "json": { $0.json() }, "table": { $0.text() }]
                as [String: @Sendable (DispatchDay) -> String],
            standard: "html")
        let settings = try SettingsSource.load(arguments)
        Out.result(
            render(
                try DispatchDay.read(
                    day, campus: campus, queries: Home.reportQueries(),
                    on: Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url")))))
        return .done
    }

    private static func compare(_ arguments: Arguments) throws -> ExitCode {
        func time(_ option: String) throws -> Int64? {
            guard let text = arguments.text(option) else { return nil }
            if let ms = UTC.parse(text) { return ms }
            throw UsageError("\(option) \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
        }
        guard let vehicle = arguments.text("--vehicle").flatMap({ VehicleID($0) }), let changedMs = try time("--change")
        else {
            throw UsageError("compare needs --vehicle V and --change TIME")
        }
        let by: RouteComparison.By
        switch (try time("--trip"), arguments.text("--tag")) {
        case (let ms?, nil): by = .routeOf(ms: ms)
        case (nil, let tag?) where !tag.isEmpty: by = .tag(tag)
        default: throw UsageError("say which drives: --trip TIME of one of them, or --tag TAG that they bear")
        }
        let year = 366 * UTC.msPerDay
        let fromMs = try time("--from") ?? max(UTC.plausible.lowerBound, changedMs - year)
        let toMs = try time("--to") ?? min(UTC.plausible.upperBound, changedMs + year)
        guard fromMs < toMs else { throw UsageError("--from must be before --to") }
        let render = try arguments.one(
            "--format",
            of: ["csv": { $0.csv() }, "json": { $0.json() }, "table": { $0.text() }]
                as [String: @Sendable (RouteComparison) -> String],
            standard: "table")
        let settings = try SettingsSource.load(arguments)
        Out.result(
            render(
                try RouteComparison.read(
                    vehicle, by: by, changedMs: changedMs, span: fromMs..<toMs, price: settings.fuelPrice,
                    queries: Home.reportQueries(),
                    on: Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url")))))
        return .done
    }

    private static let formats: [String: @Sendable (FleetDay) -> String] = [
        "html": { $0.html() }, "csv": { $0.csv() }, "json": { $0.json() }, "table": { $0.text() },
    ]

    static func fleetDay(
        _ day: ZonedDay, _ content: FleetDay.Content = .tripsAndAlerts, _ vehicle: VehicleID? = nil,
        _ settings: Settings
    ) throws -> FleetDay {
        let connection = try Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url"))
        return try FleetDay.read(
            day, content, vehicle: vehicle, rules: settings.tripRules(), price: settings.fuelPrice,
            queries: Home.reportQueries(), on: connection)
    }
}
